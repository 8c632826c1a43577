package ecs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// TestMisuseIsNamed: a call that cannot be right is an error, or a panic with
// [ecs.UsageError], that names the fix; no nil dereference.
func TestMisuseIsNamed(t *testing.T) {
	g, nop := newGame(t), func(*frame, ecs.Rows) {}
	var none *ecs.Component[Position]
	build := func(with func(s *ecs.Schedule[*frame])) func() error {
		return func() error {
			s := ecs.NewSchedule[*frame](g.types)
			with(s)
			return s.Build()
		}
	}
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"register nil", func() error { return g.types.Register(nil) }, "pass the address"},
		{"register a nil pointer", func() error { return g.types.Register(none) }, "pass the address"},
		{"register with a nil option", func() error { return ecs.NewTypes().Register(&ecs.Component[Health]{}, nil) }, "leave it out"},
		{"register with a nil copier", func() error {
			return ecs.NewTypes().Register(&ecs.Component[Name]{}, ecs.Copier[Name](nil))
		}, "nil Copier"},
		{"register with a nil copier of bytes", func() error {
			return ecs.NewTypes().Register(&ecs.Component[Name]{}, ecs.CopierAt(nil))
		}, "nil CopierAt"},
		{"managed by nobody", func() error { return ecs.NewTypes().Register(&ecs.Component[Health]{}, ecs.Managed("")) }, "say what to call"},
		{"singleton of nil", func() error { return g.types.RegisterSingleton(nil) }, "pass the address"},
		{"nil prefab", func() error { return g.types.RegisterPrefab(nil, "x", &g.pos) }, "pass the address"},
		{"prefab without a name", func() error { return g.types.RegisterPrefab(&ecs.Prefab{}, "", &g.pos) }, "give it one"},
		{"prefab of nil", func() error { return g.types.RegisterPrefab(&ecs.Prefab{}, "x", nil) }, "nil handle"},
		{"prefab of a nil pointer", func() error { return g.types.RegisterPrefab(&ecs.Prefab{}, "x", none) }, "nil handle"},
		{"default of an unregistered prefab", func() error {
			return ecs.SetDefault(g.types, &ecs.Prefab{}, &g.pos, Position{})
		}, "RegisterPrefab first"},
		{"default of a nil prefab", func() error { return ecs.SetDefault(g.types, nil, &g.pos, Position{}) }, "RegisterPrefab first"},
		{"default of a nil component", func() error { return ecs.SetDefault(g.types, &g.rock, none, Position{}) }, "nil handle"},
		{"query of nil types' term", func() error { ecs.NewQuery(g.types, nil); return nil }, "nil term"},
		{"query of another package's term", func() error { ecs.NewQuery(g.types, wrappedTerm{ecs.With()}); return nil }, "wrappedTerm"},
		{"query of no world", func() error { ecs.NewQuery(g.types, ecs.With(&g.pos)).All(nil); return nil }, "nil World"},
		{"query of nobody's world", func() error { ecs.NewQuery(g.types, ecs.With(&g.pos)).Owned(nil, 1); return nil }, "nil World"},
		{"count of no world", func() error { ecs.NewQuery(g.types, ecs.With(&g.pos)).Count(nil); return nil }, "nil World"},
		{"query of a nil handle", func() error { ecs.NewQuery(g.types, ecs.With(nil)); return nil }, "nil handle"},
		{"watch of a nil pointer", func() error { ecs.NewWatch(g.types, ecs.With(none)); return nil }, "nil handle"},
		{"world of nil types", func() error { ecs.NewWorld(nil, ecs.WorldConfig{}); return nil }, "NewTypes"},
		{"schedule of nil types", func() error { ecs.NewSchedule[*frame](nil); return nil }, "NewTypes"},
		{"system without a body", build(func(s *ecs.Schedule[*frame]) { s.Add("a", nil) }), "no body"},
		{"system without a name", build(func(s *ecs.Schedule[*frame]) { s.Add("", nop) }), "needs a name"},
		{"system twice", build(func(s *ecs.Schedule[*frame]) { s.Add("a", nop); s.Add("a", nop) }), "taken"},
		{"system of a nil handle", build(func(s *ecs.Schedule[*frame]) { s.Add("a", nop, ecs.WriteOther(nil)) }), "nil handle"},
		{"system before itself", build(func(s *ecs.Schedule[*frame]) { s.Add("a", nop, ecs.Before("a")) }), "cycle: a →(explicit) a"},
		{"stage twice", build(func(s *ecs.Schedule[*frame]) { s.Stages("a", "a") }), "named twice"},
		{"stage without a name", build(func(s *ecs.Schedule[*frame]) { s.Stages("a", "") }), "needs a name"},
		{"no stages", build(func(s *ecs.Schedule[*frame]) { s.Stages() }), "at least one"},
		{"order after Build", build(func(s *ecs.Schedule[*frame]) { _ = s.Build(); s.InOrder() }), "InOrder after Build"},
		{"spawn of nil", func() error { ecs.NewWorld(newGame(t).types, ecs.WorldConfig{}).Spawn(nil, 1); return nil }, "declare it first"},
		{"history of nothing", func() error { ecs.Engine(ecs.NewWorld(newGame(t).types, ecs.WorldConfig{})).NewHistory(0); return nil }, "use 1 at least"},
		{"history of less", func() error {
			ecs.Engine(ecs.NewWorld(newGame(t).types, ecs.WorldConfig{})).NewOwnerHistory(1, -1)
			return nil
		}, "use 1 at least"},
	} {
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					usage, ok := p.(ecs.UsageError)
					require.True(t, ok, "%s: %v", c.name, p)
					err = usage
				}
			}()
			return c.call()
		}()
		require.ErrorContains(t, err, c.want, c.name)
	}
	require.Empty(t, new(ecs.Prefab).Name())
	require.False(t, g.types.Has(nil))
	require.False(t, g.types.Has(&g.score))
	require.False(t, newGame(t).types.Has(&g.pos))
	require.True(t, g.types.Has(&g.pos))
}

