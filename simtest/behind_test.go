package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A server whose Steps come late computes three ticks in each. It sends one packet for them, with a
// snapshot whenever one of the three had one due, and counts the snapshots that it did without.
func TestStepBehindSendsItsNewest(t *testing.T) {
	const every, length = 100 * time.Millisecond, 20 * time.Second
	for _, rate := range []int{30, 10} {
		m, g, seen, steps := simtest.New(3), &game{}, 0, 0
		server, err := m.Serve(foretick.ServerConfig{Protocol: g.protocol(), SnapshotRate: rate})
		require.NoError(t, err)
		cg := &game{}
		client, err := m.Join(foretick.ClientConfig{Protocol: cg.protocol(), OnSnapshot: func(foretick.Tick) { seen++ },
			Sample: foretick.Sample(&cg.cmd, func(foretick.View) move { return move{Y: 0.25} })},
			simtest.Seat{Up: sim.Link{Latency: 30 * time.Millisecond}, Down: sim.Link{Latency: 30 * time.Millisecond}})
		require.NoError(t, err)
		m.Run(5 * time.Second)
		require.Zero(t, server.Stats().SnapshotsSkipped, "a server in time skips none")
		for at := m.Net.Now(); at < 5*time.Second+length; at += every {
			m.Net.At(at, func() { m.FreezeServer(true) })
			m.Net.At(at+every-3*time.Millisecond, func() { m.FreezeServer(false); steps++ })
		}
		before, from, taken := server.Stats(), seen, steps
		m.Run(5*time.Second + length)
		now := server.Stats()
		require.NoError(t, m.Err())
		require.InDelta(t, 30*length.Seconds(), now.Ticks-before.Ticks, 4)
		require.Zero(t, now.TicksLost)
		require.InDelta(t, steps-taken, now.PacketsOut-before.PacketsOut, 0.02*float64(steps), "one packet a Step at %d Hz", rate)
		require.InDelta(t, steps-taken, seen-from, 0.02*float64(steps), "one snapshot a Step at %d Hz", rate)
		due := float64(rate) * length.Seconds()
		require.Positive(t, now.SnapshotsSkipped)
		if rate == 30 {
			require.InDelta(t, due-float64(steps), now.SnapshotsSkipped, 0.05*due)
		}
		require.Equal(t, foretick.Playing, client.View().State)
		require.Less(t, now.InputsMissing-before.InputsMissing, uint64(0.05*30*length.Seconds()), "inputs still come in time")
	}
}
