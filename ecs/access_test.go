package ecs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// TestHandlesThatNeverWereAreNotFound asks for every slot, taken or not, with
// generations and ranges that nobody has.
func TestHandlesThatNeverWereAreNotFound(t *testing.T) {
	costtest.Memory(t)
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	alive := map[ecs.Entity]bool{}
	for _, e := range spread(w, &g.mover, 200, 3) {
		alive[e] = true
	}
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	for _, e := range spread(w, &g.mover, 300, 5) {
		alive[e] = false // the restore discards these
	}
	h.Restore(0)
	v := g.pos.View(w)
	found := 0
	for slot := range uint32(5000) {
		for _, r := range []uint32{0, 1, 2, 3} {
			for _, gen := range []uint32{0, 1, 2, 1<<24 - 1} {
				for _, junk := range []ecs.Entity{0, 1 << 32, 1 << 37, 1 << 24} {
					e := ecs.MakeEntity(r<<30|slot, gen) | junk
					if alive[e] {
						found++
						require.NotNil(t, v.Find(e))
						continue
					}
					require.False(t, w.Alive(e), "%v", e)
					require.Nil(t, v.Find(e), "%v", e)
					require.Nil(t, g.pos.Find(w, e), "%v", e)
				}
			}
		}
	}
	require.Equal(t, 200, found)
	require.Panics(t, func() { v.Get(ecs.None) })
}

// TestViewOutlivesNewTables keeps a View while a body creates entities of
// dozens of new component sets. The View still finds the entities from its
// creation.
func TestViewOutlivesNewTables(t *testing.T) {
	g := &game{types: ecs.NewTypes()}
	require.NoError(t, g.types.Register(&g.pos))
	tags, prefabs := make([]ecs.Component[Dead], 6), make([]ecs.Prefab, 64)
	for i := range tags {
		require.NoError(t, g.types.Register(&tags[i], ecs.Named(fmt.Sprint("tag", i))))
	}
	for i := range prefabs {
		hs := []ecs.Handle{&g.pos}
		for k := range tags {
			if i>>k&1 != 0 {
				hs = append(hs, &tags[k])
			}
		}
		require.NoError(t, g.types.RegisterPrefab(&prefabs[i], fmt.Sprint("prefab", i), hs...))
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	es := spread(w, &prefabs[0], 40, 2)
	ecs.Engine(w).Lock()
	v := g.pos.View(w)
	var made []ecs.Entity
	for i := range prefabs {
		for o := range ecs.Owner(40) {
			made = append(made, w.Spawn(&prefabs[i], o))
		}
		for n, e := range es {
			v.Get(e).X = float32(n + i)
			require.Equal(t, float32(n+i), g.pos.Get(w, e).X)
		}
		for _, e := range made { // through the View if at all
			if p := v.Find(e); p != nil {
				p.Y++
			}
			g.pos.Get(w, e).X++
		}
	}
	ecs.Engine(w).Unlock()
	for i, e := range made {
		require.Equal(t, float32(len(prefabs)-i/40), g.pos.Get(w, e).X)
	}
}

// TestViewKeptTooLong is about memory: what such a View finds may be old, but
// it is there.
func TestViewKeptTooLong(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{Capacity: 64})
	es := spread(w, &g.mover, 10, 1)
	v := g.pos.View(w)
	for o := range ecs.Owner(100) {
		es = append(es, spread(w, &g.person, 30, int(o)+1)...)
		for _, e := range es {
			if p := v.Find(e); p != nil {
				p.W++
			}
		}
	}
	require.Equal(t, 10+3000, w.Len())
}
