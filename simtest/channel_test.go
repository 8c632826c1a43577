package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// chunk is part of something long, such as a map.
type chunk struct {
	N     uint16
	Bytes [1000]uint64
}

// line is a short reliable message, spark a short one that may be lost.
type (
	line  struct{ N uint16 }
	spark struct{ N uint16 }
)

// talk is the walking game with messages on channels.
type talk struct {
	game
	chunk foretick.Message[chunk]
	line  foretick.Message[line]
	spark foretick.Message[spark]

	chunks, lines, sparks []uint16
	late                  []foretick.Tick // how many ticks each line took
	now                   func() foretick.Tick
}

func (g *talk) protocol() *foretick.Protocol {
	p := g.game.protocol()
	p.Channel("map", netcode.Channel{Reliable: true, Priority: 1})
	p.Channel("lines", netcode.Channel{Reliable: true, Priority: 8})
	p.Channel("sparks", netcode.Channel{Priority: 4})
	g.chunk.Channel = "map"
	g.chunk.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, c chunk) { g.chunks = append(g.chunks, c.N) })
	g.line.Channel = "lines"
	g.line.OnClient(p, func(_ *foretick.Frame, sent foretick.Tick, l line) {
		g.lines, g.late = append(g.lines, l.N), append(g.late, g.now()-sent)
	})
	g.spark.Channel = "sparks"
	g.spark.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, s spark) { g.sparks = append(g.sparks, s.N) })
	return p
}

// TestChannelsOfAGame: a long message of low priority holds up nothing; reliable
// messages arrive once, in their channel's order, and others at most once.
func TestChannelsOfAGame(t *testing.T) {
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.05}
	m := simtest.New(1)
	var truth talk
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	var cl talk
	cl.now = srv.Tick
	c, err := m.Join(client.Config{Protocol: cl.protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	player := c.View().Player
	for i := range uint16(7) {
		require.NoError(t, truth.chunk.Send(srv.Frame(), player, chunk{N: i}))
	}
	ended := 0
	for i := range uint16(200) {
		require.NoError(t, truth.line.Send(srv.Frame(), player, line{N: i}))
		require.NoError(t, truth.spark.Send(srv.Frame(), player, spark{N: i}))
		m.Run(m.Net.Now() + 33*time.Millisecond)
		if len(cl.chunks) < 7 {
			ended = int(i)
		}
	}
	m.Run(m.Net.Now() + 2*time.Second)
	require.Greater(t, ended, 50, "the long messages were under way")
	require.Equal(t, []uint16{0, 1, 2, 3, 4, 5, 6}, cl.chunks)
	require.Len(t, cl.lines, 200)
	late := 0
	for i, n := range cl.lines {
		require.EqualValues(t, i, n)
		if i < ended && cl.late[i] > 12 { // a lost packet and its repetition take up to 12 ticks
			late++
		}
	}
	require.Less(t, late, ended/20, "%v", cl.late)
	seen := map[uint16]bool{}
	for _, n := range cl.sparks {
		require.False(t, seen[n], "twice")
		seen[n] = true
	}
	require.Greater(t, len(seen), 160)
	require.Less(t, len(seen), 200, "nothing was lost: the test tests nothing")
	require.Zero(t, c.Stats().Malformed)
	require.EqualValues(t, 207+len(seen), c.Stats().Messages)
}

// deaf is an endpoint that reads nothing from a given time on.
type deaf struct {
	transport.Endpoint
	now  func() time.Duration
	from time.Duration
}

func (d *deaf) Recv(ev []transport.Event) int {
	n := d.Endpoint.Recv(ev)
	if d.now() < d.from {
		return n
	}
	kept := 0
	for _, e := range ev[:n] {
		if e.Kind != transport.Data {
			ev[kept] = e
			kept++
		}
	}
	return kept
}

// TestReliableOverflow: a client that receives nothing but keeps sending is
// disconnected with the reason once 256 KiB wait for it. Ticks continue, and the
// other player gets everything.
func TestReliableOverflow(t *testing.T) {
	link := sim.Link{Latency: 40 * time.Millisecond}
	m := simtest.New(1)
	var truth talk
	srv, err := m.Serve(server.Config{Protocol: truth.protocol(), Timeout: time.Hour})
	require.NoError(t, err)
	var good, bad talk
	good.now, bad.now = srv.Tick, srv.Tick
	g, err := m.Join(client.Config{Protocol: good.protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	b, err := m.Join(client.Config{Protocol: bad.protocol(), Timeout: time.Hour}, simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint {
		return &deaf{e, m.Net.Now, 2 * time.Second}
	}})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	queued, refused, ticks, sent := 0, 0, srv.Tick(), uint16(0)
	begun := m.Net.Now()
	for m.Net.Now()-begun < 90*time.Second && srv.Stats().Overflowed == 0 {
		require.LessOrEqual(t, probe.OfServer(srv).Queued(b.View().Player), 256<<10)
		queued = max(queued, probe.OfServer(srv).Queued(b.View().Player))
		before := srv.Stats().MessagesRefused
		truth.line.Broadcast(srv.Frame(), line{N: sent})
		refused += int(srv.Stats().MessagesRefused - before)
		if sent++; sent%8 == 0 {
			_ = truth.chunk.Send(srv.Frame(), b.View().Player, chunk{})
		}
		m.Run(m.Net.Now() + time.Second/30)
	}
	require.EqualValues(t, 1, srv.Stats().Overflowed)
	require.Greater(t, queued, 240<<10)
	require.LessOrEqual(t, refused, 1, "it is dropped at the end of the tick")
	require.InDelta(t, (m.Net.Now()-begun).Seconds()*30, float64(srv.Tick()-ticks), 2, "no tick waited")
	m.Run(m.Net.Now() + time.Second)
	var e *transport.DisconnectError
	require.ErrorAs(t, b.View().Err, &e)
	require.Equal(t, transport.Overflow, e.Code)
	require.Equal(t, []server.Player{srv.Player(g.View().Player)}, srv.Players(nil), "its place is not held")
	require.Len(t, good.lines, int(sent))
	require.Equal(t, client.Playing, g.View().State)
}

// TestMessageOnAnotherChannel: a message is only valid on the channel that it was declared
// for; on another channel it is malformed.
func TestMessageOnAnotherChannel(t *testing.T) {
	net := sim.NewNetwork(5)
	listen := net.Listen()
	var g talk
	g.now = func() foretick.Tick { return 0 }
	c, err := client.New(client.Config{Protocol: g.protocol(), Transport: net.Dial(listen, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	conn := netcode.NewConn(netcode.Config{Channels: []netcode.Channel{{Reliable: true}, {Reliable: true}, {Reliable: true}, {Reliable: true}, {}}})
	var ev [8]transport.Event
	for i := range 20 {
		net.Run(time.Duration(i) * 10 * time.Millisecond)
		c.Step(simtest.Epoch.Add(net.Now()))
		for _, x := range ev[:listen.Recv(ev[:])] {
			if x.Kind != transport.Data || i > 10 {
				continue
			}
			for channel := range uint8(5) {
				require.NoError(t, conn.SendOn(channel, 1, 1, []byte{7, 0})) // line, whose channel is 3
			}
			_, b := conn.Begin(net.Now()).Finish()
			require.NoError(t, listen.Send(x.Peer, b))
		}
	}
	st := c.Stats()
	require.NotZero(t, st.Messages)
	require.EqualValues(t, len(g.lines), st.Messages)
	require.Equal(t, 4*st.Messages, st.Malformed)
}
