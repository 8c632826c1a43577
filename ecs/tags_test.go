package ecs_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// TestSetTags: each way to run a schedule runs the systems whose tags the world has now.
func TestSetTags(t *testing.T) {
	g := newGame(t)
	var mu sync.Mutex // systems run at once in one of the ways
	var ran []string
	note := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, name)
	}
	s := ecs.NewSchedule[*frame](g.types)
	for name, tags := range map[string][]string{"war": {"battle"}, "night war": {"battle", "night"}} {
		s.Add(name, func(*frame, ecs.Rows) { note(name) }, ecs.Read(&g.pos), ecs.Partial(), ecs.Tags(tags...), ecs.After("peace"))
	}
	s.Add("peace", func(*frame, ecs.Rows) { note("peace") }, ecs.Read(&g.pos), ecs.Partial())
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{Tags: []string{"night"}})
	w.Spawn(&g.rock, 1)
	f := &frame{w: w}
	ways := map[string]func(){
		"Execute":        func() { s.Execute(w, f) },
		"ExecutePlayer":  func() { s.ExecutePlayer(w, f, 1) },
		"ExecuteParts":   func() { s.ExecuteParts(w, f, 1) },
		"ExecutePartial": func() { s.ExecutePartial(w, f, 1) },
		"ExecuteOwner":   func() { s.ExecuteOwner(w, f, func(int) bool { return true }, 1) },
		"parallel": func() {
			s.SetExecutor(everyTask{})
			s.Execute(w, f)
			s.SetExecutor(nil)
		},
	}
	for _, on := range [][]string{{"battle"}, {"night", "battle"}, nil, {"night"}} {
		w.SetTags(on...)
		want := []string{"peace"}
		if len(on) > 0 && on[len(on)-1] == "battle" {
			want = append(want, "war")
		}
		if len(on) == 2 {
			want = append(want, "night war")
		}
		for way, run := range ways {
			ran = nil
			run()
			require.ElementsMatch(t, want, ran, "%s with %v", way, on)
		}
	}
}

func TestSetTagsMisuse(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprint(i))
	}
	require.PanicsWithError(t, `ecs: SetTags: tag "64" is one too many: there can be 64; give systems that run together the same tag`, func() { w.SetTags(many...) })
	ecs.Engine(w).Lock()
	defer ecs.Engine(w).Unlock()
	require.PanicsWithError(t, "ecs: SetTags in a locked world: call it outside of systems", func() { w.SetTags() })
}
