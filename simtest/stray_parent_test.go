package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

// shown counts the entities by their labels.
func (g *depot) shown(w *ecs.World) map[uint16]int {
	out := map[uint16]int{}
	for _, rows := range g.all.All(w) {
		for _, l := range g.label.Slice(rows) {
			out[l.N]++
		}
	}
	return out
}

// rowsOf lists the entities of a query.
func rowsOf(q *ecs.Query, w *ecs.World) (all []ecs.Entity) {
	for _, rows := range q.All(w) {
		all = append(all, rows.Entities()...)
	}
	return all
}

// If a client's game destroys replicated entities between two frames, as children of an entity of
// its own, they are there again in the next frame. Parents that the game sets on them are undone.
func TestDestroyedWithAClientsParent(t *testing.T) {
	for _, flat := range []bool{false, true} {
		d := newParade(t, 1, sim.Link{Latency: 50 * time.Millisecond}, 0, flat)
		d.m.Run(2 * time.Second)
		d.vehicle(1)
		d.vehicle(2)
		d.rest()
		c, g := d.clients[0], d.games[0]
		w := c.View().World
		all := rowsOf(g.all, w)
		before := len(all)
		require.Len(t, g.shown(w), before)
		crate := w.Spawn(&g.crate, ecs.Nobody)
		for _, e := range all {
			_ = w.SetParent(e, crate)
		}
		require.True(t, w.Destroy(crate))
		require.Empty(t, g.shown(w))
		d.m.Run(d.m.Net.Now() + 20*time.Millisecond)
		require.Len(t, g.shown(w), before, "the next frame")
		d.rest()
		require.Equal(t, d.g.shown(d.srv.World()), g.shown(w))
		if !flat {
			d.equal(t, "at rest")
		}
		wrong := c.Stats().Mispredictions
		for _, child := range rowsOf(g.all, w) { // the client's game makes each a child of another
			for _, parent := range rowsOf(g.all, w) {
				_ = w.SetParent(child, parent)
			}
		}
		d.m.Run(d.m.Net.Now() + 20*time.Millisecond)
		if !flat {
			d.equal(t, "the next frame")
		}
		d.rest()
		require.Equal(t, wrong, c.Stats().Mispredictions, d.wrong)
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code), d.wrong)
		require.NoError(t, d.m.Err())
	}
}
