//go:build foretick_debug

package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

const parallelBuild = false

func TestUndeclaredAccessNamesSystemAndComponent(t *testing.T) {
	g := newGame(t)
	for name, touch := range map[string]func(f *frame, r ecs.Rows){
		"Velocity":        func(f *frame, r ecs.Rows) { g.vel.Slice(r) },
		"Health":          func(f *frame, r ecs.Rows) { g.hp.Find(f.w, r.Entity(0)) },
		"singleton score": func(f *frame, r ecs.Rows) { g.score.Get(f.w) },
	} {
		s := ecs.NewSchedule[*frame](g.types)
		s.Add("sneak", touch, ecs.Read(&g.pos))
		require.NoError(t, s.Build())
		w := ecs.NewWorld(g.types, ecs.WorldConfig{})
		w.Spawn(&g.person, 0)
		require.PanicsWithError(t, `ecs: system "sneak" touches `+name+` without declaring it: name it in `+
			map[bool]string{true: "Read or Write", false: "Read, Write, ReadOther or WriteOther"}[name == "singleton score"],
			func() { s.Execute(w, &frame{w: w}) })
	}
}
