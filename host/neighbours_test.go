package host

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// street is the result of a host's good matches in a window of time.
type street struct {
	expected    float64 // the number of ticks that each match should run
	ticks, lost map[string]uint64
	slips       map[string]uint64
	log         string
}

// badMatches are matches that fail in tick 30, each in another way.
func badMatches(how func(*atomic.Bool), free *atomic.Bool) map[string]func() {
	return map[string]func(){
		"bad hangs":  func() { how(free) },
		"bad panics": func() { panic("planted") },
		"bad exits":  runtime.Goexit,
		"bad slow":   func() { time.Sleep(50 * time.Millisecond) },
	}
}

// play runs 46 matches for some seconds, with four others that fail or are good. Its result counts from
// one second after the four fail.
func play(t *testing.T, bad map[string]func(), window time.Duration) (out street) {
	t.Helper()
	var log lockedBuffer
	var mu sync.Mutex
	servers := map[string]*server.Server{}
	h, err := New(Config{Transport: newDesk(), Workers: 2, Linger: -1, Stall: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		NewMatch: func(name string, end transport.Endpoint) (Match, error) {
			g := &game{}
			if fail := bad[name]; fail != nil {
				g.each = func(f *foretick.Frame) {
					if f.Tick >= 30 {
						fail()
					}
				}
			}
			srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: end})
			mu.Lock()
			defer mu.Unlock()
			servers[name] = srv
			return srv, err
		}})
	require.NoError(t, err)
	for i := range 46 {
		require.NoError(t, h.Allocate(fmt.Sprint("good ", i)))
	}
	for _, name := range []string{"bad hangs", "bad panics", "bad exits", "bad slow"} {
		require.NoError(t, h.Allocate(name))
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	look := func() map[string]stats.Counters {
		mu.Lock()
		defer mu.Unlock()
		all := map[string]stats.Counters{}
		for name, s := range servers {
			if strings.HasPrefix(name, "good") {
				all[name] = s.Stats()
			}
		}
		return all
	}
	time.Sleep(2 * time.Second)
	begun, before := time.Now(), look()
	time.Sleep(window)
	took, after := time.Since(begun), look()
	out = street{expected: took.Seconds() * 30, ticks: map[string]uint64{}, slips: map[string]uint64{}, lost: map[string]uint64{}}
	require.Len(t, before, 46)
	for name, a := range after {
		b := before[name]
		out.ticks[name], out.slips[name], out.lost[name] = a.Ticks-b.Ticks, a.Slips-b.Slips, a.TicksLost-b.TicksLost
	}
	stop()
	require.NoError(t, <-ran)
	out.log = log.String()
	return out
}

// A match that hangs, one that panics, one that ends its goroutine and a slow one cost the other 46
// matches of their host no tick, from one second after they fail. The log reports each in one line.
// Runs with and without the four alternate. One round of several must succeed, since other programs use
// the machine too.
func TestNeighboursLoseNothing(t *testing.T) {
	costtest.Ratio(t)
	costtest.Concurrent(t)
	costtest.Figures(t)
	window := time.Duration(costtest.Count(2, 10)) * time.Second
	for how, hang := range hangs {
		t.Run(how, func(t *testing.T) {
			worst := uint64(0)
			for round := range 5 {
				good := play(t, nil, window)
				var free atomic.Bool
				bad := play(t, badMatches(hang, &free), window)
				free.Store(true)
				ticks, lost, slips := 0., uint64(0), uint64(0)
				for name := range bad.ticks {
					off := func(s street) float64 { return float64(s.ticks[name]) - s.expected }
					ticks = max(ticks, off(good)-off(bad)) // a tick may fall on either side of a window's ends
					lost = max(lost, bad.lost[name]-min(good.lost[name], bad.lost[name]))
					slips = max(slips, bad.slips[name]-min(good.slips[name], bad.slips[name]))
				}
				t.Logf("%s, round %d: with four bad matches, the worst of 46 others computed %.1f ticks less of %.0f, lost %d more and slipped %d times more", how, round, ticks, bad.expected, lost, slips)
				for match, line := range map[string]string{"bad hangs": "a step of a match does not end", "bad panics": "a panic ended a match", "bad exits": "a panic ended a match", "bad slow": "a match is slow"} {
					about := 0
					for l := range strings.Lines(bad.log) {
						if strings.Contains(l, line) && strings.Contains(l, fmt.Sprintf("match=%q", match)) {
							about++
						}
					}
					require.Equal(t, 1, about, "%s\n%s", match, bad.log)
				}
				if worst = max(lost, slips); worst <= 1 {
					return
				}
			}
			require.LessOrEqual(t, worst, uint64(1), "ticks lost or slips")
		})
	}
}
