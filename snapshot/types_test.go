package snapshot_test

import "github.com/foretick/foretick/internal/schematest"

// entityRef is a reference to an entity in these tests. Schemas have its name, and that of
// this package.
type entityRef uint64

type command struct {
	MoveX, MoveY float32 `net:"min=-1,max=1,step=0.0078125"`
	Aim          float32 `net:"angle,bits=12"`
	Fire, Jump   bool    `net:"oneshot"`
	Held         bool
	Slot         int8 `net:"min=-3,max=12"`
	Seed         uint64
	At           [2]float64
	Who          entityRef
}

// Types that the tests of schemas have too.
type (
	position   = schematest.Position
	gun        = schematest.Gun
	everything = schematest.Everything
)
