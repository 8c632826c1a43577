package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// stallMatch is a match with one walker, whose frames are recorded.
type stallMatch struct {
	*simtest.Match
	server *server.Server
	game   *game
	client *client.Client
	seen   func(v client.View)
}

func newStall(t *testing.T, link sim.Link) *stallMatch {
	m := &stallMatch{Match: simtest.New(12), game: &game{}}
	var err error
	m.server, err = m.Serve(server.Config{Protocol: m.game.protocol()})
	require.NoError(t, err)
	cg := &game{}
	m.client, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move {
		return move{Y: 0.25}
	})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
		if m.seen != nil {
			m.seen(v)
		}
	}})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	require.Equal(t, client.Playing, m.client.View().State)
	return m
}

// When the server's packets stop, the client predicts as far as its history reaches, stops
// there, and its state says so. It plays on when packets arrive again, with the same body and
// connection.
func TestStalledClientSaysSoAndPlaysOn(t *testing.T) {
	link := sim.Link{Latency: 50 * time.Millisecond}
	for _, silent := range []time.Duration{500 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		m := newStall(t, link)
		newest := m.server.Tick()
		stalled, first := 0, time.Duration(0)
		m.seen = func(v client.View) {
			require.LessOrEqual(t, int(int32(v.Tick-newest)), 32, "no further ahead than the history")
			if v.Stalled {
				if stalled++; stalled == 1 {
					first = m.Net.Now() - 5*time.Second
				}
			}
		}
		m.Link(m.client, link, sim.Link{Loss: 1})
		m.Run(5*time.Second + silent)
		if silent < time.Second {
			require.Zero(t, stalled, "the history bridges it")
			require.Zero(t, m.client.Stats().Stalls)
		} else {
			require.True(t, m.client.View().Stalled)
			require.Less(t, first, 1100*time.Millisecond)
			require.EqualValues(t, 1, m.client.Stats().Stalls)
		}
		m.seen = nil
		m.Link(m.client, link, link)
		back := m.Net.Now()
		m.Run(back + 500*time.Millisecond)
		require.False(t, m.client.View().Stalled)
		require.Equal(t, client.Playing, m.client.View().State)
		m.Run(back + 2*time.Second)
		me := m.client.View().Player
		y := m.game.pos.Get(m.server.World(), bodyOf(m.server, m.game, me)).Y
		taken, _ := m.server.PlayerStats(m.server.Player(me))
		m.Run(back + 4*time.Second)
		now, _ := m.server.PlayerStats(m.server.Player(me))
		require.InDelta(t, 60, now.InputsTaken-taken.InputsTaken, 2, "its commands count again")
		require.Greater(t, m.game.pos.Get(m.server.World(), bodyOf(m.server, m.game, me)).Y, y)
		require.Zero(t, m.server.Stats().Resumed)
	}
}

// After twenty seconds without a network, the client plays again within two seconds of the
// network's return. Until then its state says what it does.
func TestBlackhole(t *testing.T) {
	for _, extra := range []time.Duration{0, 700 * time.Millisecond, 1900 * time.Millisecond, 3300 * time.Millisecond, 4700 * time.Millisecond} {
		link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
		m := newStall(t, link)
		me := m.client.View().Player
		body := bodyOf(m.server, m.game, me)
		states := map[string]bool{}
		m.seen = func(v client.View) {
			name := v.State.String()
			if v.Stalled {
				name = "stalled"
			}
			states[name] = true
		}
		m.Run(30 * time.Second) // a place is held no longer than its player has played
		clear(states)
		dead := sim.Link{Loss: 1}
		m.Link(m.client, dead, dead)
		m.Run(50*time.Second + extra)
		require.Equal(t, client.Resuming, m.client.View().State)
		require.Equal(t, map[string]bool{"playing": true, "stalled": true, "resuming": true}, states)
		m.Link(m.client, link, link)
		back := m.Net.Now()
		for m.client.View().State != client.Playing && m.Net.Now() < back+10*time.Second {
			m.Run(m.Net.Now() + 10*time.Millisecond)
		}
		t.Logf("silent for %v: back after %v", 20*time.Second+extra, m.Net.Now()-back)
		require.LessOrEqual(t, m.Net.Now()-back, 2*time.Second)
		require.Equal(t, me, m.client.View().Player)
		require.Equal(t, body, bodyOf(m.server, m.game, me))
		require.NotEqual(t, ecs.None, body)
		y := m.game.pos.Get(m.server.World(), body).Y
		m.Run(m.Net.Now() + 2*time.Second)
		require.Greater(t, m.game.pos.Get(m.server.World(), body).Y, y, "it plays on")
		require.EqualValues(t, 1, m.server.Stats().Resumed)
	}
}

// After a stall of the server, a client makes new commands for ticks whose commands it sent
// already. The new ones are sent in several packets like all others, so after a lost packet the
// old ones do not run.
func TestCommandsMadeAgainArriveDespiteLoss(t *testing.T) {
	frames, stalls, n := 0, 0, 0
	link := sim.Link{Latency: 150 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}
	a := newAfternoon(t, 1, link, func(int, client.View) brush { // another command whenever the same tick's is made
		frames++
		return brush{X: float32(frames*7919%257)/128 - 1}
	})
	for at := 2 * time.Second; at < 60*time.Second; at += 4 * time.Second {
		stalls++
		a.m.Net.At(at, func() { a.m.FreezeServer(true) })
		a.m.Net.At(at+1500*time.Millisecond, func() { a.m.FreezeServer(false) })
	}
	a.m.Run(65 * time.Second)
	require.NoError(t, a.m.Err())
	for _, w := range a.told[0] {
		if w.StandIn == prediction.Replaced {
			n++
		}
	}
	t.Logf("%d stalls, %d corrections because the first command ran", stalls, n)
	require.EqualValues(t, stalls, a.clients[0].Stats().HardResets)
	require.LessOrEqual(t, n, 2)
}
