package host

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
)

// measured is the result of a match of three players whose servers read the network every 5 ms, and how
// often the match was stepped.
type measured struct {
	server  stats.Counters
	players []stats.Player
	at      []Position
	steps   uint64
	begun   time.Duration
}

// measure plays that match in a host or alone. Its result counts from a time on.
func measure(t *testing.T, hosted bool, from time.Duration) (out measured) {
	w := newTown(t, Config{OnDemand: true}, server.Config{})
	g := &game{}
	w.games["a"] = g
	names := []string{"ann", "bob", "cid"}
	if !hosted {
		p := g.protocol()
		srv, err := server.New(server.Config{Protocol: p, Transport: w.end})
		require.NoError(t, err)
		w.servers["a"] = srv
	}
	for i, who := range names {
		path := sim.Link{Latency: time.Duration(13+8*i) * time.Millisecond, Jitter: 9 * time.Millisecond, Loss: 0.02}
		e := w.net.Dial(w.end.Endpoint, path, path)
		w.end.names[sim.Addr(e.ID())] = string(ticket.JoinIdentity("a", []byte(who)))
		b, err := w.light.Join(0, e)
		require.NoError(t, err)
		w.bots = append(w.bots, b)
	}
	for end := 20 * time.Second; w.net.Now() < end; {
		w.net.Run(w.net.Now() + 5*time.Millisecond)
		switch {
		case hosted:
			if w.host.Step(w.now()); w.servers["a"] != nil && out.begun == 0 {
				out.begun = w.net.Now()
			}
		case w.net.Now() >= from:
			w.servers["a"].Step(w.now())
			out.steps++
		}
		for _, b := range w.bots {
			if !w.now().Before(b.Next()) {
				require.NoError(t, b.Step(w.now()))
			}
		}
	}
	srv := w.servers["a"]
	srv.Step(w.now()) // reads the packets since the last tick
	out.server = srv.Stats()
	for _, player := range srv.Players(nil) {
		st, ok := srv.PlayerStats(player)
		require.True(t, ok)
		out.players = append(out.players, st)
		require.Greater(t, st.RTT, 20*time.Millisecond)
	}
	for _, rows := range ecs.NewQuery(srv.World().Types(), ecs.With(&g.Pos)).All(srv.World()) {
		out.at = append(out.at, g.Pos.Slice(rows)...)
	}
	if hosted {
		out.steps = w.host.Stats().Steps
	}
	return out
}

// A host steps a match for its ticks alone. The result is the same as if the match read each datagram
// at once: the same delays, inputs and packets.
func TestMailWaitsForTheTick(t *testing.T) {
	waiting := measure(t, true, 0)
	at := measure(t, false, waiting.begun)
	require.Len(t, at.players, 3)
	require.Equal(t, at.server, waiting.server)
	require.Equal(t, at.players, waiting.players)
	require.Equal(t, at.at, waiting.at)
	require.Less(t, waiting.steps, waiting.server.Ticks+20)
	require.Greater(t, at.steps, 4*waiting.steps)
}

// For a peer that fills its inbox, connects or disconnects, the host steps the match before the next
// tick.
func TestHurry(t *testing.T) {
	w := newTown(t, Config{OnDemand: true, Inbox: 8}, server.Config{})
	e := w.dial("a", "loud")
	w.run(200 * time.Millisecond)
	var ev [4]transport.Event
	require.Equal(t, 1, e.Recv(ev[:]))
	p := w.host.matches["a"].port
	require.False(t, p.hurry.Load())
	for i, hurries := range []bool{false, false, false, false, true} {
		require.NoError(t, e.Send(ev[0].Peer, []byte{9}))
		w.net.Run(w.net.Now() + 25*time.Millisecond)
		w.host.porter()
		require.Equal(t, hurries, p.hurry.Load(), i)
	}
	w.host.Step(w.now())
	require.False(t, p.hurry.Load())
	e.Disconnect(ev[0].Peer, 0, "bye")
	w.net.Run(w.net.Now() + 25*time.Millisecond)
	w.host.porter()
	require.True(t, p.hurry.Load())
}
