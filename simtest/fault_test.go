package simtest_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var terrible = sim.Link{
	Latency: 60 * time.Millisecond, Jitter: 60 * time.Millisecond, Loss: 0.15, Burst: 3,
	Duplicate: 0.1, Reorder: 0.1, Corrupt: 0.01,
}

// Whatever the network did, both ends agree once it has been quiet.
func TestTerribleNetworkConverges(t *testing.T) {
	for seed := range uint64(costtest.Count(1, 5)) {
		m, clients := walk(t, seed, 4, terrible, 15*time.Second)
		for _, c := range clients {
			m.Link(c, sim.Link{Latency: 60 * time.Millisecond}, sim.Link{Latency: 60 * time.Millisecond})
		}
		m.Run(m.Net.Now() + 2*time.Second)
		for _, c := range clients {
			a, st := m.Audit(c), c.Stats()
			require.Equal(t, client.Playing, c.View().State)
			require.Zero(t, a.Differences, "seed %d: %s", seed, a.First)
			require.Equal(t, 8, a.Fields)
			require.NotZero(t, st.Mispredictions, "nothing went wrong: the test tests nothing")
			require.Zero(t, st.ByCause.Of(prediction.Code), "the same code computed something else")
			require.Zero(t, st.ByCause.Of(prediction.Untracked))
			require.Zero(t, st.Malformed)
		}
	}
}

// The same seed gives the same match, packet by packet; another gives another.
func TestSameSeedSameMatch(t *testing.T) {
	trace := func(seed uint64) [32]byte {
		m, _ := walk(t, seed, 3, terrible, 5*time.Second)
		return m.Trace()
	}
	require.Equal(t, trace(1), trace(1))
	require.NotEqual(t, trace(1), trace(2))
}

// A client whose process was frozen is in step again within two seconds.
func TestFrozenClientRecovers(t *testing.T) {
	for _, frozen := range []time.Duration{200 * time.Millisecond, 800 * time.Millisecond, 3 * time.Second} {
		m, clients := walk(t, 3, 2, sim.Link{Latency: 40 * time.Millisecond}, 60*time.Second)
		m2 := m // the match continued to the end of the walk; freeze now
		c := clients[0]
		m2.Freeze(c, true)
		m2.Run(m2.Net.Now() + frozen)
		m2.Freeze(c, false)
		m2.Run(m2.Net.Now() + 2*time.Second)
		require.Equal(t, client.Playing, c.View().State, frozen)
		ahead := int32(c.View().Tick - m2.Server().Tick())
		require.True(t, ahead > 0 && ahead < 15, "frozen %v: %d ticks ahead", frozen, ahead)
		before := m2.Server().Stats().InputsMissing
		m2.Run(m2.Net.Now() + 2*time.Second)
		require.Equal(t, before, m2.Server().Stats().InputsMissing, "inputs arrive in time again")
	}
}

// A client with another protocol receives the first difference.
func TestProtocolMismatchIsNamed(t *testing.T) {
	m := simtest.New(1)
	var g game
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	var other game
	p := other.protocol()
	p.SetTickRate(60)
	c, err := m.Join(client.Config{Protocol: p}, simtest.Seat{Up: terrible, Down: terrible})
	require.NoError(t, err)
	m.Run(10 * time.Second)
	var mismatch *client.ProtocolError
	require.ErrorAs(t, c.View().Err, &mismatch)
	require.ErrorIs(t, c.View().Err, net.ErrClosed)
	require.Contains(t, mismatch.OurLine, "60")
	require.Contains(t, mismatch.TheirLine, "30")
	require.EqualValues(t, 0, m.Server().Stats().Joined)
}

type sized struct{ Size float32 }

// TestLongDescription: a refused client receives the first difference even if the description of
// the protocol does not fit in a message. If only hashes fit, the client names its own line, or
// the line before the server's.
func TestLongDescription(t *testing.T) {
	protocol := func(differs, prefabs int) *foretick.Protocol {
		p, size := foretick.NewProtocol("long", 1), new(ecs.Component[sized])
		p.Component(size)
		for i := range prefabs {
			name := fmt.Sprintf("%s %03d", strings.Repeat("x", 200), i)
			if i == differs {
				name = "another"
			}
			p.Prefab(new(ecs.Prefab), name, size)
		}
		require.NoError(t, p.Err())
		require.Greater(t, len(p.Describe()), 80<<10)
		return p
	}
	srv := protocol(-1, 600)
	for _, row := range []struct {
		differs, prefabs int
		ours, theirs     string
	}{{2, 600, "another", "xxx 002"}, {598, 600, "another", "(something after prefab"}, {-1, 599, "", "xxx 598"}} {
		m := simtest.New(1)
		_, err := m.Serve(server.Config{Protocol: srv})
		require.NoError(t, err)
		cl := protocol(row.differs, row.prefabs)
		c, err := m.Join(client.Config{Protocol: cl}, simtest.Seat{})
		require.NoError(t, err)
		m.Run(10 * time.Second)
		var mismatch *client.ProtocolError
		require.ErrorAs(t, c.View().Err, &mismatch)
		require.Equal(t, cl.Hash(), mismatch.Ours)
		require.Equal(t, srv.Hash(), mismatch.Theirs)
		t.Log(mismatch)
		require.Contains(t, mismatch.OurLine, row.ours)
		require.Contains(t, mismatch.TheirLine, row.theirs)
		require.Equal(t, row.ours == "", mismatch.OurLine == "")
	}
}

