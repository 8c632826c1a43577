package ecs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

type frame struct {
	w   *ecs.World
	log []string
}

func order(s *ecs.Schedule[*frame]) string {
	var names []string
	for _, i := range s.Systems() {
		names = append(names, i.Name)
	}
	return strings.Join(names, " ")
}

func TestScheduleOrdersCreatorsWritersReaders(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	nop := func(*frame, ecs.Rows) {}
	s.Stages("early", "late")
	s.Add("last", nop, ecs.Stage("late"), ecs.Read(&g.pos))
	s.Add("read", nop, ecs.Read(&g.pos))
	s.Add("other", nop, ecs.Read(&g.hp))
	s.Add("write", nop, ecs.Write(&g.pos))
	s.Add("create", nop, ecs.Create(&g.pos), ecs.Tags("server"))
	require.NoError(t, s.Build())
	require.Equal(t, "other create write read last", order(s))
}

func TestScheduleNamesACycleAndTakesAWayOut(t *testing.T) {
	g := newGame(t)
	nop := func(*frame, ecs.Rows) {}
	build := func(acc ...ecs.Access) (*ecs.Schedule[*frame], error) {
		s := ecs.NewSchedule[*frame](g.types)
		s.Add("a", nop, ecs.Write(&g.pos), ecs.Read(&g.vel))
		s.Add("b", nop, append(acc, ecs.Write(&g.vel), ecs.Read(&g.pos))...)
		return s, s.Build()
	}
	_, err := build()
	require.ErrorContains(t, err, "cycle: ")
	require.ErrorContains(t, err, "a →(Position) b →(Velocity) a")
	s, err := build(ecs.Before("a"))
	require.NoError(t, err)
	require.Equal(t, "b a", order(s))
	_, err = build(ecs.Before("zzz"))
	require.ErrorContains(t, err, "zzz")
}

func TestExecuteRunsWhatTheTagsAllow(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	log := func(name string) func(*frame, ecs.Rows) {
		return func(f *frame, r ecs.Rows) { f.log = append(f.log, name+":"+string(rune('0'+r.Len()))) }
	}
	s.Add("all", log("all"), ecs.Read(&g.pos))
	s.Add("server", log("server"), ecs.Read(&g.pos), ecs.Tags("server"))
	s.Add("once", log("once"), ecs.Once())
	s.Add("draw", log("draw"), ecs.Render(), ecs.Read(&g.pos))
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{Tags: []string{"client"}})
	w.Spawn(&g.rock, 1)
	w.Spawn(&g.rock, 1)
	w.Spawn(&g.rock, 2)
	f := &frame{w: w}
	s.Execute(w, f)
	require.Equal(t, []string{"all:2", "all:1", "once:0"}, f.log)
	f.log = nil
	s.ExecutePlayer(w, f, 2)
	require.Equal(t, []string{"all:1", "once:0"}, f.log)
	f.log = nil
	s.ExecuteRender(w, f)
	require.Equal(t, []string{"draw:2", "draw:1"}, f.log)
	srv := ecs.NewWorld(g.types, ecs.WorldConfig{Tags: []string{"server"}})
	srv.Spawn(&g.rock, 1)
	f.log = nil
	s.Execute(srv, f)
	require.Equal(t, []string{"all:1", "server:1", "once:0"}, f.log)
}

type recorder struct{ log []int }

func (r *recorder) Before(_ *frame, i int) { r.log = append(r.log, i) }
func (r *recorder) After(_ *frame, i int)  { r.log = append(r.log, -i) }

func TestHookStandsAroundEachSystem(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	nop := func(*frame, ecs.Rows) {}
	s.Add("a", nop, ecs.Once())
	s.Add("skipped", nop, ecs.Tags("other"), ecs.Once())
	s.Add("b", nop, ecs.Read(&g.pos))
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	h := &recorder{}
	s.SetHook(h)
	s.Execute(w, &frame{w: w})
	s.ExecutePlayer(w, &frame{w: w}, 1)
	require.Equal(t, []int{0, 0, 2, -2, 0, 0, 2, -2}, h.log)
	s.SetHook(nil)
	s.Execute(w, &frame{w: w})
	require.Len(t, h.log, 8)
}

