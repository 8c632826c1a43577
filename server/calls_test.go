package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// lonely is a server without players, and the time of its newest step.
type lonely struct {
	*server.Server
	at    time.Time
	thing *ecs.Component[thing]
	e     ecs.Entity
}

func newLonely(tb testing.TB, cfg server.Config) *lonely {
	tb.Helper()
	p, c, prefab := ofThings("lonely")
	cfg.Protocol, cfg.Transport = p, sim.NewNetwork(1).Listen()
	srv, err := server.New(cfg)
	require.NoError(tb, err)
	l := &lonely{srv, simtest.Epoch, c, srv.Frame().Spawn(prefab, ecs.Nobody)}
	l.Step(l.at)
	return l
}

// tick computes one tick.
func (l *lonely) tick() {
	l.at = l.at.Add(34 * time.Millisecond)
	l.Step(l.at)
}

// A console of the game raises a value in a running match, while Run runs.
func ExampleServer_Do() {
	p, things, prefab := ofThings("console")
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	if err != nil {
		panic(err)
	}
	e := srv.Frame().Spawn(prefab, ecs.Nobody)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	err = srv.Do("console: set thing.N", func(f *foretick.ServerFrame) {
		done <- f.World.SetValue(e, "thing.N", 7)
	})
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- srv.Run(ctx) }()
	fmt.Println(<-done)
	stop()
	fmt.Println(<-ended)
	fmt.Println(things.Get(srv.World(), e).N)
	// Output:
	// <nil>
	// <nil>
	// 7
}

// TestDo: functions run once, in order, in the tick that ends next. Those queued in such a function
// run in the tick after it.
func TestDo(t *testing.T) {
	var names []string
	s := newLonely(t, server.Config{})
	probe.OfServer(s.Server).OnCall(func(name string) { names = append(names, name) })
	var ran []string
	note := func(what string) func(*foretick.ServerFrame) {
		return func(f *foretick.ServerFrame) { ran = append(ran, fmt.Sprintf("%s in %d", what, f.Tick)) }
	}
	require.NoError(t, s.Do("a", note("a")))
	require.NoError(t, s.Do("b", func(f *foretick.ServerFrame) {
		note("b")(f)
		require.NoError(t, s.Do("c", note("c")))
	}))
	require.Empty(t, ran)
	s.tick()
	require.Equal(t, []string{"a in 1", "b in 1"}, ran)
	s.tick()
	s.tick()
	require.Equal(t, []string{"a in 1", "b in 1", "c in 2"}, ran)
	require.Equal(t, []string{"a", "b", "c"}, names)
}

// TestDoIsBounded: a queue of functions that do not run does not grow, and the queued functions run
// later.
func TestDoIsBounded(t *testing.T) {
	s := newLonely(t, server.Config{})
	n := 0
	count := func(*foretick.ServerFrame) { n++ }
	for range 256 {
		require.NoError(t, s.Do("count", count))
	}
	require.ErrorContains(t, s.Do("count", count), "256 functions wait")
	s.tick()
	require.Equal(t, 256, n)
	require.NoError(t, s.Do("count", count))
	require.ErrorContains(t, s.Do("", count), "use 1 to 128")
	require.ErrorContains(t, s.Do(strings.Repeat("x", 129), count), "use 1 to 128")
	require.ErrorContains(t, s.Do("none", nil), `Server.Do("none") has no function`)
	s.tick()
	require.Equal(t, 257, n)
}

// TestDoFromManyGoroutines: while the server runs, other goroutines queue functions that change fields
// by path. The race detector sees no conflict, and every function ran.
func TestDoFromManyGoroutines(t *testing.T) {
	s := newLonely(t, server.Config{})
	var group sync.WaitGroup
	refused := make([]int, 4)
	for g := range refused {
		group.Go(func() {
			for range 100 {
				for s.Do("add", func(f *foretick.ServerFrame) {
					v, err := f.World.Value(s.e, "thing.N")
					require.NoError(t, err)
					require.NoError(t, f.World.SetValue(s.e, "thing.N", v.(uint32)+1))
				}) != nil {
					refused[g]++
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { group.Wait(); close(ended) }()
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		s.tick()
	}
	require.EqualValues(t, 400, s.thing.Get(s.World(), s.e).N)
}

// TestDoContainsPanics: a panic of a tool's function is reported and counted. It ends neither the match
// nor the functions after it.
func TestDoContainsPanics(t *testing.T) {
	var told []server.Panic
	s := newLonely(t, server.Config{OnPanic: func(p server.Panic) { told = append(told, p) }})
	ran := false
	require.NoError(t, s.Do("tool", func(*foretick.ServerFrame) { panic(errors.New("a tool's fault")) }))
	require.NoError(t, s.Do("next", func(*foretick.ServerFrame) { ran = true }))
	s.tick()
	s.tick()
	require.True(t, ran)
	require.Len(t, told, 1)
	require.Equal(t, "call tool", told[0].Handler)
	require.Equal(t, ecs.Nobody, told[0].Player)
	require.EqualValues(t, 1, s.Stats().Panics)
}

// TestDoAfterTheEnd: a caller gets an error from a server that computes no more ticks.
func TestDoAfterTheEnd(t *testing.T) {
	nothing := func(*foretick.ServerFrame) { t.Error("it ran") }
	s := newLonely(t, server.Config{})
	require.NoError(t, s.Do("waits", nothing))
	require.NoError(t, s.Close(""))
	s.tick()
	require.ErrorIs(t, s.Do("late", nothing), transport.ErrClosed)

	s = newLonely(t, server.Config{})
	require.NoError(t, s.Do("closes", func(*foretick.ServerFrame) { require.NoError(t, s.Close("")) }))
	s.tick()
	require.ErrorIs(t, s.Do("late", nothing), transport.ErrClosed)
}

// TestDoAllocatesNothing: a tick with such functions allocates only as much as the functions do.
func TestDoAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	s := newLonely(t, server.Config{})
	set := func(f *foretick.ServerFrame) { s.thing.Get(f.World, s.e).N++ }
	per := testing.AllocsPerRun(100, func() {
		for range 10 {
			_ = s.Do("add", set)
		}
		s.tick()
	})
	require.LessOrEqual(t, per, 10.0, "each call's name, and nothing of the tick")
}
