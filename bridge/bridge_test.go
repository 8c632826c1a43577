package bridge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// tale is the course of a match: hashes of the server's world after each tick, and of each frame.
type tale struct {
	server  []uint64
	screens []uint64
	stats   stats.Client
}

// play plays a match of either version. screen checks a client's own entities on each frame.
func play(t *testing.T, direct bool, seed uint64, screen func(*Game, client.View)) (out tale) {
	t.Helper()
	protocol := func(g *Game) *foretick.Protocol {
		if direct {
			return g.Direct()
		}
		return g.Bridged()
	}
	m, truth := simtest.New(seed), &Game{}
	var srv *server.Server
	srv, err := m.Serve(server.Config{Protocol: protocol(truth), OnTick: func(*foretick.ServerFrame) { out.server = append(out.server, campaign.Hash(srv)) }})
	require.NoError(t, err)
	truth.begin(srv)
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.05, Duplicate: 0.02}
	for i := range uint64(3) {
		g := &Game{}
		c, err := m.Join(client.Config{Protocol: protocol(g), Sample: client.Sample(&g.Stick, wander(seed*10+i))}, simtest.Seat{
			Up: link, Down: link,
			After: func(v client.View) {
				out.screens = append(out.screens, v.World.Hash(nil, g.Body.ID(), g.Gun.ID(), g.Fuse.ID()))
				if screen != nil {
					screen(g, v)
				}
			},
		})
		require.NoError(t, err)
		defer func() {
			st := c.Stats()
			out.stats.Add(&st)
		}()
	}
	m.Run(8 * time.Second)
	require.NoError(t, m.Err())
	return out
}

// TestSameAsDirect: the same rules give the same match with own entities behind a bridge and in
// Foretick's world, in every tick of the server and in every frame of every client.
func TestSameAsDirect(t *testing.T) {
	for seed := range uint64(6) {
		frames, shells := 0, 0
		direct := play(t, true, seed+1, nil)
		bridged := play(t, false, seed+1, func(g *Game, v client.View) {
			if v.State != client.Playing {
				return
			}
			frames++
			for _, rows := range g.bodies.All(v.World) {
				body := g.Body.Slice(rows)
				for i, e := range rows.Entities() {
					own, ok := g.bridge.Own(&foretick.Frame{World: v.World}, e)
					require.True(t, ok, "an entity on the screen has an own entity")
					require.Equal(t, body[i], own.body, "own entities have the drawn values")
					require.Equal(t, g.ID.Slice(rows)[i].N, own.id)
					if own.prefab == "shell" {
						shells++
					}
				}
			}
			require.Equal(t, g.bodies.Count(v.World), len(g.things), "own entities of those that are gone are removed")
		})
		require.Greater(t, frames, 400)
		require.Greater(t, shells, 100)
		require.Greater(t, len(direct.server), 200)
		require.Equal(t, direct.server, bridged.server, "seed %d", seed+1)
		require.Equal(t, direct.screens, bridged.screens, "seed %d", seed+1)
		require.Positive(t, bridged.stats.Resimulated, "nothing was replayed")
		require.Equal(t, direct.stats, bridged.stats)
	}
}

// TestSync: replays of the bridged game have the result of the first run.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, player(false), simtest.SyncConfig{Players: 3, Ticks: 200})
	simtest.SyncTest(t, player(false), simtest.SyncConfig{Players: 3, Ticks: 200, Late: server.Late{Window: 100 * time.Millisecond, World: true}})
}

// TestCheck plays the bridged game on bad networks. With its first seed an old snapshot has the last
// values of a shell that is gone, which must not count as a fault of the game.
func TestCheck(t *testing.T) {
	simtest.Check(t, simtest.Plan{Clients: 3, Play: 8 * time.Second, Rest: 6 * time.Second, New: player(false)}, 3)
}