func TestScheduleReportsEveryErrorAtOnce(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	nop := func(*frame, ecs.Rows) {}
	var loose ecs.Component[padded]
	s.Add("a", nop, ecs.Read(&loose))
	s.Add("a", nop, ecs.Stage("nowhere"))
	s.Add("c", nil)
	s.Add("", nop)
	s.Add("e", nop, ecs.With(&g.pos), ecs.Without(&g.pos))
	s.Add("f", nop, ecs.With(&g.score))
	err := s.Build()
	for _, part := range []string{
		`"a": component ecs_test.padded is not registered`, `"a": the name is taken`, `no stage "nowhere"`,
		`"c": no body`, "needs a name", "both required and excluded", "every world has it",
	} {
		require.ErrorContains(t, err, part)
	}
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	require.Panics(t, func() { s.Execute(w, nil) })
}

func TestSchedulePrintsItself(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	nop := func(*frame, ecs.Rows) {}
	s.Stages("sim", "end")
	s.Add("draw", nop, ecs.Render(), ecs.Read(&g.pos), ecs.Stage("end"), ecs.Tags("client"))
	s.Add("read", nop, ecs.Read(&g.pos), ecs.WriteOther(&g.hp), ecs.Without(&g.dead))
	s.Add("move", nop, ecs.Write(&g.pos), ecs.Read(&g.vel, &g.score))
	s.Add("make", nop, ecs.Once(), ecs.Create(&g.pos), ecs.ReadOther(&g.vel), ecs.Write(&g.score))
	require.NoError(t, s.Build())
	require.Equal(t, `stage sim
  0 make create(Position) readother(Velocity) writesingle(score) once structural
  1 move read(Velocity) write(Position) readsingle(score)
  2 read read(Position) writeother(Health) without(Dead)
  make before move (Position, score)
  make before read (Position)
  move before read (Position)
stage end
  3 draw read(Position) tags(client) render
`, s.String())
	dot := s.DOT()
	require.Contains(t, dot, `"make" -> "move" [label="Position, score"];`)
	require.Contains(t, dot, `"move" -> "read" [label="Position"];`)
	require.NotContains(t, dot, `"read" -> "move"`)
	info := s.Systems()[1]
	require.Equal(t, []ecs.ID{g.pos.ID()}, info.Writes)
	require.Equal(t, []ecs.ID{g.vel.ID()}, info.Reads)
	require.Equal(t, []ecs.ID{g.score.ID()}, info.SingleReads)
	require.True(t, info.With.Has(g.pos.ID()))
}

func TestRecoverMakesTheWorldUsableAgain(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	s.Add("boom", func(f *frame, _ ecs.Rows) {
		f.w.Spawn(&g.rock, 0)
		panic("boom")
	}, ecs.Once(), ecs.Create(&g.pos))
	require.NoError(t, s.Build())
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	require.Panics(t, func() { s.Execute(w, &frame{w: w}) })
	require.True(t, ecs.Engine(w).Locked())
	ecs.Engine(w).Recover()
	require.False(t, ecs.Engine(w).Locked())
	require.Equal(t, 1, ecs.NewQuery(g.types, ecs.With(&g.pos)).Count(w))
}

func TestSchedulePrintsWhatOnlyAddOrders(t *testing.T) {
	g := newGame(t)
	nop := func(*frame, ecs.Rows) {}
	build := func(inOrder bool, access ...ecs.Access) *ecs.Schedule[*frame] {
		s := ecs.NewSchedule[*frame](g.types)
		if inOrder {
			s.InOrder()
		}
		s.Add("push", nop, ecs.Write(&g.pos), ecs.Write(&g.score))
		s.Add("pull", nop, append(access, ecs.WriteOther(&g.pos))...)
		s.Add("draw", nop, ecs.Read(&g.pos), ecs.Render())
		require.NoError(t, s.Build())
		return s
	}
	s := build(false)
	require.Contains(t, s.String(), "\n  push and pull both write Position: they run in the order of Add\n")
	require.Contains(t, s.DOT(), `"push" -> "pull" [label="Position", style=dashed, dir=none];`)
	require.NotContains(t, s.String(), "and draw", "it runs at other times")
	s = build(false, ecs.Before("push"))
	require.NotContains(t, s.String(), "both write", "it is said which comes first")
	require.Contains(t, s.String(), "\n  pull before push (explicit)\n")
	s = build(true, ecs.Without(&g.pos), ecs.Read(&g.hp))
	require.Contains(t, s.String(), "both write Position")

	s = ecs.NewSchedule[*frame](g.types)
	s.InOrder()
	s.Add("look", nop, ecs.Once(), ecs.Read(&g.score))
	s.Add("count", nop, ecs.Once(), ecs.Write(&g.score))
	require.NoError(t, s.Build())
	require.Contains(t, s.String(), "look and count touch score, and one writes it: they run in the order of Add")
}
