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

// A player loses its connection in the middle of streams of numbered messages, reconnects
// in time, and loses it again while the waiting messages arrive. It gets each message once and
// in the order of its channel, including those sent while it was away.
func TestReliableMessagesSurviveALostConnection(t *testing.T) {
	for _, away := range []time.Duration{6 * time.Second, 9300 * time.Millisecond, 20 * time.Second} {
		link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.05}
		m, delivery := simtest.New(uint64(away)), &simtest.Delivery{}
		m.Watch(delivery)
		var truth talk
		srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
		require.NoError(t, err)
		cl := talk{now: srv.Tick}
		c, err := m.Join(client.Config{Protocol: cl.protocol()}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.Run(32 * time.Second) // a place is held only as long as its player had played
		player := c.View().Player
		lines, chunks, queued := uint16(0), uint16(0), 0
		play := func(length time.Duration) {
			for end := m.Net.Now() + length; m.Net.Now() < end; m.Run(m.Net.Now() + 100*time.Millisecond) {
				if lines%32 == 0 {
					truth.chunk.Broadcast(srv.Frame(), chunk{N: chunks})
					chunks++
				}
				require.NoError(t, truth.line.Send(srv.Frame(), player, line{N: lines}))
				require.NoError(t, truth.spark.Send(srv.Frame(), player, spark{N: lines}))
				lines++
				queued = max(queued, probe.OfServer(srv).Queued(player))
			}
		}
		play(3 * time.Second)
		for i := range 3 {
			dead := sim.Link{Loss: 1}
			m.Link(c, link, dead) // only the client's acknowledgements arrive
			if i == 1 {
				m.Link(c, dead, link) // only the server's packets arrive
			}
			play(200 * time.Millisecond)
			m.Link(c, dead, dead)
			play(away)
			require.Equal(t, client.Resuming, c.View().State)
			m.Link(c, link, link)
			for c.View().State != client.Playing {
				play(100 * time.Millisecond)
			}
			play(time.Duration(i) * 300 * time.Millisecond)
		}
		m.Run(m.Net.Now() + 10*time.Second)
		require.EqualValues(t, 3, srv.Stats().Resumed)
		require.EqualValues(t, 3, c.Stats().Resumed)
		require.EqualValues(t, 4, c.Stats().Connections)
		require.Equal(t, player, c.View().Player)
		require.Len(t, cl.lines, int(lines))
		for i, n := range cl.lines {
			require.EqualValues(t, i, n)
		}
		require.Len(t, cl.chunks, int(chunks))
		for i, n := range cl.chunks {
			require.EqualValues(t, i, n)
		}
		require.Less(t, len(cl.sparks), int(lines))
		require.Greater(t, queued, 256*10*5)
		require.Zero(t, c.Stats().Malformed)
		require.Zero(t, srv.Stats().Malformed)
		require.Zero(t, probe.OfServer(srv).Queued(player))
		require.NoError(t, m.Err())
		require.NoError(t, m.Quiet())
		require.EqualValues(t, lines+chunks, delivery.Messages)
	}
}

