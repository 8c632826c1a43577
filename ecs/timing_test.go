package ecs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

func TestTimingCountsEachSystem(t *testing.T) {
	g := newGame(t)
	s := ecs.NewSchedule[*frame](g.types)
	var at time.Duration
	now := func() time.Duration { return at }
	s.Add("even", func(*frame, ecs.Rows) { at += 2 }, ecs.Read(&g.pos))
	s.Add("skipped", func(*frame, ecs.Rows) { at += 100 }, ecs.Read(&g.pos), ecs.Tags("other"))
	grow := time.Duration(0)
	s.Add("growing", func(*frame, ecs.Rows) { grow++; at += grow }, ecs.Once())
	require.Panics(t, func() { ecs.NewTiming(s, now) }, "not built")
	require.NoError(t, s.Build())
	require.Panics(t, func() { ecs.NewTiming(s, nil) })
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.Spawn(&g.rock, 1)
	w.Spawn(&g.rock, 2)
	inner := &recorder{}
	timing := ecs.NewTiming(s, now)
	timing.Next = inner
	s.Execute(w, &frame{w: w}) // not set: not counted
	s.SetHook(timing)
	f := &frame{w: w}
	s.Execute(w, f)
	s.ExecutePlayer(w, f, 1)
	s.ExecuteParts(w, f, 2)
	got := timing.Systems()
	require.Equal(t, ecs.SystemTiming{Count: 3, Total: 4 + 2 + 2, Max: 4}, got[0])
	require.Equal(t, ecs.SystemTiming{}, got[1])
	require.Equal(t, ecs.SystemTiming{Count: 3, Total: 2 + 3 + 4, Max: 4}, got[2])
	require.Equal(t, time.Duration(3), got[2].Mean())
	require.Zero(t, got[1].Mean())
	require.Len(t, inner.log, 3*2*2)
	require.Zero(t, testing.AllocsPerRun(10, func() { timing.Before(f, 0); timing.After(f, 0) }))
	timing.Reset()
	require.Zero(t, timing.Systems()[0])
}
