package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// A query that was not made says how to make it, and never finds the rows of another.
func TestQueryThatWasNotMade(t *testing.T) {
	types, other := ecs.NewTypes(), ecs.NewTypes()
	var c, d ecs.Component[struct{ N int }]
	var k ecs.Prefab
	require.NoError(t, types.Register(&c))
	require.NoError(t, types.RegisterPrefab(&k, "k", &c))
	require.NoError(t, other.Register(&d))
	made := ecs.NewQuery(types, ecs.With(&c))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	w.Spawn(&k, 1)
	require.Equal(t, 1, made.Count(w))
	require.Len(t, made.Owned(w, 1), 1)
	require.Equal(t, made.Owned(w, 1)[0].Entity(0), made.FirstOwned(w, 1))
	require.Equal(t, ecs.None, made.FirstOwned(w, 2))
	for _, q := range []*ecs.Query{nil, {}} {
		for name, use := range map[string]func(){
			"All": func() { q.All(w) }, "Count": func() { q.Count(w) }, "With": func() { q.With() },
			"Owned": func() { q.Owned(w, 1) }, "FirstOwned": func() { q.FirstOwned(w, 1) }, "Owned of nobody": func() { q.Owned(w, 7) }, "DestroyAll": func() { w.DestroyAll(q) },
		} {
			var text string
			func() {
				defer func() {
					if u, ok := recover().(ecs.UsageError); ok {
						text = u.Error()
					}
				}()
				use()
			}()
			require.Contains(t, text, "make it with NewQuery", name)
		}
	}
	require.Equal(t, 1, made.Count(w))
	foreign := ecs.NewQuery(other, ecs.With(&d))
	require.PanicsWithError(t, "ecs: query of other Types than the world's: make one with NewQuery for each end's Types", func() { foreign.All(w) })
	require.PanicsWithError(t, "ecs: query of other Types than the world's: make one with NewQuery for each end's Types", func() { foreign.Owned(w, 1) })
}
