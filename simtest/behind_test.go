package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A server whose Steps come late computes three ticks in each. It sends one packet for them, with a
// snapshot if one was due in any of the three. It counts the snapshots that it left out.
func TestStepBehindSendsItsNewest(t *testing.T) {
	const every, length = 100 * time.Millisecond, 20 * time.Second
	for _, rate := range []int{30, 10} {
		m, g, seen, steps := simtest.New(3), &game{}, 0, 0
		srv, err := m.Serve(server.Config{Protocol: g.protocol(), SnapshotRate: rate})
		require.NoError(t, err)
		cg := &game{}
		cl, err := m.Join(client.Config{Protocol: cg.protocol(), OnSnapshot: func(foretick.Tick) { seen++ },
			Sample: client.Sample(&cg.cmd, func(client.View) move { return move{Y: 0.25} })},
			simtest.Seat{Up: sim.Link{Latency: 30 * time.Millisecond}, Down: sim.Link{Latency: 30 * time.Millisecond}})
		require.NoError(t, err)
		m.Run(5 * time.Second)
		require.Zero(t, srv.Stats().SnapshotsSkipped, "a server in time skips none")
		for at := m.Net.Now(); at < 5*time.Second+length; at += every {
			m.Net.At(at, func() { m.FreezeServer(true) })
			m.Net.At(at+every-3*time.Millisecond, func() { m.FreezeServer(false); steps++ })
		}
		before, from, taken := srv.Stats(), seen, steps
		m.Run(5*time.Second + length)
		now := srv.Stats()
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
		require.Equal(t, client.Playing, cl.View().State)
		require.Less(t, now.InputsMissing-before.InputsMissing, uint64(0.05*30*length.Seconds()), "inputs still come in time")
	}
}

// A server that has too little time for its packets still computes all ticks. It sends packets in
// four ticks of five, for which the time suffices. Its clients' inputs run at most twice as far
// ahead as those of a server with enough time. With packets in each tick, a fifth of the ticks
// would be lost.
func TestPacketsThatTakeTooLong(t *testing.T) {
	const players, length = 8, 30 * time.Second
	lead := func(packet time.Duration) (lead time.Duration) {
		m, g := simtest.New(5), &game{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		m.AroundServer = func(step func()) { // each packet takes time
			before := srv.Stats().PacketsOut
			step()
			if sent := srv.Stats().PacketsOut - before; sent > 0 && packet > 0 {
				m.FreezeServer(true)
				m.Net.At(m.Net.Now()+time.Duration(sent)*packet, func() { m.FreezeServer(false) })
			}
		}
		var clients []*client.Client
		for range players {
			cg := &game{}
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) move { return move{Y: 0.25} })},
				simtest.Seat{Up: sim.Link{Latency: 20 * time.Millisecond}, Down: sim.Link{Latency: 20 * time.Millisecond}})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(10 * time.Second)
		before := srv.Stats()
		m.Run(10*time.Second + length)
		now := srv.Stats()
		require.NoError(t, m.Err())
		t.Logf("%v a packet: %d ticks lost, %d snapshots skipped, %d packets, lead %v", packet, now.TicksLost-before.TicksLost,
			now.SnapshotsSkipped-before.SnapshotsSkipped, now.PacketsOut-before.PacketsOut, clients[0].View().Lead)
		require.Zero(t, now.TicksLost-before.TicksLost)
		require.InDelta(t, 30*length.Seconds(), now.Ticks-before.Ticks, 4)
		require.Equal(t, packet > 0, now.SnapshotsSkipped > before.SnapshotsSkipped)
		require.Greater(t, now.PacketsOut-before.PacketsOut, uint64(0.6*30*length.Seconds()*players))
		return clients[0].View().Lead
	}
	calm := lead(0)
	require.LessOrEqual(t, lead(time.Second/30*5/4/players), 2*calm, "%v with time to spare", calm)
}
