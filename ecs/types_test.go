package ecs_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

type bag struct {
	Items [2]struct{ Label *string }
}

// All faults of a declaration are reported together.
func TestEveryFaultIsTold(t *testing.T) {
	type holder struct {
		Name  string
		X     int
		Bag   [3]struct{ Items []int }
		In    struct{ Next, Prev *int }
		Value any
	}
	types, others := ecs.NewTypes(), ecs.NewTypes()
	var h ecs.Component[holder]
	var pos, late ecs.Component[Position]
	var theirs ecs.Component[Velocity]
	var score ecs.Singleton[int64]
	var k ecs.Prefab
	require.NoError(t, types.Register(&pos))
	require.NoError(t, others.Register(&theirs))
	require.NoError(t, types.RegisterSingleton(&score))
	s := ecs.NewSchedule[*frame](types)
	s.Add("all", func(*frame, ecs.Rows) {}, ecs.Read(&pos, &late), ecs.Write(&theirs), ecs.With(&score))
	for _, c := range []struct {
		err  error
		want []string
	}{
		{types.Register(&h), []string{"field holder.Name holds", "field holder.Bag[0].Items holds", "field holder.In.Next holds", "field holder.In.Prev holds", "field holder.Value holds"}},
		{types.RegisterPrefab(&k, "k", &late, &pos, &theirs, &score), []string{"Position is not registered", "Velocity is registered with other Types", "int64 is a singleton"}},
		{s.Build(), []string{`system "all": component ecs_test.Position is not`, `system "all": component ecs_test.Velocity is registered`, `system "all": singleton int64`}},
	} {
		all := c.err.(interface{ Unwrap() []error }).Unwrap()
		require.Len(t, all, len(c.want), c.err)
		for i, want := range c.want {
			require.ErrorContains(t, all[i], want)
		}
	}
	require.False(t, h.Registered())
	require.False(t, k.Registered())

	lost := ecs.NewSchedule[*frame](types)
	lost.Add("lost", func(*frame, ecs.Rows) {}, ecs.Before("nobody"), ecs.After("never"))
	err := lost.Build()
	require.ErrorContains(t, err, `before "nobody"`)
	require.ErrorContains(t, err, `after "never"`)
}

// A system added after Build would run in no defined order, or never.
func TestNothingIsAddedToABuiltSchedule(t *testing.T) {
	s := ecs.NewSchedule[*frame](ecs.NewTypes())
	require.NoError(t, s.Build())
	require.PanicsWithError(t, `ecs: system "late" is added after Build: add every system first`, func() {
		s.Add("late", func(*frame, ecs.Rows) {}, ecs.Once())
	})
	require.PanicsWithError(t, "ecs: Stages after Build: name them first", func() { s.Stages("more") })
	require.Empty(t, s.Systems())
}

func TestRegisterRefusesWithTheFix(t *testing.T) {
	types := ecs.NewTypes()
	var pos, again ecs.Component[Position]
	var b ecs.Component[bag]
	var name ecs.Component[Name]
	var score ecs.Singleton[int64]
	require.NoError(t, types.Register(&pos))
	require.ErrorContains(t, types.Register(&pos), "already registered")
	require.ErrorContains(t, types.Register(&again), `type and name "Position" are taken`)
	require.NoError(t, types.Register(&again, ecs.Named("Goal")))
	require.ErrorContains(t, types.Register(&b), "field bag.Items[0].Label holds a pointer")
	require.ErrorContains(t, types.Register(&name, ecs.Copier(func(_, _ *bag) {})), "copier is for ecs_test.bag")
	require.ErrorContains(t, types.Register(&score), "RegisterSingleton")
	require.ErrorContains(t, types.RegisterSingleton(&b), "Register")
	require.ErrorContains(t, types.Register(&b, ecs.Named("")), "empty name")
	ecs.NewWorld(types, ecs.WorldConfig{})
	require.ErrorIs(t, types.Register(&b), ecs.ErrFrozen)
	require.Equal(t, 2, types.Len())
	info := types.Info(again.ID())
	require.Equal(t, "Goal", info.Name)
	require.Equal(t, uintptr(16), info.Size)
	id, ok := types.Lookup("Goal")
	require.True(t, ok)
	require.Equal(t, again.ID(), id)
	_, ok = types.Lookup("ecs.parent")
	require.False(t, ok)
}

