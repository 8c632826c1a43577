package simtest_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// forger sits between a client and its endpoint, and adds forged snapshots: the
// attack of someone who reads a plain connection and injects.
type forger struct {
	transport.Endpoint
	// ticks are the ticks of the snapshots to forge now. first are those of the snapshots to
	// forge before the first honest one.
	ticks, first []netcode.Tick
	seq          uint16 // number of the server's newest packet
	queue        []transport.Event
	forged       int
}

// empty is a snapshot of a tick with no entity in it.
func (f *forger) empty(t netcode.Tick) []byte {
	source := snapshot.NewSource(schema.NewRegistry(), snapshot.SourceConfig{})
	var sent snapshot.Sent
	source.Begin(t)
	source.End()
	return source.NewSender(1, snapshot.SenderConfig{}).Append(netcode.SnapshotHeader{Bare: true}.Append(nil), 1000, &sent)
}

// packet returns a datagram with a forged snapshot after other messages.
func (f *forger) packet(peer transport.PeerID, ahead int, t netcode.Tick, before []byte) transport.Event {
	f.forged++
	b := binary.LittleEndian.AppendUint16(make([]byte, 5), f.seq+uint16(ahead))
	b = append(b, before...)
	body := f.empty(t)
	b = binary.AppendUvarint(append(b, byte(netcode.MessageSnapshot)), uint64(len(body)))
	return transport.Event{Kind: transport.Data, Peer: peer, Data: packettest.Seal(append(b, body...))}
}

func (f *forger) Recv(ev []transport.Event) int {
	var in [16]transport.Event
	for n := f.Endpoint.Recv(in[:]); n > 0; n = f.Endpoint.Recv(in[:]) {
		for _, e := range in[:n] {
			e.Data = append([]byte{}, e.Data...)
			f.take(e)
		}
	}
	n := copy(ev, f.queue)
	f.queue = f.queue[n:]
	return n
}

func (f *forger) take(e transport.Event) {
	if e.Kind == transport.Data && len(e.Data) >= 7 {
		seq, _, messages := packettest.Fields(e.Data)
		if s := binary.LittleEndian.Uint16(seq); netcode.Newer(s, f.seq) {
			f.seq = s
		}
		packettest.Each(messages, func(t netcode.MessageType, body []byte) {
			if t != netcode.MessageWelcome {
				return
			}
			w := append(binary.AppendUvarint([]byte{byte(t)}, uint64(len(body))), body...)
			for i, tick := range f.first {
				f.queue = append(f.queue, f.packet(e.Peer, i+1, tick, w))
			}
			f.first = nil
		})
		for i, tick := range f.ticks {
			f.queue = append(f.queue, f.packet(e.Peer, i+1, tick, nil))
		}
		f.ticks = nil
	}
	f.queue = append(f.queue, e)
}

// A forged snapshot of a tick that the server cannot have reached has no lasting effect: within
// two seconds the client is in step, on the same connection.
func TestForgedTick(t *testing.T) {
	const half = 1 << 31
	for _, c := range []struct {
		name string
		off  []int64 // for each packet of a salvo, the distance of its tick from the server's tick
		far  bool    // no packet is read, so the client does not notice the salvo
	}{
		{"half the circle", []int64{half}, true},
		{"almost half the circle", []int64{half - 1}, true},
		{"just past half the circle, which is back", []int64{half + 1}, true},
		{"a million", []int64{1 << 20}, true},
		{"a thousand", []int64{1000}, true},
		{"a second", []int64{30}, false},
		{"a thousand back", []int64{-1000}, false},
		{"a million back", []int64{-1 << 20}, true},
		{"a thousand, five times", []int64{1000, 1001, 1002, 1003, 1004}, true},
		{"a million, forty times", repeated(1<<20, 40), true},
		{"half the circle and back", []int64{half, half - 1, -half + 1, 1 << 30, 3 << 30}, true},
		{"where short ticks end", []int64{1 << 14, 2 << 14, 3 << 14}, true},
	} {
		for _, how := range []struct {
			name   string
			times  int // salvos in mid-play, 35 ms from one to the next
			before bool
			loss   float64
		}{{"in mid-play", 1, false, 0}, {"at first", 0, true, 0}, {"again and again", 60, true, 0}, {"again and again, with loss", 60, true, 0.05}} {
			if len(c.off)*how.times > 600 || how.times > 1 && !c.far {
				continue // a forgery that is believed hides genuine ones for that time
			}
			t.Run(c.name+", "+how.name, func(t *testing.T) {
				m, g := simtest.New(9), &game{}
				lost := 0
				p := g.protocol()
				p.OnDisconnect(func(*foretick.ServerFrame, foretick.PlayerID) { lost++ })
				srv, err := m.Serve(server.Config{Protocol: p})
				require.NoError(t, err)
				f, cg := &forger{}, &game{}
				ticks := func() (out []netcode.Tick) {
					for _, off := range c.off {
						out = append(out, netcode.Tick(int64(srv.Tick())+off))
					}
					return out
				}
				m.Run(time.Second)
				if how.before {
					f.first = ticks()
				}
				link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: how.loss}
				worst, calm, rest := int32(0), time.Duration(0), false
				cl, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
					if rest {
						return move{}
					}
					return move{Y: float32(v.Tick/8%2) - 0.5}
				})}, simtest.Seat{Up: link, Down: link, Wrap: func(e transport.Endpoint) transport.Endpoint {
					f.Endpoint = e
					return f
				}, After: func(v client.View) {
					require.NotEqual(t, client.Closed, v.State)
					require.NotEqual(t, client.Resuming, v.State)
					if ahead := int32(v.Tick - srv.Tick()); calm > 0 && m.Net.Now() > calm {
						worst = max(worst, ahead, -ahead)
					}
				}})
				require.NoError(t, err)
				if how.before {
					calm = m.Net.Now() + 2*time.Second
					m.Run(calm)
				} else {
					m.Run(m.Net.Now() + 4*time.Second)
				}
				require.Empty(t, f.first)
				start := cl.Stats()
				if c.far && !how.before {
					calm = m.Net.Now()
				}
				for range how.times {
					f.ticks = ticks()
					m.Run(m.Net.Now() + 35*time.Millisecond)
				}
				if calm == 0 {
					calm = m.Net.Now() + 2*time.Second
				}
				m.Run(max(calm, m.Net.Now()))
				before, taken := cl.Stats(), srv.Stats()
				m.Run(m.Net.Now() + 2*time.Second)
				after, st := cl.Stats(), srv.Stats()

				require.NotZero(t, f.forged)
				require.Equal(t, client.Playing, cl.View().State)
				require.Less(t, worst, int32(15), "in step")
				require.Zero(t, lost)
				require.EqualValues(t, 1, st.Joined)
				require.Zero(t, st.Resumed)
				if how.loss == 0 {
					require.GreaterOrEqual(t, after.Snapshots-before.Snapshots, uint64(58), "it is shown the match")
					require.GreaterOrEqual(t, st.InputsTaken-taken.InputsTaken, uint64(58), "and heard")
					require.Equal(t, before.Malformed, after.Malformed)
				}
				if c.far {
					require.Equal(t, start.HardResets, after.HardResets)
					require.NotZero(t, after.SnapshotsFar)
				}
				rest = true
				m.Run(m.Net.Now() + 2*time.Second)
				require.Zero(t, m.Audit(cl).Differences, m.Audit(cl).First)
			})
		}
	}
}

func repeated(v int64, n int) (out []int64) {
	for range n {
		out = append(out, v)
	}
	return out
}