// A place whose absent player has too many messages waiting is released: the limit
// is 256 KiB. A player that then returns with its old token is a new player, and
// counts from 0.
func TestReliableOverflowWhileAway(t *testing.T) {
	link, dead := sim.Link{Latency: 40 * time.Millisecond}, sim.Link{Loss: 1}
	m := simtest.New(1)
	var truth talk
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	cl := talk{now: srv.Tick}
	c, err := m.Join(client.Config{Protocol: cl.protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	player, n := c.View().Player, uint16(0)
	require.NoError(t, truth.line.Send(srv.Frame(), player, line{N: 1000}))
	m.Run(3 * time.Second)
	m.Link(c, dead, dead)
	m.Run(9 * time.Second)
	most := 0
	for srv.Stats().Overflowed == 0 {
		truth.line.Broadcast(srv.Frame(), line{N: n})
		n++
		require.LessOrEqual(t, n, uint16(1024+64))
		most = max(most, probe.OfServer(srv).Queued(player))
		if n%64 == 0 {
			m.Run(m.Net.Now() + time.Second/30)
		}
	}
	require.LessOrEqual(t, most, 256<<10)
	require.Greater(t, most, 240<<10)
	require.Error(t, truth.line.Send(srv.Frame(), player, line{}), "nobody is there")
	require.Empty(t, srv.Players(nil))
	m.Run(m.Net.Now() + time.Second/30)
	require.Zero(t, srv.Stats().Joined-srv.Stats().Left)
	m.Link(c, link, link)
	m.Run(m.Net.Now() + 8*time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Zero(t, c.Stats().Resumed)
	for i := range uint16(3) {
		require.NoError(t, truth.line.Send(srv.Frame(), c.View().Player, line{N: 2000 + i}))
	}
	m.Run(m.Net.Now() + time.Second)
	m.Link(c, dead, dead)
	require.NoError(t, truth.line.Send(srv.Frame(), c.View().Player, line{N: 2003}))
	m.Run(m.Net.Now() + 7*time.Second)
	m.Link(c, link, link)
	m.Run(m.Net.Now() + 8*time.Second)
	require.EqualValues(t, 1, c.Stats().Resumed)
	require.Equal(t, []uint16{1000, 2000, 2001, 2002, 2003}, cl.lines)
	require.EqualValues(t, 1, srv.Stats().Overflowed)
}

// The server believes the counts of received messages in a client's hello only if they are
// possible. Otherwise it sends all messages that the client is not known to have.
func TestReliableCountsOfAClientThatComesBack(t *testing.T) {
	for name, c := range map[string]struct {
		taken     []uint32
		strange   bool // it reconnects with another token
		want      []uint16
		malformed uint64
	}{
		"as it was":           {taken: []uint32{0, 0, 0, 2, 0}, want: []uint16{2}},
		"too many":            {taken: []uint32{0, 0, 0, 4, 0}, want: []uint16{0, 1, 2}, malformed: 1},
		"too many everywhere": {taken: []uint32{9, 9, 9, 1<<32 - 1, 9}, want: []uint16{0, 1, 2}, malformed: 3},
		"of other channels":   {taken: []uint32{0, 0, 0, 2}, want: []uint16{0, 1, 2}},
		"nothing":             {want: []uint16{0, 1, 2}},
		"a stranger":          {taken: []uint32{0, 0, 0, 2, 0}, strange: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(1)
			var truth talk
			p := truth.protocol()
			srv, err := m.Serve(server.Config{Protocol: p})
			require.NoError(t, err)
			channels := []netcode.Channel{{Reliable: true}, {Reliable: true}, {Reliable: true}, {Reliable: true}, {}}
			visit := func(hello netcode.Hello, length time.Duration) (w netcode.Welcome, lines []uint16) {
				e, conn := m.Dial(sim.LAN, sim.LAN), (*netcode.Conn)(nil)
				hello.Version, hello.Protocol = netcode.Version, p.Hash()
				var ev [16]transport.Event
				var peer transport.PeerID
				for end := m.Net.Now() + length; m.Net.Now() < end; m.Run(m.Net.Now() + 20*time.Millisecond) {
					for _, x := range ev[:e.Recv(ev[:])] {
						switch x.Kind {
						case transport.Connected:
							peer, conn = x.Peer, netcode.NewConn(netcode.Config{MTU: 1180, Channels: channels})
						case transport.Data:
							_ = conn.Receive(m.Net.Now(), x.Data)
							for msg, ok := conn.NextMessage(); ok; msg, ok = conn.NextMessage() {
								if got, err := netcode.ParseWelcome(msg.Body); msg.Type == netcode.MessageWelcome && err == nil {
									w = got
								}
							}
							for r, ok := conn.NextReliable(); ok; r, ok = conn.NextReliable() {
								lines = append(lines, uint16(r.Payload[0]))
							}
						}
					}
					if conn != nil {
						pk := conn.Begin(m.Net.Now())
						if w.Owner == 0 {
							pk.Message(netcode.MessageHello, hello.Append(nil))
						} else { // without commands it would not have played, and the server would hold no place for it
							s := netcode.NewCommandSender(int(w.CommandSize), netcode.CommandConfig{})
							s.Push(netcode.Command{Tick: srv.Tick() + 3, Data: make([]byte, w.CommandSize)})
							pk.Message(netcode.MessageCommands, s.Append(nil, 500))
						}
						_, b := pk.Finish()
						_ = e.Send(peer, b)
						e.Flush()
					}
				}
				return w, lines
			}
			m.Run(time.Second)
			first, lines := visit(netcode.Hello{}, 10*time.Second)
			require.NotZero(t, first.Owner)
			require.Empty(t, lines)
			for i := range uint16(3) {
				require.NoError(t, truth.line.Send(srv.Frame(), foretick.PlayerID(first.Owner), line{N: i}))
			}
			m.Run(m.Net.Now() + 7*time.Second)
			before := srv.Stats()
			if c.strange {
				first.Resume[0]++
			}
			again, lines := visit(netcode.Hello{Resume: first.Resume, Taken: c.taken}, time.Second)
			require.Equal(t, c.want, lines)
			require.Equal(t, c.strange, again.Owner != first.Owner)
			require.Equal(t, c.malformed, srv.Stats().Malformed-before.Malformed)
		})
	}
}
