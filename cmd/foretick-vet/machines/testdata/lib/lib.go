// Package lib is another package than the game's: its findings are reported where the game
// calls it.
package lib

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type Turret struct{ Shots int }

// Register passes its parameter on.
func Register(p *foretick.Protocol, run func(*foretick.Frame, ecs.Rows)) {
	p.Shared("through", run)
}

func Jitter(x float32) float32 { return inner(x) }

func inner(x float32) float32 { return x - float32(rand.Float64()) }

// Fire writes through its receiver: only a receiver that outlives the call is reported.
func (t *Turret) Fire() { t.Shots++ }

// Fine is right on every machine.
func Fine(x, y, z float32) float32 { return float32(x*y) + z }

// Whole is a shared system of this package.
func Whole(f *foretick.Frame, rows ecs.Rows) {
	for m := range map[int]int{} {
		_ = m
	}
}
