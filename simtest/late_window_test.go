package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// The window of Late limits how far a player may jump on the screens of others: of
// commands that come late together, only those within the window run in their ticks.
func TestLateWindowBoundsTheJump(t *testing.T) {
	const rate = 30
	for _, window := range []time.Duration{0, 200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond} {
		m, g, link := simtest.New(4), &fencers{still: true}, &holder{}
		_, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: window}})
		require.NoError(t, err)
		c := &fencers{}
		path := sim.Link{Latency: 30 * time.Millisecond}
		_, err = m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return wave(0, v) })},
			simtest.Seat{Up: path, Down: path, Wrap: func(e transport.Endpoint) transport.Endpoint { link.Endpoint = e; return link }})
		require.NoError(t, err)
		m.Run(5 * time.Second)
		before, _ := m.Server().PlayerStats(m.Server().Player(1))
		link.holds = true
		m.RunFor(window + 167*time.Millisecond)
		link.release(t)
		m.RunFor(200 * time.Millisecond)
		after, _ := m.Server().PlayerStats(m.Server().Player(1))
		missing, late := after.InputsMissing-before.InputsMissing, after.InputsRerun-before.InputsRerun
		require.Greater(t, missing, late, "window %v: or this test shows nothing", window)
		require.InDelta(t, window.Seconds()*rate, late, 1.01, "window %v: %d commands missed their ticks", window, missing)
	}
}
