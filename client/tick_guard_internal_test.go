package client

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
)

const guardRate, guardInterval = 60, time.Second / 20

// guardPlay gives a guard the snapshots of a server, 20 a second, in the order of their arrival.
func guardPlay(g *tickGuard, from, to time.Duration, tick, comes func(time.Duration) time.Duration) (refused int, last time.Duration) {
	for at := from; at < to; at += guardInterval {
		t, now := foretick.Tick(tick(at).Seconds()*guardRate), comes(at)
		if g.allow(now, t) {
			g.noteSnapshot(now, t)
		} else {
			refused, last = refused+1, now
		}
	}
	return refused, last
}

func steady(at time.Duration) time.Duration { return at + 30*time.Millisecond }

// A guard allows the snapshots of honest servers, whatever their path and their clock do.
func TestTickGuardHonest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	itself := func(at time.Duration) time.Duration { return at }
	for name, c := range map[string]struct {
		tick, comes func(time.Duration) time.Duration
	}{
		"steady": {itself, steady},
		"jitter of a second": {itself, func(at time.Duration) time.Duration {
			return at + time.Duration(r.Int64N(int64(time.Second)))
		}},
		"joined over a queue of 4 s that drains at once": {itself, func(at time.Duration) time.Duration { return max(at, 4*time.Second) }},
		"the client stands still for 20 s": {itself, func(at time.Duration) time.Duration {
			if at > 9*time.Second && at < 29*time.Second {
				return 29 * time.Second
			}
			return at
		}},
		"a queue of 3 s is flushed": {itself, func(at time.Duration) time.Duration {
			if at > 9*time.Second && at < 14*time.Second {
				return at + 3*time.Second
			}
			if at >= 14*time.Second { // the snapshots of this time arrive at once, and most of them are lost
				return max(at, 17*time.Second)
			}
			return at
		}},
		"the server stands still for 20 s": {func(at time.Duration) time.Duration {
			if at > 9*time.Second {
				return max(9*time.Second, at-20*time.Second)
			}
			return at
		}, steady},
		"the server's clock is 5 % fast":      {func(at time.Duration) time.Duration { return at * 105 / 100 }, steady},
		"the server's clock is twice as fast": {func(at time.Duration) time.Duration { return 2 * at }, steady},
		"the server's clock is half as fast":  {func(at time.Duration) time.Duration { return at / 2 }, steady},
	} {
		g := newTickGuard(guardRate, guardInterval, c.comes(0), 0)
		refused, _ := guardPlay(&g, 0, 60*time.Second, c.tick, c.comes)
		require.Zero(t, refused, name)
	}
}

// If a server's or a client's clock jumps, the guard follows soon, and not at once.
func TestTickGuardFollows(t *testing.T) {
	for _, jump := range []time.Duration{2 * time.Second, time.Hour, -time.Hour, 9000 * time.Hour} {
		g := newTickGuard(guardRate, guardInterval, 0, 1<<31)
		refused, last := guardPlay(&g, 0, 20*time.Second, func(at time.Duration) time.Duration {
			if at > 10*time.Second {
				at += jump
			}
			return at + (1<<31)/guardRate*time.Second
		}, steady)
		require.Equal(t, 5, refused, jump)
		require.Less(t, last, 10*time.Second+guardFollow+2*guardInterval)
	}
}

// A guard does not allow forged ticks. It does not follow them while honest snapshots arrive between,
// and they do not change its estimate, although one in three is barely believable.
func TestTickGuardForged(t *testing.T) {
	for _, far := range []foretick.Tick{2 * guardRate, 1000, 1 << 20, 1 << 31, 1<<31 + 1, 3 << 30} {
		g := newTickGuard(guardRate, guardInterval, 0, 0)
		for i := range 2000 {
			now := time.Duration(i) * guardInterval
			tick := foretick.Tick(now.Seconds() * guardRate)
			for range 3 {
				require.False(t, g.allow(now, tick+far))
			}
			if i%3 == 0 && g.allow(now, tick+guardRate) {
				g.noteSnapshot(now, tick+guardRate)
			}
			require.True(t, g.allow(now, tick))
			g.noteSnapshot(now, tick)
		}
	}
}

func TestTickGuardAllocs(t *testing.T) {
	costtest.Allocations(t)
	g := newTickGuard(guardRate, guardInterval, 0, 0)
	now := time.Duration(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		now += guardInterval
		if tick := foretick.Tick(now.Seconds() * guardRate); g.allow(now, tick) {
			g.noteSnapshot(now, tick)
		}
	}))
}