// TestCycles: of systems that wait for one another the error prints the shortest cycle,
// counts the others, and names the way out.
func TestCycles(t *testing.T) {
	g, nop := newGame(t), func(*frame, ecs.Rows) {}
	type sys struct {
		name string
		acc  []ecs.Access
	}
	var wait []string
	for i := range 40 {
		wait = append(wait, string(rune('A'+i)))
	}
	all := make([]sys, 0, len(wait))
	for _, n := range wait {
		all = append(all, sys{n, []ecs.Access{ecs.Before(wait...)}})
	}
	moving := func(acc ...ecs.Access) []ecs.Access { return append(acc, ecs.Read(&g.vel), ecs.Write(&g.pos)) }
	for name, c := range map[string]struct {
		systems []sys
		want    []string
	}{
		"declarations": {
			[]sys{{"a", []ecs.Access{ecs.Write(&g.pos), ecs.Read(&g.vel)}}, {"b", []ecs.Access{ecs.Write(&g.vel), ecs.Read(&g.pos)}}},
			[]string{`a →(Position) b →(Velocity) a: say which comes first, as by ecs.After("b") on "a", or call InOrder to run the systems in the order that they are declared`},
		},
		"two components on one edge": {
			[]sys{{"a", []ecs.Access{ecs.Write(&g.pos, &g.score), ecs.Read(&g.vel)}}, {"b", []ecs.Access{ecs.Write(&g.vel), ecs.Read(&g.pos, &g.score)}}},
			[]string{`a →(Position, score) b →(Velocity) a: say which comes first, as by ecs.After("b") on "a", or call InOrder to run the systems in the order that they are declared`},
		},
		"one wrong order among many": {
			[]sys{
				{"push", []ecs.Access{ecs.Read(&g.pos), ecs.Write(&g.vel)}}, {"one", moving()}, {"two", moving()},
				{"three", moving()}, {"four", moving()},
			},
			[]string{`push →(Velocity) one →(Position) push (and 3 more cycles among these and other systems): say which comes first, as by ecs.After("one") on "push", or call InOrder to run the systems in the order that they are declared`},
		},
		"three systems": {
			[]sys{
				{"a", []ecs.Access{ecs.Write(&g.pos), ecs.Read(&g.hp)}}, {"b", []ecs.Access{ecs.Read(&g.pos), ecs.Write(&g.vel)}},
				{"c", []ecs.Access{ecs.Read(&g.vel), ecs.Write(&g.hp)}},
			},
			[]string{`a →(Position) b →(Velocity) c →(Health) a: say which comes first, as by ecs.After("b") on "a", or call InOrder to run the systems in the order that they are declared`},
		},
		"groups": {
			[]sys{
				{"free", nil}, {"a", []ecs.Access{ecs.Before("b")}}, {"b", []ecs.Access{ecs.Before("c", "a")}},
				{"c", []ecs.Access{ecs.Before("a")}}, {"behind", []ecs.Access{ecs.After("a")}},
				{"x", []ecs.Access{ecs.Before("y")}}, {"y", []ecs.Access{ecs.Before("x")}},
			},
			[]string{
				"a →(explicit) b →(explicit) a (and 1 more cycle among these and other systems): take away one Before or After",
				"x →(explicit) y →(explicit) x: take away one Before or After",
			},
		},
		"very many": {all, []string{"A →(explicit) A (and more than 1000 more cycles among these and other systems): take away one Before or After"}},
	} {
		s := ecs.NewSchedule[*frame](g.types)
		for _, n := range c.systems {
			s.Add(n.name, nop, n.acc...)
		}
		var want []string
		for _, line := range c.want {
			want = append(want, `ecs: stage "tick": cycle: `+line)
		}
		require.EqualError(t, s.Build(), strings.Join(want, "\n"), name)
	}
}

