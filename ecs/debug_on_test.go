//go:build foretick_debug

package ecs_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

const parallelBuild = false

func TestUndeclaredAccessNamesSystemAndComponent(t *testing.T) {
	g := newGame(t)
	for name, touch := range map[string]func(f *frame, r ecs.Rows){
		"Velocity":        func(f *frame, r ecs.Rows) { g.vel.Slice(r) },
		"Health":          func(f *frame, r ecs.Rows) { g.hp.Find(f.w, r.Entity(0)) },
		"Name":            func(f *frame, r ecs.Rows) { r.Column(g.name.ID()) },
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

// sneak runs a system for the first player's rows, in a world with other
// players' rows too. It returns the panic text, or "".
func sneak(t *testing.T, g *game, body func(f *frame, r ecs.Rows), acc ...ecs.Access) (blamed string) {
	t.Helper()
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("sneak", body, acc...)
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	mine := w.Spawn(&g.person, 1)
	w.Spawn(&g.person, 1)
	w.Spawn(&g.person, 2)
	w.Spawn(&g.rock, ecs.Nobody)
	g.name.Get(w, mine).Text = "before"
	defer func() {
		if p := recover(); p != nil {
			blamed = p.(ecs.UsageError).Error()
			ecs.Engine(w).Recover()
		}
		w.Guard(true)
		require.False(t, w.Guard(false), "no system runs, and one is watched")
	}()
	s.ExecutePlayer(w, &frame{w: w}, 1)
	return ""
}

// otherOf is an entity of another table than the rows'.
func otherOf(g *game, f *frame, owner ecs.Owner) ecs.Entity {
	return ecs.NewQuery(g.types, ecs.With(&g.pos)).Owned(f.w, owner)[0].Entity(0)
}

func TestWritingWhatWasDeclaredToBeRead(t *testing.T) {
	g := newGame(t)
	const blame = `ecs: system "sneak" writes `
	for name, c := range map[string]struct {
		body func(f *frame, r ecs.Rows)
		acc  []ecs.Access
		want string
	}{
		"Slice": {func(f *frame, r ecs.Rows) { g.vel.Slice(r)[1].Y = 5 },
			[]ecs.Access{ecs.Write(&g.pos), ecs.Read(&g.vel)}, "Velocity of 1.1, which it declared only to read: name it in Write"},
		"Get": {func(f *frame, r ecs.Rows) { g.hp.Get(f.w, r.Entity(0)).Points++ },
			[]ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"Optional": {func(f *frame, r ecs.Rows) { g.hp.Slice(r)[0].Points++ },
			[]ecs.Access{ecs.Read(&g.pos), ecs.Optional(&g.hp)}, "Health of 0.1, which it declared only to read: name it in OptionalWrite"},
		"Find of another's": {func(f *frame, r ecs.Rows) { g.pos.Find(f.w, otherOf(g, f, 2)).X++ },
			[]ecs.Access{ecs.Read(&g.hp), ecs.ReadOther(&g.pos)}, "Position of 64.1, which it declared only to read: name it in WriteOther"},
		"Find of its own": {func(f *frame, r ecs.Rows) { g.pos.Find(f.w, r.Entity(0)).X++ },
			[]ecs.Access{ecs.Read(&g.hp), ecs.ReadOther(&g.pos)}, "Position of 0.1, which it declared only to read: name it in WriteOther, or Write"},
		"View": {func(f *frame, r ecs.Rows) { g.pos.View(f.w).Get(otherOf(g, f, 0)).X++ },
			[]ecs.Access{ecs.Read(&g.hp, &g.pos)}, "Position of 128.1, which it declared only to read: name it in WriteOther"},
		"another's, with Write": {func(f *frame, r ecs.Rows) { g.pos.Get(f.w, otherOf(g, f, 2)).X++ },
			[]ecs.Access{ecs.Write(&g.pos)}, "Position of 64.1, which is not among its rows: name it in WriteOther"},
		"Add that sets": {func(f *frame, r ecs.Rows) { g.hp.Add(f.w, r.Entity(0), Health{7}) },
			[]ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"AddByID that sets": {func(f *frame, r ecs.Rows) { ecs.Engine(f.w).AddByID(r.Entity(0), g.hp.ID(), nil) },
			[]ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"Column": {func(f *frame, r ecs.Rows) { (*Health)(r.Column(g.hp.ID())).Points++ },
			[]ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"with pointers": {func(f *frame, r ecs.Rows) { g.name.Slice(r)[0].Text += "!" },
			[]ecs.Access{ecs.Read(&g.name)}, "Name of 0.1, which it declared only to read: name it in Write"},
		"before a handler": {func(f *frame, r ecs.Rows) {
			g.hp.Slice(r)[0].Points++
			f.w.Guard(f.w.Guard(false))
		}, []ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"after a handler": {func(f *frame, r ecs.Rows) {
			hp := g.hp.Slice(r)
			was := f.w.Guard(false)
			hp[1].Points = 3
			f.w.Guard(was)
			hp[0].Points++
		}, []ecs.Access{ecs.Read(&g.hp)}, "Health of 0.1, which it declared only to read: name it in Write"},
		"a singleton": {func(f *frame, r ecs.Rows) { *g.score.Get(f.w)++ },
			[]ecs.Access{ecs.Read(&g.pos, &g.score)}, "singleton score, which it declared only to read: name it in Write"},
		"a singleton, without rows": {func(f *frame, r ecs.Rows) { g.title.Get(f.w).Text = "x" },
			[]ecs.Access{ecs.Once(), ecs.Read(&g.title)}, "singleton title, which it declared only to read: name it in Write"},
		"a singleton by its path": {func(f *frame, r ecs.Rows) { _ = f.w.SetSingletonValue("score", 7) },
			[]ecs.Access{ecs.Once(), ecs.Read(&g.score)}, "singleton score, which it declared only to read: name it in Write"},
		"without rows": {func(f *frame, r ecs.Rows) { g.pos.Get(f.w, otherOf(g, f, 2)).X++ },
			[]ecs.Access{ecs.Once(), ecs.ReadOther(&g.pos)}, "Position of 64.1, which it declared only to read: name it in WriteOther, or Write"},
	} {
		require.Equal(t, blame+c.want, sneak(t, g, c.body, c.acc...), name)
	}
}

func TestDeclaredWritesAreNobodysBusiness(t *testing.T) {
	g := newGame(t)
	for name, c := range map[string]struct {
		body func(f *frame, r ecs.Rows)
		acc  []ecs.Access
	}{
		"Write":         {func(f *frame, r ecs.Rows) { g.hp.Slice(r)[0].Points++ }, []ecs.Access{ecs.Write(&g.hp)}},
		"OptionalWrite": {func(f *frame, r ecs.Rows) { g.hp.Slice(r)[0].Points++ }, []ecs.Access{ecs.Read(&g.pos), ecs.OptionalWrite(&g.hp)}},
		"WriteOther": {func(f *frame, r ecs.Rows) {
			v := g.pos.View(f.w)
			v.Get(otherOf(g, f, 2)).X++
			v.Get(r.Entity(0)).X++
		}, []ecs.Access{ecs.Read(&g.hp), ecs.WriteOther(&g.pos)}},
		"without rows":   {func(f *frame, _ ecs.Rows) { g.pos.Get(f.w, otherOf(g, f, 2)).X++ }, []ecs.Access{ecs.Once(), ecs.Write(&g.pos)}},
		"the same value": {func(f *frame, r ecs.Rows) { g.hp.Slice(r)[0].Points = 100 }, []ecs.Access{ecs.Read(&g.hp)}},
		"what a handler writes": {func(f *frame, r ecs.Rows) {
			hp := g.hp.Slice(r)
			was := f.w.Guard(false)
			hp[0].Points++
			g.vel.Slice(r)[0].X++
			f.w.Guard(was)
		}, []ecs.Access{ecs.Read(&g.hp)}},
		"what it made": {func(f *frame, r ecs.Rows) {
			e := f.w.Spawn(&g.mover, 1)
			g.pos.Get(f.w, e).X, g.vel.Get(f.w, e).Y = 1, 2
			g.hp.Add(f.w, e, Health{3})
			g.hp.Add(f.w, r.Entity(0), Health{4})
			f.w.Destroy(e)
		}, []ecs.Access{ecs.Read(&g.pos), ecs.Create(&g.pos, &g.vel, &g.hp)}},
		"a singleton": {func(f *frame, r ecs.Rows) { *g.score.Get(f.w)++ }, []ecs.Access{ecs.Read(&g.pos), ecs.Write(&g.score)}},
	} {
		require.Empty(t, sneak(t, g, c.body, c.acc...), name)
	}
}

func TestMakingWhatWasNotDeclared(t *testing.T) {
	g := newGame(t)
	structural := func(does string) string {
		return does + " without declaring it: add Structural, or Create of what it makes"
	}
	for name, c := range map[string]struct {
		body func(f *frame, r ecs.Rows)
		acc  []ecs.Access
		want string
	}{
		"Spawn": {func(f *frame, r ecs.Rows) { f.w.Spawn(&g.mover, 1) },
			nil, `spawns prefab "mover" without declaring Position, Velocity: name it in Create`},
		"Spawn of more": {func(f *frame, r ecs.Rows) { f.w.Spawn(&g.mover, 1) },
			[]ecs.Access{ecs.Create(&g.pos)}, `spawns prefab "mover" without declaring Velocity: name it in Create`},
		"Spawn, Structural": {func(f *frame, r ecs.Rows) { ecs.Engine(f.w).SpawnIn(ecs.RangeLocal, &g.rock, 1) },
			[]ecs.Access{ecs.Structural()}, `spawns prefab "rock" without declaring Position: name it in Create`},
		"SpawnBatch": {func(f *frame, r ecs.Rows) { f.w.SpawnBatch(&g.rock, 1, make([]ecs.Entity, 2)) },
			nil, `spawns prefab "rock" without declaring Position: name it in Create`},
		"Place": {func(f *frame, r ecs.Rows) { _ = ecs.Engine(f.w).Place(ecs.MakeEntity(5000, 1), &g.rock, 1) },
			nil, `spawns prefab "rock" without declaring Position: name it in Create`},
		"a prefab without components": {func(f *frame, r ecs.Rows) { f.w.Spawn(&g.empty, 1) }, nil, structural("spawns an entity")},
		"Add": {func(f *frame, r ecs.Rows) { g.dead.Add(f.w, r.Entity(0), Dead{}) },
			[]ecs.Access{ecs.Structural()}, "adds Dead to 0.1 without declaring it: name it in Create"},
		"Add, only to be written": {func(f *frame, r ecs.Rows) { g.dead.Add(f.w, r.Entity(0), Dead{}) },
			[]ecs.Access{ecs.WriteOther(&g.dead)}, "adds Dead to 0.1 without declaring it: name it in Create"},
		"Add of what it removed": {func(f *frame, r ecs.Rows) {
			g.hp.Remove(f.w, r.Entity(0))
			g.hp.Add(f.w, r.Entity(0), Health{1})
		}, []ecs.Access{ecs.Write(&g.hp), ecs.Structural()}, "adds Health to 0.1 without declaring it: name it in Create"},
		"AddByID": {func(f *frame, r ecs.Rows) { ecs.Engine(f.w).AddByID(r.Entity(0), g.dead.ID(), nil) },
			nil, "adds Dead to 0.1 without declaring it: name it in Create"},
		"Remove":      {func(f *frame, r ecs.Rows) { g.hp.Remove(f.w, r.Entity(0)) }, nil, structural("removes a component")},
		"Destroy":     {func(f *frame, r ecs.Rows) { f.w.Destroy(r.Entity(0)) }, nil, structural("destroys an entity")},
		"DestroyAll":  {func(f *frame, r ecs.Rows) { ecs.Engine(f.w).ReleaseOwner(2) }, nil, structural("destroys an entity")},
		"Transfer":    {func(f *frame, r ecs.Rows) { _ = f.w.Transfer(r.Entity(0), 2) }, nil, structural("transfers an entity")},
		"SetParent":   {func(f *frame, r ecs.Rows) { _ = f.w.SetParent(r.Entity(0), r.Entity(1)) }, nil, structural("sets an entity's parent")},
		"a handler's": {func(f *frame, r ecs.Rows) { defer f.w.Guard(f.w.Guard(false)); f.w.Spawn(&g.person, 1) }, nil, ""},
		"declared": {func(f *frame, r ecs.Rows) {
			g.dead.Add(f.w, f.w.Spawn(&g.mover, 1), Dead{})
			f.w.Destroy(r.Entity(0))
		}, []ecs.Access{ecs.Create(&g.pos, &g.vel, &g.dead)}, ""},
		"gone, and declared": {func(f *frame, r ecs.Rows) {
			g.hp.Remove(f.w, r.Entity(0))
			f.w.Destroy(r.Entity(1))
			_ = f.w.SetParent(r.Entity(0), r.Entity(1))
		}, []ecs.Access{ecs.Structural()}, ""},
	} {
		want := c.want
		if want != "" {
			want = `ecs: system "sneak" ` + want
		}
		require.Equal(t, want, sneak(t, g, c.body, append(c.acc, ecs.With(&g.name))...), name)
	}
}

// hurts is a hook that writes what no system declares.
type hurts struct {
	g    *game
	whom ecs.Entity
}

func (h hurts) Before(f *frame, _ int) { h.g.hp.Get(f.w, h.whom).Points++ }
func (h hurts) After(f *frame, _ int)  { h.g.hp.Get(f.w, h.whom).Points++ }

// Changes that a hook makes are not the system's.
func TestHooksAreNotWatched(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("read", func(_ *frame, r ecs.Rows) { g.pos.Slice(r) }, ecs.Read(&g.pos))
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	e := w.Spawn(&g.person, 0)
	s.SetHook(hurts{g, e})
	require.NotPanics(t, func() { s.Execute(w, &frame{w: w}) })
	require.EqualValues(t, 102, g.hp.Get(w, e).Points)
}

// Padding is not compared, and any system may use Open components.
func TestPaddingAndOpenComponentsAreNotWatched(t *testing.T) {
	type padded struct {
		A uint8
		B uint32
	}
	types := ecs.NewTypes()
	var holes, free ecs.Component[padded]
	var prefab ecs.Prefab
	require.NoError(t, types.Register(&holes))
	require.NoError(t, types.Register(&free, ecs.Named("free"), ecs.Open()))
	require.NoError(t, types.RegisterPrefab(&prefab, "prefab", &holes, &free))
	s := ecs.NewSchedule[*frame](types)
	s.Add("read", func(f *frame, r ecs.Rows) {
		*(*byte)(unsafe.Add(unsafe.Pointer(&holes.Slice(r)[0]), 2)) = 7
		free.Slice(r)[0].B++
		f.w.Spawn(&prefab, 0)
	}, ecs.Read(&holes), ecs.Create(&holes), ecs.Stage("made"))
	s.Add("only read", func(_ *frame, r ecs.Rows) {
		*(*byte)(unsafe.Add(unsafe.Pointer(&holes.Slice(r)[0]), 3)) = 7
		free.Slice(r)[0].B++
	}, ecs.Read(&holes), ecs.Stage("read"))
	s.Stages("made", "read")
	require.NoError(t, s.Build())
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&prefab, 0)
	require.NotPanics(t, func() { s.Execute(w, &frame{w: w}) })
	require.EqualValues(t, 2, free.Get(w, e).B)
}
