package shottest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// shifts are changes of an honest player's link in mid-play, from a round trip of
// 100 ms with 10 ms of jitter in each direction.
var shifts = []struct {
	name   string
	rtt    time.Duration // increase of the round trip, half of it in each direction
	jitter time.Duration // new jitter in each direction
	loss   float64
	harms  bool // shots miss, unless the server grants growth
}{
	{"nothing", 0, 10 * time.Millisecond, 0, false},
	{"RTT 50 ms less", -50 * time.Millisecond, 10 * time.Millisecond, 0, false},
	{"no jitter any more", 0, 0, 0, false},
	{"RTT 25 ms more", 25 * time.Millisecond, 10 * time.Millisecond, 0, true},
	{"RTT 50 ms more", 50 * time.Millisecond, 10 * time.Millisecond, 0, true},
	{"RTT 100 ms more", 100 * time.Millisecond, 10 * time.Millisecond, 0, true},
	{"jitter 30 ms", 0, 30 * time.Millisecond, 0, true},
	{"jitter 50 ms", 0, 50 * time.Millisecond, 0, true},
	{"loss 5 %", 0, 10 * time.Millisecond, 0.05, true},
	{"jitter 30 ms, loss 5 %", 0, 30 * time.Millisecond, 0.05, true},
}

const (
	shiftAt   = 12 * time.Second
	shiftSoon = time.Second      // time after the change from which on hits must be confirmed
	shiftPart = 30 * time.Second // counted time after the change, and after the server has remeasured
	shiftWait = 9 * time.Second  // time for new measurements to settle
)

// ways are the directions in which a link changes.
var ways = []struct {
	name     string
	up, down bool
}{{"both", true, true}, {"up", true, false}, {"down", false, true}}

// shifted plays a shooter whose link changes. It returns the results of its shots from this time
// after the change on, and of those after the server has remeasured, if remeasure is set.
func shifted(t *testing.T, rate int, growth time.Duration, row, way int, from time.Duration, remeasure bool) (then, remeasured cell, claims lagcomp.JudgeStats) {
	t.Helper()
	m, err := newRange(37, rate, server.Config{RewindGrowth: growth})
	require.NoError(t, err)
	base := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	again := shiftAt + from + shiftPart
	end := again
	if remeasure {
		end += shiftWait + shiftPart
	}
	s, err := m.seat(base, base, 7*time.Second, end)
	require.NoError(t, err)
	m.Net.At(shiftAt, func() {
		extra := shifts[row].rtt / 2
		if ways[way].up != ways[way].down {
			extra = max(shifts[row].rtt, -base.Latency)
		}
		to := sim.Link{Latency: base.Latency + extra, Jitter: shifts[row].jitter, Loss: shifts[row].loss}
		up, down := base, base
		if ways[way].up {
			up = to
		}
		if ways[way].down {
			down = to
		}
		m.Link(s.client, up, down)
	})
	if remeasure {
		m.Net.At(again, func() { require.True(t, m.server.RemeasureLatency(m.server.Player(s.client.View().Player))) })
	}
	m.Net.At(again, func() {
		st, _ := m.server.PlayerStats(m.server.Player(s.client.View().Player))
		claims = st.Claims
	})
	m.Run(end + time.Second)
	during := func(from, to time.Duration) (c cell) {
		seen := map[foretick.Tick]seenShot{}
		for tick, saw := range s.seen {
			if at := time.Duration(tick) * time.Second / time.Duration(rate); at >= from && at < to {
				seen[tick] = saw
			}
		}
		c.join(m, &shooter{seen: seen, target: s.target}, m.judged[s.client.View().Player])
		return c
	}
	return during(shiftAt+from, again), during(again+shiftWait, end), claims
}

// An honest player whose network gets slower during the match continues to hit the targets on
// its screen, from one second later on, whichever direction became slower.
func TestHonestPathShifts(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for i, row := range shifts {
			for w, way := range ways {
				if small && (rate != 30 || i > 1) {
					continue
				}
				name := fmt.Sprintf("%d Hz, %s, %s", rate, row.name, way.name)
				then, _, _ := shifted(t, rate, 0, i, w, shiftSoon, false)
				share := percent(then.confirmed, then.onScreen)
				t.Logf("| %s | %s | %d | %.1f %% |", row.name, way.name, rate, share)
				require.Greater(t, then.onScreen, 50, name)
				require.GreaterOrEqual(t, share, 97.0, name)
				require.LessOrEqual(t, percent(then.unseen, then.missed), 4.0, name)
				require.Zero(t, then.wideHit, name)
			}
		}
	}
}