// A full server refuses with the code Full. When a player leaves, another can take its place.
func TestFullServer(t *testing.T) {
	m := simtest.New(1)
	var g game
	_, err := m.Serve(server.Config{Protocol: g.protocol(), MaxClients: 1})
	require.NoError(t, err)
	join := func() *client.Client {
		var cg game
		c, err := m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
		require.NoError(t, err)
		return c
	}
	first := join()
	m.Run(2 * time.Second)
	require.Equal(t, client.Playing, first.View().State)
	second := join()
	m.Run(4 * time.Second)
	var closed *transport.DisconnectError
	require.ErrorAs(t, second.View().Err, &closed)
	require.Equal(t, transport.Full, closed.Code)
	require.NoError(t, first.Close())
	m.Run(5 * time.Second)
	require.Zero(t, m.Server().World().Len(), "what a player owned goes with it")
	third := join()
	m.Run(8 * time.Second)
	require.Equal(t, client.Playing, third.View().State)
	require.Equal(t, 1, third.View().World.Len())
}

// A client ends its connection when the server is silent for longer than the timeout.
func TestSilentServer(t *testing.T) {
	m, clients := walk(t, 1, 1, sim.LAN, time.Second)
	dead := sim.Link{Loss: 1}
	m.Link(clients[0], dead, dead)
	m.Run(m.Net.Now() + 6*time.Second)
	require.Equal(t, client.Resuming, clients[0].View().State)
	m.Run(m.Net.Now() + 40*time.Second)
	var closed *transport.DisconnectError
	require.ErrorAs(t, clients[0].View().Err, &closed)
	require.Equal(t, transport.Timeout, closed.Code)
	require.Empty(t, m.Server().Players(nil), "the server gave the client up as well")
	require.True(t, errors.Is(closed, net.ErrClosed))
}

// A player whose network fails for twenty seconds gets its body back. The game's hooks learn of
// the loss and of the return.
func TestLostPlayerComesBack(t *testing.T) {
	m := simtest.New(9)
	g := &game{}
	p := g.protocol()
	var heard []string
	p.OnDisconnect(func(*foretick.ServerFrame, foretick.PlayerID) { heard = append(heard, "absent") })
	p.OnReconnect(func(*foretick.ServerFrame, foretick.PlayerID) { heard = append(heard, "return") })
	p.OnLeave(func(*foretick.ServerFrame, foretick.PlayerID) { heard = append(heard, "leave") })
	srv, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	join := func() (*client.Client, *game) {
		cg := &game{}
		cp := cg.protocol()
		c, err := m.Join(client.Config{Protocol: cp, Sample: client.Sample(&cg.cmd, func(client.View) move {
			return move{Y: 0.25}
		})}, simtest.Seat{Up: sim.WiFi, Down: sim.WiFi})
		require.NoError(t, err)
		return c, cg
	}
	lost, _ := join()
	other, _ := join()
	m.Run(25 * time.Second) // a place is held only as long as its player had played
	me, before := lost.View().Player, other.Stats()
	require.NotZero(t, me)
	body := g.pos.Get(srv.World(), bodyOf(srv, g, me))
	dead := sim.Link{Loss: 1}
	m.Link(lost, dead, dead)
	m.Run(30500 * time.Millisecond)
	stood := *body
	m.Run(45 * time.Second)
	require.Equal(t, client.Resuming, lost.View().State)
	require.Equal(t, stood, *g.pos.Get(srv.World(), bodyOf(srv, g, me)), "an absent player's body stands still")
	require.Equal(t, []string{"absent"}, heard)
	m.Link(lost, sim.WiFi, sim.WiFi)
	m.Run(47 * time.Second)
	require.Equal(t, client.Playing, lost.View().State)
	require.Equal(t, me, lost.View().Player)
	require.Equal(t, []string{"absent", "return"}, heard)
	require.EqualValues(t, 1, srv.Stats().Resumed)
	require.Greater(t, g.pos.Get(srv.World(), bodyOf(srv, g, me)).Y, stood.Y, "it moves again")
	after := other.Stats()
	require.Equal(t, before.HardResets, after.HardResets, "nobody else noticed")
	require.Equal(t, before.Mispredictions, after.Mispredictions)
	m.Link(lost, dead, dead)
	m.Run(90 * time.Second)
	require.Equal(t, []string{"absent", "return", "absent", "leave"}, heard, "a place is not held for ever")
	require.Equal(t, 1, srv.World().Len())
}

