package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// longMatch is a match with one walker, at a given tick rate.
type longMatch struct {
	*simtest.Match
	server *server.Server
	game   *game
	client *client.Client
	end    *sim.Endpoint // the client's newest endpoint
}

func newLong(t *testing.T, rate int, link sim.Link) *longMatch {
	make := func(g *game) *foretick.Protocol {
		p := g.protocol()
		p.SetTickRate(rate)
		return p
	}
	m := &longMatch{Match: simtest.New(12), game: &game{}}
	var err error
	m.server, err = m.Serve(server.Config{Protocol: make(m.game)})
	require.NoError(t, err)
	cg := &game{}
	m.client, err = m.Join(client.Config{Protocol: make(cg), Sample: client.Sample(&cg.cmd, func(client.View) move {
		return move{Y: 0.25}
	})}, simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint {
		m.end = e.(*sim.Endpoint)
		return e
	}})
	require.NoError(t, err)
	return m
}

// taken plays for this length, and returns how many inputs the server took and how many
// resets the client's clock made.
func (m *longMatch) taken(t *testing.T, length time.Duration) (inputs, resets uint64) {
	me := m.client.View().Player
	before, ok := m.server.PlayerStats(m.server.Player(me))
	require.True(t, ok)
	jumps := m.client.Stats().HardResets
	m.Run(m.Net.Now() + length)
	after, ok := m.server.PlayerStats(m.server.Player(me))
	require.True(t, ok)
	return after.InputsTaken - before.InputsTaken, m.client.Stats().HardResets - jumps
}

// A round trip of a second and more is played at the defaults, with input delay.
func TestRoundTripsOfSeconds(t *testing.T) {
	for i, rtt := range []time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		for _, rate := range ratesOf(i) {
			t.Run(fmt.Sprintf("%d Hz %v", rate, rtt), func(t *testing.T) {
				m := newLong(t, rate, sim.Link{Latency: rtt / 2})
				m.Run(15 * time.Second)
				require.Equal(t, client.Playing, m.client.View().State)
				before := m.server.Stats()
				inputs, resets := m.taken(t, 30*time.Second)
				s, after := m.client.Stats(), m.server.Stats()
				t.Logf("taken %d of %d, resets %d, mispredicted %d", inputs, 30*rate, resets, s.Mispredictions)
				require.EqualValues(t, 30*rate, inputs)
				require.Zero(t, resets)
				if trailRate == 0 { // a debug server also sends hashes
					require.Less(t, float64(after.BytesOut-before.BytesOut)/float64(after.PacketsOut-before.PacketsOut), 50.0, "snapshots are still differences")
				}
				require.EqualValues(t, 1, m.server.Stats().Joined)
				require.Zero(t, m.server.Stats().Left)
				require.Zero(t, s.Mispredictions)
				require.Zero(t, s.HardResets, "none at the start either")
				delay := m.client.View().InputDelay
				history := float64(max(32, rate*3/4+4)) / float64(rate)
				require.InDelta(t, max(0, rtt.Seconds()-history), delay.Seconds(), 0.2, "what the prediction does not reach is input delay")
			})
		}
	}
}

// Play continues if the round trip rises to a second and more during a match.
func TestRoundTripBecomesSeconds(t *testing.T) {
	for i, rtt := range []time.Duration{1100 * time.Millisecond, 2 * time.Second} {
		for _, rate := range ratesOf(i) {
			t.Run(fmt.Sprintf("%d Hz %v", rate, rtt), func(t *testing.T) {
				m := newLong(t, rate, sim.Link{Latency: 50 * time.Millisecond})
				m.Run(5 * time.Second)
				link := sim.Link{Latency: rtt / 2}
				m.Link(m.client, link, link)
				m.Run(15 * time.Second)
				require.Equal(t, client.Playing, m.client.View().State)
				inputs, resets := m.taken(t, 30*time.Second)
				t.Logf("taken %d of %d, resets %d", inputs, 30*rate, resets)
				require.EqualValues(t, 30*rate, inputs)
				require.Zero(t, resets)
				require.EqualValues(t, 1, m.client.Stats().Connections)
				require.Zero(t, m.server.Stats().Left)
			})
		}
	}
}
