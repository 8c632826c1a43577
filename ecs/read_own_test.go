package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// TestReadOwn: what is read of the same owner's entities is listed apart, orders systems as
// ReadOther does, and a debug build refuses another owner's.
func TestReadOwn(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	var look ecs.Entity
	s.Add("look", func(f *frame, _ ecs.Rows) { _ = g.pos.Get(f.w, look) }, ecs.Read(&g.vel), ecs.ReadOwn(&g.pos))
	s.Add("move", func(*frame, ecs.Rows) {}, ecs.Write(&g.pos))
	require.NoError(t, s.Build())
	require.Equal(t, "move", s.Systems()[0].Name, "writers run before readers")
	require.Equal(t, []ecs.ID{g.pos.ID()}, s.Systems()[1].OwnReads)
	require.Equal(t, s.Systems()[1].OtherReads, s.Systems()[1].OwnReads)
	require.Contains(t, s.String(), "readown(")
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	mine, other := w.Spawn(&g.person, 1), w.Spawn(&g.person, 2)
	for _, e := range []ecs.Entity{mine, other} {
		look = e
		run := func() { s.ExecutePlayer(w, &frame{w: w}, 1) }
		if !parallelBuild && e == other {
			require.Panics(t, run)
		} else {
			run()
		}
	}
	s = ecs.NewSchedule[*frame](g.types)
	s.Add("once", func(*frame, ecs.Rows) {}, ecs.Once(), ecs.ReadOwn(&g.pos))
	require.ErrorContains(t, s.Build(), "ReadOwn in a Once system")
}
