// Package served has a game that only a server can run, so nothing is reported of OnJoin.
package served

import (
	"math/rand"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type Game struct{ joins int }

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("served", 1)
	p.OnJoin(func(*foretick.ServerFrame, foretick.PlayerID) { g.joins = rand.Intn(9) })
	p.Server("spawn", func(*foretick.ServerFrame, ecs.Rows) {})
	return p
}
