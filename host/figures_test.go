package host

import (
	"bytes"
	"context"
	"log/slog"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
)

// kindOf returns a match's kind, which is part of its name.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "-")
	return kind
}

// TestFiguresBySum: a host's figures are the sums of its servers' by kind, and include matches that
// have ended.
func TestFiguresBySum(t *testing.T) {
	var clock atomic.Int64
	w := newTown(t, Config{OnDemand: true, Kind: kindOf}, server.Config{MaxClients: 2, Clock: func() time.Duration {
		return time.Duration(clock.Add(int64(time.Millisecond))) // each reading takes a millisecond
	}})
	var sum stats.Host
	w.host.Figures(&sum)
	require.Empty(t, sum.Kinds)
	for _, m := range []string{"duel-1", "duel-2", "race-1"} {
		for _, who := range []string{"one", "two", "three"} { // one too many
			w.join(m, who)
		}
	}
	w.run(3 * time.Second)
	check := func() {
		t.Helper()
		w.host.Figures(&sum)
		require.Len(t, sum.Kinds, 2)
		total := sum.Total()
		var ticks, in, out uint64
		players := 0
		for _, srv := range w.servers {
			st := srv.Stats()
			ticks, in, out = ticks+st.Ticks, in+st.BytesIn, out+st.BytesOut
			players += len(srv.Players(nil))
		}
		require.Equal(t, ticks, total.Ticks)
		require.Equal(t, players, total.Players+total.Held)
		require.LessOrEqual(t, total.BytesIn, in)
		require.Greater(t, 20*total.BytesIn, 19*in, "all but those of the newest tick")
		require.Greater(t, 20*total.BytesOut, 19*out)
		require.EqualValues(t, total.Ticks, total.Lateness.Count())
		require.InDelta(t, total.Ticks, total.TickTime.Count(), 3, "all but the newest")
	}
	check()
	require.Equal(t, "duel", sum.Kinds[0].Name)
	require.Equal(t, 2, sum.Kinds[0].Matches)
	require.EqualValues(t, 1, sum.Kinds[1].Begun)
	require.Equal(t, 4, sum.Kinds[0].Sum.Players)
	require.EqualValues(t, 2, sum.Kinds[0].Sum.Refusals.Of(stats.RefusedFull))
	// Two systems read the clock twice each, and so does the tick.
	require.InDelta(t, float64(5*time.Millisecond), float64(sum.Kinds[0].Sum.TickTime.Quantile(0.5)), float64(2*time.Millisecond))
	require.Equal(t, "move", sum.Kinds[0].Sum.Systems[0].Name)
	require.Positive(t, sum.Kinds[0].Sum.Systems[0].Total)

	before := sum.Kinds[0].Sum.Ticks
	require.NoError(t, w.servers["duel-1"].Close("over"))
	w.run(100 * time.Millisecond)
	check()
	require.Equal(t, 1, sum.Kinds[0].Matches)
	require.Equal(t, 2, sum.Kinds[0].Sum.Players, "of the match that runs")
	require.Greater(t, sum.Kinds[0].Sum.Ticks, before)
	var names []string
	w.host.EachMatch(func(name, kind string, one *stats.Server) bool {
		names = append(names, name+" "+kind)
		require.Equal(t, 2, one.Players)
		return true
	})
	require.Equal(t, []string{"duel-2 duel", "race-1 race"}, names)
	require.NoError(t, w.host.Close(""))
	w.host.Figures(&sum)
	require.Zero(t, sum.Matches)
	require.Zero(t, sum.Total().Players)
	require.Equal(t, 3, int(sum.Kinds[0].Begun+sum.Kinds[1].Begun))
}

// TestKindsAreBounded: the number of kinds is bounded, since names of matches may come from outside.
func TestKindsAreBounded(t *testing.T) {
	w := newTown(t, Config{Kind: func(name string) string { return name }}, server.Config{})
	for i := range 2 * mostKinds {
		require.NoError(t, w.host.Allocate(strings.Repeat("x", i+1)))
	}
	var sum stats.Host
	w.host.Figures(&sum)
	require.Equal(t, 2*mostKinds, sum.Matches)
	require.Len(t, sum.Kinds, mostKinds+1)
	require.EqualValues(t, mostKinds, sum.Kinds[0].Begun)
	require.Equal(t, otherKinds, sum.Kinds[0].Name)
}

