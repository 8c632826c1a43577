package client

import (
	"unsafe"

	"github.com/foretick/foretick/snapshot"
)

// withdrawal is memory for words with defaults. A field that the player may no longer see gets its
// prefab's default, with the value of the tick in which the server says so. The server does not send
// that value: each value of a ghost tells which fields it has. A field that the player never received
// keeps what the client's own code writes into it.
type withdrawal struct {
	words, defaults []int32
}

// withdraw writes the defaults of the fields that the player could see in another value of a ghost, and
// cannot see in this one. The caller then writes the fields of this value.
func (gs *ghosts) withdraw(g *snapshot.Ghost, s snapshot.State, i int, at unsafe.Pointer) {
	if comp := &gs.p.Components[i]; comp.Masked&(s.Ever&^s.Audience) != 0 {
		comp.Schema.DequantiseFor(s.Ever, gs.withDefaults(g, s, i), s.Grid(i), wireRefs{gs}, at)
	}
}

// withDefaults returns a component's words in a value of a ghost, with defaults in the fields that the
// player does not receive. They are valid until the next call.
func (gs *ghosts) withDefaults(g *snapshot.Ghost, s snapshot.State, i int) []int32 {
	comp, wd := &gs.p.Components[i], &gs.withdrawal
	wd.words = append(wd.words[:0], s.Component(i)...)
	if comp.Masked&^s.Audience == 0 {
		return wd.words
	}
	from := gs.p.Prefabs[g.Prefab].ECS.Default(comp.ID)
	if from == nil {
		from = comp.Zero
	}
	wd.defaults = append(wd.defaults[:0], wd.words...)
	comp.Schema.Quantise(from, s.Grid(i), nil, wd.defaults)
	comp.Schema.Cover(s.Audience, wd.words, wd.defaults)
	return wd.words
}
