package main

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// bad is 100 to 140 ms of round trip, in and out of order, with losses in runs.
var bad = sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02, Burst: 2, Duplicate: 0.01, Reorder: 0.01}

// Shots hit the drones that the shooter sees them hit, for few bytes. Judged by the present state most
// of them would miss.
func TestShotsHitWhatTheirShooterSaw(t *testing.T) {
	play := func(seed uint64, present bool) (Report, *Match) {
		m := NewMatch(bad, 4, seed)
		m.Server.Present = present
		m.Play(2 * time.Minute)
		return m.Report(), m
	}
	for seed := range uint64(4) {
		r, m := play(seed, false)
		t.Logf("seed %d: %+v", seed, r)
		require.Greater(t, r.Hits, 500)
		require.GreaterOrEqual(t, r.Confirmed*100, r.Hits*95)
		require.Less(t, r.Down, 1200.0, "bytes a second, headers included")
		for _, c := range m.Clients {
			require.Less(t, c.Wrong*10, c.Ticks)
			require.Positive(t, c.Wrong, "no client can predict a push")
		}
	}
	r, _ := play(1, true)
	t.Logf("judged in the present: %+v", r)
	require.Less(t, r.Confirmed*100, r.Hits*60)
	r, _ = play(1, false)
	again, _ := play(1, false)
	require.Equal(t, r, again, "a seed replays")
}

// Whatever the network did: once the players rest, each client has its own drone exactly as the
// server has it, and draws all others there, to the public step.
func TestBothEndsAgreeAtRest(t *testing.T) {
	for name, link := range map[string]sim.Link{"perfect": {}, "bad": bad, "hell": sim.Hell} {
		for seed := range uint64(4) {
			m := NewMatch(link, 4, seed)
			m.Play(10 * time.Second)
			for _, c := range m.Clients {
				c.Read = func(netcode.Tick) Stick { return Stick{} }
			}
			m.Play(8 * time.Second)
			for _, c := range m.Clients {
				me := c.Pilot.Server.Owner
				require.Equal(t, m.Server.Drones[me].Body, c.Pilot.Body, "%s, seed %d, player %d", name, seed, me)
				require.Len(t, c.Others, 3)
				for player, at := range c.Others {
					require.InDelta(t, m.Server.Drones[player].X, at.X, 0.0051, "%s, seed %d", name, seed)
					require.InDelta(t, m.Server.Drones[player].Y, at.Y, 0.0051, "%s, seed %d", name, seed)
					require.Zero(t, at.VX, "speeds are sent to their owner alone")
				}
				require.Equal(t, m.Server.Drones[me].Score, c.Score)
			}
		}
	}
}

// A player that leaves takes its drone with it, and the drone of one that was cut off disappears after
// its silence.
func TestPlayersComeAndGo(t *testing.T) {
	m := NewMatch(bad, 4, 3)
	m.Play(3 * time.Second)
	gone, cut := m.Clients[0], m.Clients[1]
	require.NoError(t, gone.net.Close(transport.Closed, "bye"))
	m.Net.Blackhole(cut.net.(*sim.Endpoint), m.Net.Now(), time.Hour)
	m.Clients = m.Clients[2:]
	m.Play(2 * silence)
	require.Len(t, m.Server.Drones, 2)
	require.Len(t, m.Server.guests, 2)
	for _, c := range m.Clients {
		require.Len(t, c.Others, 1)
		require.Len(t, c.receiver.Ghosts(), 2, "what is gone is released")
		require.False(t, c.Closed)
	}
	cut.Step(m.Net.Now())
	require.True(t, cut.Closed)
}

// Another build of the game is not understood, and its drone leaves after its silence.
func TestAnotherBuildIsRefused(t *testing.T) {
	m := NewMatch(sim.Link{}, 2, 1)
	m.Clients[0].conn = netcode.NewConn(netcode.Config{Magic: 1})
	m.Play(silence + time.Second)
	require.True(t, m.Clients[0].Closed)
	require.Zero(t, m.Clients[0].Ticks)
	require.Len(t, m.Server.Drones, 1)
	require.False(t, m.Clients[1].Closed)
}

// A client cannot ask for more than a stick gives.
func TestCommandsAreBounded(t *testing.T) {
	var in Stick
	wild := Stick{X: 50, Y: -50, AimX: 9, Fire: true}
	require.NoError(t, stick.Unpack(stick.Pack(unsafe.Pointer(&wild), nil), unsafe.Pointer(&in)))
	require.Equal(t, Stick{X: 1, Y: -1, AimX: 1, Fire: true}, in)
}

// The same game over sockets.
func TestOverUDP(t *testing.T) {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	defer listen.Close(transport.Closed, "")
	net, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
	require.NoError(t, err)
	defer net.Close(transport.Closed, "")
	s, c := NewServer(listen), NewClient(net)
	c.Read = bot(c, 1)
	began := time.Now()
	for c.Ticks < rate {
		s.Step(time.Since(began))
		c.Step(time.Since(began))
		require.Less(t, time.Since(began), time.Minute)
		time.Sleep(tickTime)
	}
	require.Len(t, s.Drones, 1)
	require.NotZero(t, c.Pilot.X)
}