// TestReaderStopsNoTick: a reader that stays forever in the middle of a host's and of a server's
// figures delays no tick.
func TestReaderStopsNoTick(t *testing.T) {
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	w.join("a", "one")
	w.join("b", "one")
	w.run(time.Second)
	inside, end := make(chan struct{}), make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		w.host.EachMatch(func(string, string, *stats.Server) bool {
			close(inside)
			<-end // it never returns while the matches run
			return false
		})
	})
	<-inside
	page := w.host.roll.Hold()
	stop := make(chan struct{})
	for range 2 { // two more, which read again and again
		readers.Go(func() {
			var sum stats.Host
			var one stats.Server
			for ticks := uint64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				w.host.Figures(&sum)
				now := sum.Total()
				if now.Ticks < ticks || now.Lateness.Count() != now.Ticks {
					t.Errorf("%d ticks after %d, lateness of %d", now.Ticks, ticks, now.Lateness.Count())
					return
				}
				ticks = now.Ticks
				w.host.EachMatch(func(_, _ string, m *stats.Server) bool { one.Copy(m); return true })
				if st := w.host.Stats(); st.Made-st.Ended > 3 || st.Steps == 0 {
					t.Error(st)
				}
			}
		})
	}
	a, b := w.servers["a"].Tick(), w.servers["b"].Tick()
	w.join("c", "one")
	w.run(10 * time.Second)
	require.InDelta(t, 300, float64(w.servers["a"].Tick()-a), 1)
	require.InDelta(t, 300, float64(w.servers["b"].Tick()-b), 1)
	require.Zero(t, w.servers["a"].Stats().Slips)
	require.NoError(t, w.servers["a"].Close("over"))
	w.run(time.Second)
	require.Equal(t, []string{"b", "c"}, w.host.Matches(nil))
	close(stop)
	close(end)
	page.Release()
	readers.Wait()
	require.NoError(t, w.host.Close(""))
}

// profile returns the profile of all goroutines, with their labels.
func profile(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
	return b.String()
}

// TestMatchesAreLabelled: the labels in a profile differ by match and kind.
func TestMatchesAreLabelled(t *testing.T) {
	w := newTown(t, Config{Kind: kindOf}, server.Config{})
	seen := ""
	w.games["duel-7"] = &game{each: func(f *foretick.Frame) { seen = profile(t) }}
	require.NoError(t, w.host.Allocate("duel-7"))
	w.run(200 * time.Millisecond)
	require.Contains(t, seen, `"kind":"duel"`)
	require.Contains(t, seen, `"match":"duel-7"`)
	require.NotContains(t, profile(t), "duel-7")
}

// unlocked is a log handler that calls the host, as a slow log may.
type unlocked struct {
	slog.Handler
	of   *Host
	held atomic.Int32
}

func (u *unlocked) Handle(ctx context.Context, r slog.Record) error {
	if u.of != nil {
		if !u.of.mu.TryLock() {
			u.held.Add(1)
		} else {
			u.of.mu.Unlock()
		}
	}
	return u.Handler.Handle(ctx, r)
}

// TestLogsHoldNoLock: the host writes no log line while it holds a lock, so a slow log does not stop
// it.
func TestLogsHoldNoLock(t *testing.T) {
	var text bytes.Buffer
	log := &unlocked{Handler: slog.NewTextHandler(&text, nil)}
	net := sim.NewNetwork(3)
	end := &named{net.Listen(), map[string]string{}}
	var h *Host
	var err error
	h, err = New(Config{Transport: end, OnDemand: true, Logger: slog.New(log), Kind: func(name string) string { return h.Matches([]string{name})[0] }, // it may call the host
		NewMatch: func(_ string, e transport.Endpoint) (Match, error) {
			return server.New(server.Config{Protocol: new(game).protocol(), Transport: e})
		}})
	require.NoError(t, err)
	log.of = h
	require.NoError(t, h.Allocate("asked"))
	light, err := bots.New(new(game).protocol(), func(*Move, int, uint32) {})
	require.NoError(t, err)
	dialled := net.Dial(end.Endpoint, sim.Link{}, sim.Link{})
	end.names[sim.Addr(dialled.ID())] = string(ticket.JoinIdentity("wanted", []byte("one")))
	b, err := light.Join(0, dialled)
	require.NoError(t, err)
	for range 100 {
		net.Run(net.Now() + 10*time.Millisecond)
		h.Step(time.Unix(0, 0).Add(net.Now()))
		_ = b.Step(time.Unix(0, 0).Add(net.Now()))
	}
	require.True(t, b.Playing())
	require.NoError(t, h.Close(""))
	require.Zero(t, log.held.Load(), "lines logged under the lock")
	for _, line := range []string{`"match begins" match=asked`, `"match begins" match=wanted`, `"match ended" match=wanted`} {
		require.Contains(t, text.String(), line)
	}
}

// TestLogsNamePeers: the host logs which peers it refused, once a minute for each reason.
func TestLogsNamePeers(t *testing.T) {
	w := newTown(t, Config{}, server.Config{})
	for range 5 {
		w.join("none", "lost\nsoul")
		w.run(300 * time.Millisecond)
	}
	log := w.log.String()
	require.Equal(t, 1, strings.Count(log, `msg="refused: no such match" match=none`), log)
	require.Regexp(t, `address=\S+ identity="lost\\nsoul" reason="there is no such match" skipped=0`, log)
	w.run(logEvery)
	w.join("none", "again")
	w.run(300 * time.Millisecond)
	require.Contains(t, w.log.String(), "identity=again reason=\"there is no such match\" skipped=4")
	require.EqualValues(t, 6, w.host.Stats().Refused)
}
