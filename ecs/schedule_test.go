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