// TestInOrder: systems run in the order of Add, whatever they declare, unless Before
// and After say otherwise.
func TestInOrder(t *testing.T) {
	g, nop := newGame(t), func(*frame, ecs.Rows) {}
	build := func(inOrder bool, acc ...ecs.Access) (*ecs.Schedule[*frame], error) {
		s := ecs.NewSchedule[*frame](g.types)
		if inOrder {
			s.InOrder()
		}
		s.Add("read", nop, ecs.Read(&g.pos), ecs.Write(&g.vel))
		s.Add("write", nop, ecs.Write(&g.pos), ecs.Read(&g.vel))
		s.Add("create", nop, append(acc, ecs.Create(&g.pos))...)
		return s, s.Build()
	}
	_, err := build(false)
	require.ErrorContains(t, err, "cycle: ")
	s, err := build(true)
	require.NoError(t, err)
	require.Equal(t, "read write create", order(s))
	require.NotContains(t, s.DOT(), "Position\"]", "nothing is said to precede for what it writes")
	s, err = build(true, ecs.Before("write"))
	require.NoError(t, err)
	require.Equal(t, "read create write", order(s))
	_, err = build(true, ecs.Before("write"), ecs.After("write"))
	require.ErrorContains(t, err, "cycle: ")
}

// quiet is a hook that does nothing.
type quiet struct{}

func (quiet) Before(*frame, int) {}
func (quiet) After(*frame, int)  {}

// TestManagedEntities: only a library can spawn and destroy its managed entities;
// other code gets a panic that names the running system.
func TestManagedEntities(t *testing.T) {
	type keep struct{ N int32 }
	types := ecs.NewTypes()
	var kept ecs.Component[keep]
	var pos ecs.Component[Position]
	var ours, theirs ecs.Prefab
	require.NoError(t, types.Register(&kept, ecs.Managed("ask the keeper")))
	require.NoError(t, types.Register(&pos))
	require.NoError(t, types.RegisterPrefab(&ours, "ours", &kept, &pos))
	require.NoError(t, types.RegisterPrefab(&theirs, "theirs", &pos))
	refused := func(call func(), want ...string) {
		t.Helper()
		defer func() {
			err, ok := recover().(ecs.UsageError)
			require.True(t, ok)
			for _, w := range append(want, "ask the keeper") {
				require.ErrorContains(t, err, w)
			}
		}()
		call()
	}
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := ecs.Engine(w).Manager().Spawn(&ours, 1)
	free := w.Spawn(&theirs, 1)
	refused(func() { w.Spawn(&ours, 1) }, `World.Spawn of prefab "ours"`)
	refused(func() { ecs.Engine(w).SpawnIn(ecs.RangeLocal, &ours, 1) })
	refused(func() { w.SpawnBatch(&ours, 1, make([]ecs.Entity, 2)) })
	refused(func() { _ = ecs.Engine(w).Place(e, &ours, 1) })
	refused(func() { w.Destroy(e) }, "World.Destroy")
	refused(func() { w.DestroyBatch([]ecs.Entity{e}) })
	refused(func() { w.DestroyAll(ecs.NewQuery(types, ecs.With(&pos))) })
	refused(func() { ecs.Engine(w).ReleaseOwner(1) })
	ecs.Engine(w).Recover()
	require.True(t, w.Alive(e))
	require.True(t, w.Destroy(free) || !w.Alive(free))

	for name, run := range map[string]func(s *ecs.Schedule[*frame], w *ecs.World, f *frame){
		"whole":  func(s *ecs.Schedule[*frame], w *ecs.World, f *frame) { s.Execute(w, f) },
		"player": func(s *ecs.Schedule[*frame], w *ecs.World, f *frame) { s.ExecutePlayer(w, f, 1) },
		"parts":  func(s *ecs.Schedule[*frame], w *ecs.World, f *frame) { s.ExecuteParts(w, f, 1) },
	} {
		s := ecs.NewSchedule[*frame](types)
		s.SetHook(quiet{})
		s.Add("before", func(*frame, ecs.Rows) {}, ecs.Read(&pos))
		s.Add("culprit", func(f *frame, r ecs.Rows) { f.w.Destroy(r.Entity(0)) }, ecs.Read(&kept), ecs.Structural())
		require.NoError(t, s.Build())
		refused(func() { run(s, w, &frame{w: w}) }, `system "culprit"`)
		ecs.Engine(w).Recover()
		func() { // and between systems no name is kept
			defer func() { require.NotContains(t, recover().(error).Error(), "system", name) }()
			w.Destroy(e)
		}()
	}
	require.True(t, ecs.Engine(w).Manager().Destroy(e))
	require.False(t, ecs.Engine(w).Manager().Destroy(e))
	e, free = ecs.Engine(w).Manager().Spawn(&ours, 2), w.Spawn(&theirs, 2)
	ecs.Engine(w).Manager().ReleaseOwner(2)
	ecs.Engine(w).Manager().ReleaseOwner(3)
	require.False(t, w.Alive(e) || w.Alive(free))
}

// wrappedTerm is a term such as foretick.OfPrefab returns: without its prefab it would match
// every entity.
type wrappedTerm struct{ ecs.Term }