func TestKindsRefuseWithTheFix(t *testing.T) {
	g := newGame(t)
	var k ecs.Prefab
	var loose ecs.Component[padded]
	other := newGame(t)
	require.ErrorContains(t, g.types.RegisterPrefab(&g.mover, "x"), "already registered")
	require.ErrorContains(t, g.types.RegisterPrefab(&k, "mover"), "the name is taken")
	require.ErrorContains(t, g.types.RegisterPrefab(&k, "k", &loose), "not registered")
	require.ErrorContains(t, g.types.RegisterPrefab(&k, "k", &other.pos), "other Types")
	require.ErrorContains(t, g.types.RegisterPrefab(&k, "k", &g.score), "singleton")
	require.ErrorContains(t, ecs.SetDefault(g.types, &k, &g.pos, Position{}), "not registered")
	require.ErrorContains(t, ecs.SetDefault(g.types, &g.rock, &g.vel, Velocity{}), "has no")
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	require.ErrorIs(t, g.types.RegisterPrefab(&k, "k"), ecs.ErrFrozen)
	require.Panics(t, func() { w.Spawn(&k, 0) })
	require.Panics(t, func() { w.Spawn(&other.rock, 0) })
	require.Len(t, g.types.Prefabs(), 4)
	require.Equal(t, "person", g.types.Prefabs()[2].Name())
	require.Equal(t, uint16(2), g.person.Index())
	require.Equal(t, []ecs.ID{0, 1, 2, 4}, g.person.Components())
	require.Equal(t, int16(100), *(*int16)(g.person.Default(g.hp.ID())))
	require.Nil(t, g.rock.Default(g.hp.ID()))
}

func TestUnregisteredHandlesArePanicsThatSayWhy(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.rock, 0)
	var loose ecs.Component[Position]
	r, ok := ecs.Engine(w).Row(e)
	require.True(t, ok)
	const want = "ecs: access through a component that is not registered: declare it first, with Protocol.Component, or with Protocol.Command if it is the players' input (without a Protocol: Types.Register)"
	require.PanicsWithError(t, want, func() { loose.Get(w, e) })
	require.PanicsWithError(t, want, func() { loose.Slice(r) })
	require.PanicsWithError(t, want, func() { loose.Add(w, e, Position{}) })
	require.PanicsWithError(t, want, func() { loose.View(w) })
	require.Nil(t, loose.Find(w, e))
	defer func() {
		err, ok := recover().(ecs.AccessError)
		require.True(t, ok)
		require.Equal(t, "Velocity", err.Component())
		require.ErrorContains(t, err, "no Velocity here")
		require.Equal(t, ecs.UsageError{Text: err.Error()}, err.Unwrap())
	}()
	g.vel.Slice(r)
}

func TestMostTypes(t *testing.T) {
	types := ecs.NewTypes()
	comps := make([]ecs.Component[Health], ecs.MaxTypes+1)
	var k ecs.Prefab
	var hs []ecs.Handle
	for i := range ecs.MaxTypes {
		require.NoError(t, types.Register(&comps[i], ecs.Named(fmt.Sprint("c", i))))
		hs = append(hs, &comps[i])
	}
	require.ErrorContains(t, types.Register(&comps[ecs.MaxTypes], ecs.Named("more")), "255")
	require.NoError(t, types.RegisterPrefab(&k, "k", hs...))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	a, b := w.Spawn(&k, 0), w.Spawn(&k, 0)
	comps[254].Get(w, b).Points = 9
	require.NoError(t, w.SetParent(b, a))
	require.Equal(t, int16(9), comps[254].Get(w, b).Points)
	require.Equal(t, a, w.Parent(b))
	require.Equal(t, ecs.MaxTypes, w.Types().Len())
}

func TestPointersOfEveryKindOfColumn(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.person, 0)
	v := Velocity{X: 3}
	ecs.Engine(w).AddByID(e, g.vel.ID(), unsafe.Pointer(&v))
	ecs.Engine(w).AddByID(e, g.dead.ID(), unsafe.Pointer(&v))
	bare := w.Spawn(&g.person, 0)
	for _, id := range []ecs.ID{g.vel.ID(), g.dead.ID(), g.hp.ID()} {
		ecs.Engine(w).AddByID(bare, id, nil)
	}
	require.Equal(t, Velocity{}, *g.vel.Get(w, bare), "nil is the zero value")
	require.Zero(t, *g.hp.Get(w, bare))
	require.Equal(t, v, *(*Velocity)(ecs.Engine(w).Pointer(e, g.vel.ID())))
	require.True(t, g.dead.Has(w, e))
	require.Nil(t, ecs.Engine(w).Pointer(e, 200))
	r, _ := ecs.Engine(w).Row(e)
	require.NotNil(t, r.Column(g.dead.ID()))
	require.Nil(t, r.Column(200))
	require.Len(t, g.dead.Slice(r), 1)
	require.True(t, r.Has(g.dead.ID()))
	require.Equal(t, e, r.Entity(0))
	require.Empty(t, ecs.Rows{}.Entities())
	require.Panics(t, func() { r.Slice(0, 2) })
	require.Equal(t, 0, r.Slice(1, 1).Len())
}
