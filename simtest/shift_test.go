package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// shifts are what becomes of an honest player's path in mid-play, of a round trip of
// 100 ms with 10 ms of jitter on each way.
var shifts = []struct {
	name   string
	rtt    time.Duration // more of it, half on each way
	jitter time.Duration // on each way
	loss   float64
	harms  bool // its shots, unless the server allows for it
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
	shiftPart = 30 * time.Second // what is counted after it, and after the server resettled
	shiftWait = 9 * time.Second  // for what rises to have risen
)

// shifted plays a shooter whose path shifts, and answers what became of its shots
// with the new path, and once the server has resettled.
func shifted(t *testing.T, rate int, rise time.Duration, row int) (then, resettled cell, claims lagcomp.JudgeStats) {
	t.Helper()
	m, err := newRange(37, rate, foretick.ServerConfig{RewindRise: rise})
	require.NoError(t, err)
	base := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	again := shiftAt + shiftWait + shiftPart
	end := again + shiftWait + shiftPart
	s, err := m.seat(base, base, 7*time.Second, end)
	require.NoError(t, err)
	m.Net.At(shiftAt, func() {
		l := sim.Link{Latency: base.Latency + shifts[row].rtt/2, Jitter: shifts[row].jitter, Loss: shifts[row].loss}
		m.Link(s.client, l, l)
	})
	m.Net.At(again, func() {
		st, _ := m.server.Player(s.client.View().Me)
		claims = st.Claims
		require.True(t, m.server.Resettle(s.client.View().Me))
	})
	m.Run(end + time.Second)
	during := func(from, to time.Duration) (c cell) {
		seen := map[foretick.Tick]seenShot{}
		for tick, saw := range s.seen {
			if at := time.Duration(tick) * time.Second / time.Duration(rate); at >= from && at < to {
				seen[tick] = saw
			}
		}
		c.join(m, &shooter{seen: seen, target: s.target}, m.judged[s.client.View().Me])
		return c
	}
	return during(shiftAt+shiftWait, again), during(again+shiftWait, end), claims
}

// An honest player whose network becomes slower in mid-play pays for what keeps
// liars from gaining: its claims are clamped and counted, and most of its shots miss.
// A server that allows for a rise, or that resettles, confirms them again.
func TestHonestPathShifts(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for i, row := range shifts {
			if raced && (rate != 30 || i > 1) {
				continue
			}
			name := fmt.Sprintf("%d Hz, %s", rate, row.name)
			then, resettled, claims := shifted(t, rate, 0, i)
			allowed, _, _ := shifted(t, rate, 150*time.Millisecond, i)
			share := func(c cell) float64 { return percent(c.confirmed, c.onScreen) }
			t.Logf("| %s | %d | %.1f %% | %.1f %% | %.1f %% |", row.name, rate, share(then), share(allowed), share(resettled))
			require.Greater(t, then.onScreen, 50, name)
			require.GreaterOrEqual(t, share(resettled), 98.0, name)
			require.GreaterOrEqual(t, share(allowed), 98.0, name)
			require.LessOrEqual(t, percent(allowed.unseen, allowed.missed), 4.0, name)
			require.Zero(t, allowed.wideHit, name)
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

// What a server allows a slower network, a liar gains: that much, no faster than
// 20 ms a second, and no more by faking both a round trip and a drawing delay.
func TestAbuseRise(t *testing.T) {
	const rate, rise = 30, 100 * time.Millisecond
	for _, held := range []time.Duration{0, 60 * time.Millisecond, 300 * time.Millisecond} {
		most := func(lie bool) (early, late float64) {
			m, err := newRange(41, rate, foretick.ServerConfig{RewindRise: rise})
			require.NoError(t, err)
			l := &liar{now: m.Net.Now}
			if lie {
				l.claim = older(15)
				l.hold = func(now time.Duration) time.Duration {
					if now < lieFrom {
						return 0
					}
					return held
				}
			}
			s, err := m.seatAs(simtest.Seat{Up: duelLink, Down: duelLink, Wrap: func(e transport.Endpoint) transport.Endpoint {
				l.Endpoint = e
				return l
			}}, fightFrom, duelEnd)
			require.NoError(t, err)
			m.Run(duelEnd)
			for tick, j := range m.judged[s.client.View().Me] {
				if at := time.Duration(tick) * time.Second / rate; at < lieFrom+2*time.Second {
					early = max(early, j.rewind)
				} else {
					late = max(late, j.rewind)
				}
			}
			return early, late
		}
		e, f := most(false)
		honest := max(e, f)
		early, late := most(true)
		t.Logf("held back %v: honest %.2f, liar %.2f after two seconds, %.2f later", held, honest, early, late)
		require.LessOrEqual(t, early, honest+1+2*0.02*rate)
		require.LessOrEqual(t, late, honest+1+rise.Seconds()*rate)
		require.Greater(t, late, honest+1, "it was allowed for")
	}
}