// With RewindGrowth off, an honest player whose link becomes slower misses: each shot is clamped
// and counted. Its shots hit again once the server has remeasured.
func TestHonestPathWithoutGrowth(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for i, row := range shifts {
			if small && (rate != 30 || i > 1) {
				continue
			}
			name := fmt.Sprintf("%d Hz, %s", rate, row.name)
			then, remeasured, claims := shifted(t, rate, -1, i, 0, shiftWait, true)
			share := func(c cell) float64 { return percent(c.confirmed, c.onScreen) }
			t.Logf("| %s | %d | %.1f %% | %.1f %% |", row.name, rate, share(then), share(remeasured))
			require.Greater(t, then.onScreen, 50, name)
			require.GreaterOrEqual(t, share(remeasured), 98.0, name)
			switch {
			case !row.harms:
				require.GreaterOrEqual(t, share(then), 95.0, name)
			case row.rtt > 50*time.Millisecond:
				require.Greater(t, percent(then.clamped, then.shots), 95.0, "%s: what is not granted is counted", name)
				require.Greater(t, claims.Raised, uint64(100), name)
			}
		}
	}
}

// A liar gains the rewind that a server grants a slower network. It gains no more than that, no
// faster than 200 ms a second, and no more by faking both a round trip and a drawing delay, or
// one after the other. Two seconds after it stops it gains nothing any more.
func TestAbuseGrowth(t *testing.T) {
	costtest.Figures(t)
	const rate, early, stop, back = 30, lieFrom + time.Second/4, 20 * time.Second, 22 * time.Second
	type deceit struct {
		held time.Duration
		turn bool // fakes a round trip and a drawing delay in turn
	}
	on := func(now time.Duration) bool { return now >= lieFrom && (now < stop || now >= 30*time.Second) }
	for _, row := range []struct {
		growth  time.Duration
		granted float64 // ticks of rewind that the server grants
	}{{0, 4.5}, {100 * time.Millisecond, 3}, {-1, 0}} {
		most := func(lie deceit, lies bool) (first, all, stopped float64) {
			m, err := newRange(41, rate, server.Config{RewindGrowth: row.growth})
			require.NoError(t, err)
			l := &liar{now: m.Net.Now, fields: fieldsOf[pull]()}
			if lies {
				half := func(now time.Duration) bool { return now/(5*time.Second)%2 == 0 }
				l.claim = func(now time.Duration, c *netcode.Command) {
					if on(now) && !(lie.turn && half(now)) {
						c.Render -= 15
					}
				}
				l.hold = func(now time.Duration) time.Duration {
					if !on(now) || lie.turn && !half(now) {
						return 0
					}
					return lie.held
				}
			}
			s, err := m.seatAs(simtest.Seat{Up: duelLink, Down: duelLink, Wrap: func(e transport.Endpoint) transport.Endpoint {
				l.Endpoint = e
				return l
			}}, fightFrom, duelEnd)
			require.NoError(t, err)
			m.Run(duelEnd)
			for tick, j := range m.judged[s.client.View().Player] {
				at := time.Duration(tick) * time.Second / rate
				all = max(all, j.rewind)
				if at < early {
					first = max(first, j.rewind)
				}
				if at >= back && at < 30*time.Second {
					stopped = max(stopped, j.rewind)
				}
			}
			return first, all, stopped
		}
		_, honest, _ := most(deceit{}, false)
		for _, lie := range []deceit{{0, false}, {60 * time.Millisecond, false}, {300 * time.Millisecond, false}, {300 * time.Millisecond, true}} {
			first, all, stopped := most(lie, true)
			t.Logf("growth %v, held back %v, in turn %v: honest %.2f, liar %.2f at first, %.2f at most, %.2f once it stopped",
				row.growth, lie.held, lie.turn, honest, first, all, stopped)
			require.LessOrEqual(t, first, honest+1+min(0.25*0.2*rate, row.granted))
			require.LessOrEqual(t, all, honest+1+row.granted)
			require.LessOrEqual(t, stopped, honest+1)
			if row.granted > 0 {
				require.Greater(t, all, honest+1, "it was granted")
			}
		}
	}
}
