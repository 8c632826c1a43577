package server

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// crowd makes a match among things that move, watched by players who stand still, or by observers with
// as many bodies standing among them.
func crowd(t testing.TB, players, observers int, reach float32) *exhibition {
	x := newExhibition(t, reach, Config{
		Observe: granted(Public()), MaxObservers: 256, MaxClients: 256, Random: rand.NewChaCha8([32]byte{1}), MaxWaitingPerAddress: -1,
	})
	for i := range 100 {
		x.game.spawn(x.srv.Frame(), &x.game.item, ecs.Nobody, float32(i%10)*4, float32(i/10)*4)
	}
	x.sample = func(client.View) obsMove { return obsMove{} }
	for range players {
		x.comes(client.Config{})
	}
	for range observers {
		x.game.spawn(x.srv.Frame(), &x.game.walker, ecs.Nobody, 0, 0)
		c, _ := x.comes(client.Config{Observe: &client.Observe{}})
		c.SetEye(0, 0, 0)
	}
	x.run(3 * time.Second)
	return x
}

// An observer costs at most 0.7 of a player who stands still. Observers with equal grants and views get
// copies of one snapshot, and share one search for near entities. Ticks are timed by turns, and the
// best of five rounds counts, because other programs interrupt some.
func TestObserversCostLessThanPlayers(t *testing.T) {
	costtest.Ratio(t)
	const n, ticks = 24, 60
	for _, row := range []struct {
		reach  float32
		copies float64
	}{{0, 0.9}, {60, 0.9}} {
		matches := []*exhibition{crowd(t, n, 0, row.reach), crowd(t, 0, n, row.reach)}
		made, copied := matches[1].snapshots(n), matches[1].srv.senders.caches[0].Copied()
		best, rounds := math.Inf(1), 0
		for ; rounds < 5 && best > 0.7; rounds++ {
			var spent [2][]time.Duration
			for range ticks {
				for i, x := range matches {
					x.net.Run(x.net.Now() + time.Second/30)
					begun := time.Now()
					x.srv.Step(x.now())
					spent[i] = append(spent[i], time.Since(begun))
					for _, c := range x.clients {
						c.Step(x.now())
					}
				}
			}
			var usual [2]time.Duration // on a busy machine most other ticks were interrupted
			for i := range spent {
				slices.Sort(spent[i])
				usual[i] = spent[i][ticks/4]
			}
			ratio := float64(usual[1]) / float64(usual[0])
			best = min(best, ratio)
			t.Logf("reach %v: a tick with %d observers takes %v, with %d players %v: %.2f", row.reach, n, usual[1], n, usual[0], ratio)
		}
		made, copied = matches[1].snapshots(n)-made, matches[1].srv.senders.caches[0].Copied()-copied
		share := float64(copied) / float64(made)
		t.Logf("reach %v: of %d snapshots for observers %.0f %% are copies", row.reach, made, 100*share)
		require.GreaterOrEqual(t, share, row.copies)
		require.LessOrEqual(t, best, 0.7)
		require.Zero(t, matches[0].srv.senders.caches[0].Copied(), "players are sent their own")
		require.Len(t, matches[1].srv.sessions.observers, n)
	}
}

// snapshots returns how many snapshots the observers have been sent.
func (x *exhibition) snapshots(n int) (made uint64) {
	require.Len(x.t, x.srv.sessions.observers, n)
	for _, p := range x.srv.sessions.observers {
		made += p.outbox.sender.Counters().Snapshots
	}
	return made
}
