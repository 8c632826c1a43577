package ecs_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// No method of a world takes None for an entity. After a call with it, nothing is alive that was not before,
// and no handle that the world returns is None, stale, or returned twice.
func TestNoneIsNoIdentity(t *testing.T) {
	entity := reflect.TypeFor[ecs.Entity]()
	tried := 0
	for _, of := range []func(w *ecs.World) any{
		func(w *ecs.World) any { return w },
		func(w *ecs.World) any { return ecs.Engine(w).Manager() },
	} {
		names := reflect.TypeOf(of(ecs.NewWorld(newGame(t).types, ecs.WorldConfig{})))
		for m := range names.NumMethod() {
			method := names.Method(m)
			takes := false
			for i := 1; i < method.Type.NumIn(); i++ {
				takes = takes || method.Type.In(i) == entity
			}
			if !takes {
				continue
			}
			tried++
			g := newGame(t)
			w := ecs.NewWorld(g.types, ecs.WorldConfig{})
			seen := map[ecs.Entity]bool{}
			var reserved []ecs.Entity
			for r := range ecs.RangeLocal + 1 { // the first page of indices is theirs, with index 0
				gone, e := ecs.Engine(w).Reserve(r, 1), ecs.Engine(w).Reserve(r, 1)
				require.NoError(t, ecs.Engine(w).Place(gone, &g.mover, 1))
				require.NoError(t, ecs.Engine(w).Place(e, &g.mover, 1))
				w.Destroy(gone)
				reserved, seen[e], seen[gone] = append(reserved, e), true, true
			}
			args := []reflect.Value{reflect.ValueOf(of(w))}
			for i := 1; i < method.Type.NumIn(); i++ {
				switch in := method.Type.In(i); {
				case in == reflect.TypeFor[*ecs.Prefab]():
					args = append(args, reflect.ValueOf(&g.mover))
				case in == reflect.TypeFor[ecs.Owner]():
					args = append(args, reflect.ValueOf(ecs.Owner(1)))
				case method.Type.IsVariadic() && i == method.Type.NumIn()-1:
				default:
					args = append(args, reflect.Zero(in))
				}
			}
			func() {
				defer func() {
					if v := recover(); v != nil {
						err, _ := v.(error)
						require.True(t, errors.As(err, new(ecs.UsageError)), "%s panics with %v", method.Name, v)
					}
				}()
				method.Func.Call(args)
			}()
			require.False(t, w.Alive(ecs.None), method.Name)
			for _, e := range reserved {
				require.True(t, w.Alive(e), method.Name)
			}
			for range 4 {
				for r := range ecs.RangeLocal + 1 {
					e := ecs.Engine(w).Reserve(r, 1)
					require.NotZero(t, e.Generation(), "%s(None), and then Reserve returns %v", method.Name, e)
					require.False(t, seen[e], "%s(None), and then %v is given twice", method.Name, e)
					seen[e] = true
				}
				e := w.Spawn(&g.mover, 1)
				require.NotZero(t, e.Generation(), method.Name)
				require.False(t, seen[e], "%s(None), and then %v is given twice", method.Name, e)
				seen[e] = true
			}
		}
	}
	require.Greater(t, tried, 8)
}
