package ecs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/ecs"
)

// visitors returns systems that log their calls. One destroys a row and creates
// an entity for heir, which later systems must see.
func visitors(t require.TestingT, g *game, heir ecs.Owner) *ecs.Schedule[*frame] {
	note := func(name string) func(*frame, ecs.Rows) {
		return func(f *frame, r ecs.Rows) {
			line := fmt.Sprint(name, " ", r.Owner(), " ", r.Mask(), ":")
			if r.Len() > 0 {
				for _, p := range g.pos.Slice(r) {
					line += fmt.Sprint(" ", p.X)
				}
			}
			f.log = append(f.log, line)
		}
	}
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("first", note("first"), ecs.Write(&g.pos))
	s.Add("once", note("once"), ecs.Once())
	s.Add("hurt", func(f *frame, r ecs.Rows) {
		note("hurt")(f, r)
		f.w.Spawn(&g.rock, heir)
		f.w.Destroy(r.Entity(0))
	}, ecs.Write(&g.hp), ecs.Read(&g.pos), ecs.Create(&g.pos))
	s.Add("moving", note("moving"), ecs.Read(&g.vel, &g.pos), ecs.Without(&g.hp))
	s.Add("server", note("server"), ecs.Read(&g.pos), ecs.Tags("server"))
	s.Add("draw", note("draw"), ecs.Render(), ecs.Read(&g.pos))
	s.Add("last", note("last"), ecs.Read(&g.pos))
	require.NoError(t, s.Build())
	return s
}

// TestExecutePartsIsExecuteOfThoseOwners compares with Execute in a world that
// never had anybody else's entities.
func TestExecutePartsIsExecuteOfThoseOwners(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(t)
		anyone := rapid.SampledFrom([]ecs.Owner{ecs.Nobody, 1, 2, 3, 300, ecs.Common})
		asked := rapid.SliceOfN(anyone, 1, 5).Draw(rt, "asked")
		all, some := ecs.NewWorld(g.types, ecs.WorldConfig{}), ecs.NewWorld(g.types, ecs.WorldConfig{})
		for i := range rapid.IntRange(0, 40).Draw(rt, "entities") {
			k := rapid.SampledFrom([]*ecs.Prefab{&g.mover, &g.rock, &g.person}).Draw(rt, "prefab")
			o := anyone.Draw(rt, "owner")
			g.pos.Get(all, all.Spawn(k, o)).X = float32(i)
			if slices.Contains(asked, o) {
				g.pos.Get(some, some.Spawn(k, o)).X = float32(i)
			}
		}
		got, want := visitors(rt, g, asked[0]), visitors(rt, g, asked[0])
		for range 3 {
			gotFrame, wantFrame := &frame{w: all}, &frame{w: some}
			got.ExecuteParts(all, gotFrame, asked...)
			want.Execute(some, wantFrame)
			require.Equal(rt, wantFrame.log, gotFrame.log)
		}
	})
}

func TestExecutePartsOfNobodyInParticular(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.rock, ecs.Nobody)
	s := visitors(t, g, 1)
	f := &frame{w: w}
	s.ExecuteParts(w, f)
	require.Len(t, f.log, 1, "the Once system: %v", f.log)
	f.log = nil
	s.ExecuteParts(w, f, 1, ecs.Nobody, 1)
	require.Len(t, f.log, 3, "first, once and last: %v", f.log)
	h := &recorder{}
	s.SetHook(h)
	s.ExecuteParts(w, f, 1)
	require.Len(t, h.log, 2*5, "around each system, with rows or without")
}
