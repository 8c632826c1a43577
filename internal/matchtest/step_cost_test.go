package matchtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
)

// grove is a server with one player, and leaves that are replaced by others in every tick.
type grove struct {
	*venue
	leaf   ecs.Prefab
	leaves []ecs.Entity
	each   int // leaves that are spawned in a tick, and destroyed in the next
	gone   int
	stay   bool // leaves are not destroyed for now
	player *caller
	times  []time.Duration
}

func newGrove(t *testing.T, each int) *grove {
	g := &grove{each: each}
	g.venue = newVenue(t, server.Config{Timeout: time.Hour}, func(h *venue, p *foretick.Protocol) {
		p.Prefab(&g.leaf, "leaf", &h.game.Pos)
		p.Server("fall", func(f *foretick.ServerFrame, _ ecs.Rows) { g.fall(f) }, ecs.Once(), ecs.Create(&h.game.Pos))
	})
	g.player = g.enters("")
	g.player.asleep = false
	return g
}

func (g *grove) fall(f *foretick.ServerFrame) {
	if !g.stay {
		for _, e := range g.leaves {
			f.Destroy(e)
		}
		g.gone += len(g.leaves)
		g.leaves = g.leaves[:0]
	}
	for range g.each {
		g.leaves = append(g.leaves, f.Spawn(&g.leaf, ecs.Nobody))
	}
}

// tick plays a tick, and records how long the server's step took.
func (g *grove) tick() {
	g.net.Run(g.net.Now() + time.Second/30)
	begun := time.Now()
	g.srv.Step(g.now())
	g.times = append(g.times, time.Since(begun))
	g.player.step()
}

// median returns the median time of the newest n steps.
func (g *grove) median(n int) time.Duration {
	times := slices.Sorted(slices.Values(g.times[len(g.times)-n:]))
	return times[n/2]
}

// TestStepUnderWhoAcknowledgesNoSnapshot: with a player that acknowledges packets, but none with a
// snapshot, 65 000 entities that came and went make the server's step at most twice as long as
// with an honest player.
func TestStepUnderWhoAcknowledgesNoSnapshot(t *testing.T) {
	costtest.Ratio(t)
	const each, ticks, late = 90, 740, 200
	honest, silent := newGrove(t, each), newGrove(t, each)
	silent.player.deaf = packettest.Carries(netcode.MessageSnapshot)
	for range ticks { // in turns, so that other work of the machine slows both
		honest.tick()
		silent.tick()
	}
	a, b := honest.median(late), silent.median(late)
	t.Logf("%d and %d entities gone: a step took %v under an honest player, %v under one that acknowledges no snapshot", honest.gone, silent.gone, a, b)
	require.Nil(t, silent.player.gone)
	require.GreaterOrEqual(t, silent.gone, 65_000)
	require.LessOrEqual(t, b, 2*a)
}

// TestStepAfterAllItHeldIsGone: the same holds if a player knows 18 000 entities that go all at
// once, and then acknowledges no snapshot. (Package snapshot's own test has 65 000, for which
// a whole server takes too long.)
func TestStepAfterAllItHeldIsGone(t *testing.T) {
	costtest.Ratio(t)
	const each, ticks = 90, 200
	honest, silent := newGrove(t, each), newGrove(t, each)
	for _, g := range []*grove{honest, silent} {
		g.stay = true
		for range ticks {
			g.tick()
		}
		g.each = 0
		for range 40 {
			g.tick()
		}
		g.stay = false
	}
	silent.player.deaf = packettest.Carries(netcode.MessageSnapshot)
	for range 150 {
		honest.tick()
		silent.tick()
	}
	a, b := honest.median(120), silent.median(120)
	t.Logf("%d and %d entities gone: a step took %v under an honest player, %v under one that acknowledges no snapshot", honest.gone, silent.gone, a, b)
	require.Nil(t, silent.player.gone)
	require.GreaterOrEqual(t, silent.gone, each*ticks)
	require.LessOrEqual(t, b, 2*a)
}
