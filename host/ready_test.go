package host

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// A host is unready after five late seconds in a row, and ready again after thirty that are in time. A
// second is late if more than one in a hundred of its ticks is.
func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		behind  func(second int) int // how many of 1000 ticks are late in a second
		unready string               // the expected intervals of seconds
	}{
		"in time":              {func(int) int { return 10 }, ""},
		"four late seconds":    {func(s int) int { return 1000 * b2i(s%5 != 0) }, ""},
		"five late seconds":    {func(s int) int { return 11 * b2i(s < 5) }, "5-35"},
		"late for ever":        {func(int) int { return 11 }, "5-"},
		"late again and again": {func(s int) int { return 1000 * b2i(s < 5 || s%29 == 0) }, "5-"},
	} {
		t.Run(name, func(t *testing.T) {
			var l load
			got := ""
			l.judgeSlices(0, false)
			for s := range 120 {
				for i := range 1000 {
					late := time.Duration(0)
					if i < c.behind(s) {
						late = longestTick + 1
					}
					l.countTick(late, longestTick)
				}
				if l.judgeSlices(time.Duration(s+1)*time.Second, false) {
					got += fmt.Sprint(s + 1)
					if l.unready.Load() {
						got += "-"
					} else {
						got += " "
					}
				}
			}
			require.Equal(t, c.unready, strings.TrimSpace(got))
		})
	}
	var l load
	require.True(t, l.judgeSlices(0, true), "a stuck match takes readiness at once")
	for s := range 40 {
		l.judgeSlices(time.Duration(s)*time.Second, s < 5)
		require.Equal(t, s < 34, l.unready.Load(), s)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A host whose matches get 3.9 steps a second is live but not ready: it has no free place, and logs
// that in one line. It logs another one when it is ready again.
func TestOverloadedHost(t *testing.T) {
	w := newTown(t, Config{OnDemand: true, MaxPlayers: 100}, server.Config{})
	for i := range 6 {
		w.join(fmt.Sprint("m", i), "one")
	}
	w.run(5 * time.Second)
	free := func() [2]int { m, p := w.host.Free(); return [2]int{m, p} }
	require.True(t, w.host.Ready())
	require.Equal(t, [2]int{994, 94}, free())
	slow := func(d time.Duration) {
		for end := w.net.Now() + d; w.net.Now() < end; {
			w.net.Run(w.net.Now() + 256*time.Millisecond)
			w.host.Step(w.now())
		}
	}
	slow(3 * time.Second)
	require.True(t, w.host.Ready(), "for three seconds")
	slow(4 * time.Second)
	require.False(t, w.host.Ready())
	require.True(t, w.host.Live())
	require.Equal(t, [2]int{0, 0}, free())
	require.NotZero(t, w.host.Stats().Behind)
	require.True(t, w.host.Stats().Unready)
	require.Equal(t, 6, w.host.Stats().Matches)
	require.NoError(t, w.host.Allocate("asked"), "a match that was asked for is made")
	w.run(20 * time.Second)
	require.False(t, w.host.Ready())
	w.run(15 * time.Second)
	require.True(t, w.host.Ready())
	require.NotEqual(t, [2]int{0, 0}, free())
	require.Equal(t, 1, strings.Count(w.log.String(), "the host is not ready: it is overloaded"))
	require.Equal(t, 1, strings.Count(w.log.String(), "the host is ready again"))
}

// A host that was never in time is overloaded too. So is one that is late by less than the longest
// tick, but by more than its matches' tick.
func TestOverloadedByTheTick(t *testing.T) {
	for every, inTime := range map[time.Duration]time.Duration{256 * time.Millisecond: 0, 95 * time.Millisecond: time.Second} {
		w := newTown(t, Config{OnDemand: true}, server.Config{})
		w.join("m", "one")
		if w.run(inTime + 100*time.Millisecond); inTime == 0 {
			w.host.matches["m"].tick = longestTick // as if no step had been in time
		}
		for end := w.net.Now() + 8*time.Second; w.net.Now() < end; {
			w.net.Run(w.net.Now() + every)
			w.host.Step(w.now())
		}
		require.False(t, w.host.Ready(), every)
	}
}

// A match that is reported as stuck makes its host unready, but leaves it live while others run. Once
// the host has given the match up, only its place is lost.
func TestStuckMatchTakesReadiness(t *testing.T) {
	costtest.Concurrent(t)
	s := newStall(t, Config{Workers: 1, MaxMatches: 10}, "Step", hangs["blocks"])
	s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
	s.passes(hungAfter)
	s.waits("its worker is seen", func() bool { return s.host.Stats().Stalls == 1 })
	require.True(t, s.host.Ready())
	s.passes(5 * time.Second)
	s.waits("it is not ready", func() bool { return !s.host.Ready() })
	s.goOn("a", "b")
	require.True(t, s.host.Live())
	s.passes(25 * time.Second)
	s.waits("it is given up", func() bool { return len(s.host.Matches(nil)) == 2 })
	require.False(t, s.host.Ready())
	s.waits("it is ready", func() bool { s.passes(time.Second / 10); return s.host.Ready() })
	free, _ := s.host.Free()
	require.Equal(t, 7, free, "two run and one is lost")
	s.waits("it says so", func() bool { return strings.Contains(s.log.String(), "the host is ready again") })
	require.Equal(t, 1, strings.Count(s.log.String(), "the host is not ready: a match is stuck"))
	require.Equal(t, 1, strings.Count(s.log.String(), "the host is ready again"))
}

// A host is live while any worker finishes steps.
func TestLiveness(t *testing.T) {
	costtest.Concurrent(t)
	s := newStall(t, Config{Workers: 2}, "Step", hangs["blocks"])
	s.waits("it hangs", func() bool { return s.hung.Load() == 1 })
	for i := range 3 {
		s.desk.connects(transport.PeerID(10+i), fmt.Sprint("stuck", i))
	}
	s.waits("they hang", func() bool { return s.hung.Load() >= 2 && s.host.Stats().Matches == 6 })
	for s.hung.Load() < 4 {
		s.passes(hungAfter)
		time.Sleep(time.Millisecond)
	}
	s.passes(6 * time.Second)
	s.waits("all are told", func() bool { return s.host.Stats().Stuck == 4 })
	require.True(t, s.host.Live(), "two go on")
	for _, m := range []string{"a", "b"} {
		s.host.mu.Lock()
		p := s.host.matches[m].port
		s.host.mu.Unlock()
		_ = p.Close(0, "over")
	}
	s.waits("no step ends", func() bool { return !s.host.Live() })
	s.passes(time.Minute)
	s.waits("all are given up", func() bool { return s.host.Stats().Lost == 4 && s.host.Stats().Matches == 0 })
	require.True(t, s.host.Live(), "nothing is lost by waiting")
}

// If the endpoint's Flush hangs, no round ends, and the host is not live.
func TestLivenessOfEndpoint(t *testing.T) {
	costtest.Concurrent(t)
	s := newStall(t, Config{Workers: 1}, "", nil)
	s.goOn("a", "b", "stuck")
	require.True(t, s.host.Live())
	var free atomic.Bool
	s.desk.flush.Store(func() { blockedInGame(&free) })
	s.waits("no round ends", func() bool { s.passes(time.Second); return !s.host.Live() })
	free.Store(true)
	s.waits("rounds end", s.host.Live)
}