func bodyOf(s *server.Server, g *game, player foretick.PlayerID) ecs.Entity {
	q := ecs.NewQuery(s.World().Types(), ecs.With(&g.pos))
	for _, rows := range q.Owned(s.World(), player) {
		return rows.Entity(0)
	}
	return ecs.None
}

// An entity that changes its owner is predicted by its new owner and no longer by its old one.
func TestTransfer(t *testing.T) {
	m := simtest.New(5)
	g := &game{}
	var car ecs.Entity
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	var clients []*client.Client
	for range 2 {
		cg := &game{}
		p := cg.protocol()
		c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&cg.cmd, func(v client.View) move {
			return move{X: 0.5}
		})}, simtest.Seat{Up: sim.WiFi, Down: sim.WiFi})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(2 * time.Second)
	car = srv.Frame().Spawn(&g.player, 1)
	m.Run(4 * time.Second)
	require.NoError(t, srv.World().Transfer(car, 2))
	m.Run(6 * time.Second)
	moved := g.pos.Get(srv.World(), car).X
	require.Greater(t, moved, float32(5))
	for i, c := range clients {
		require.Equal(t, 3, c.View().World.Len(), "client %d", i)
		local, ok := serverEntity(srv, c, car)
		require.True(t, ok)
		require.Equal(t, foretick.PlayerID(2), c.View().World.Owner(local))
	}
}

func serverEntity(s *server.Server, c *client.Client, e ecs.Entity) (ecs.Entity, bool) {
	q := ecs.NewQuery(c.View().World.Types())
	for _, rows := range q.All(c.View().World) {
		for i := range rows.Len() {
			if remote, ok := campaign.ServerEntity(s, c.View().Player, c, rows.Entity(i)); ok && remote == e {
				return rows.Entity(i), true
			}
		}
	}
	return ecs.None, false
}

// Asymmetric paths: a slow or lossy uplink costs lead, a downlink
// interpolation. Both ends still agree, and inputs arrive in time.
func TestAsymmetricLinks(t *testing.T) {
	fast := sim.Link{Latency: 10 * time.Millisecond, Jitter: 5 * time.Millisecond}
	slow := sim.Link{Latency: 180 * time.Millisecond, Jitter: 30 * time.Millisecond, Bandwidth: 256_000, Queue: 100 * time.Millisecond}
	lossy := sim.Link{Latency: 30 * time.Millisecond, Loss: 0.1, Burst: 3}
	for name, link := range map[string][2]sim.Link{
		"slow up": {slow, fast}, "slow down": {fast, slow}, "lossy up": {lossy, fast}, "lossy down": {fast, lossy},
	} {
		m := simtest.New(6)
		var g, cg game
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			if m.Net.Now() > 20*time.Second {
				return move{}
			}
			return move{X: float32(v.Tick*7919%257)/128 - 1}
		})}, simtest.Seat{Up: link[0], Down: link[1]})
		require.NoError(t, err)
		m.Run(8 * time.Second)
		before := srv.Stats()
		m.Run(20 * time.Second)
		after := srv.Stats()
		missing, taken := after.InputsMissing-before.InputsMissing, after.InputsTaken-before.InputsTaken
		require.Greater(t, taken, uint64(300), name)
		require.LessOrEqual(t, missing, taken/20, name) // in a long burst of losses all inputs but the last come too late
		m.Run(23 * time.Second)
		require.Equal(t, client.Playing, c.View().State, name)
		require.Zero(t, m.Audit(c).Differences, "%s: %s", name, m.Audit(c).First)
		require.Zero(t, c.Stats().HardResets, name)
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code), name)
		lead := time.Duration(int32(c.View().Tick-srv.Tick())) * time.Second / 30
		behind := time.Duration(int32(srv.Tick()-c.View().RenderTick)) * time.Second / 30
		t.Logf("%s: predicted %v ahead, rendered %v behind, %d of %d inputs missing", name, lead, behind, missing, taken)
		switch name {
		case "slow up":
			require.Greater(t, lead, 150*time.Millisecond)
			require.Less(t, behind, 150*time.Millisecond)
		case "slow down":
			require.Less(t, lead, 100*time.Millisecond)
			require.Greater(t, behind, 180*time.Millisecond)
		}
	}
}
