package simtest_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// bulletin is a message of the match, with a number by which a lost one is noticed.
type bulletin struct {
	N uint32
	T [4]uint32
}

// victims is a match of honest players that a rogue joins.
type victims struct {
	*simtest.Match
	srv     *server.Server
	hash    uint64
	clients []*client.Client
	heard   []uint32 // number of the newest bulletin, by client
	lost    int
	sent    uint32
	took    []time.Duration // times of the server's steps
	queued  int             // most bytes that waited for the rogue
}

// bulletins returns a function that declares the match's messages. A client calls read for each.
func bulletins(m *foretick.Message[bulletin], read func(bulletin)) func(*foretick.Protocol) {
	return func(p *foretick.Protocol) {
		m.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, b bulletin) { read(b) })
	}
}

func newVictims(t *testing.T) *victims {
	t.Helper()
	v := &victims{Match: simtest.New(31), heard: make([]uint32, 3)}
	g := &mill{}
	var m foretick.Message[bulletin]
	p := g.protocol(bulletins(&m, nil), func(p *foretick.Protocol) {
		p.Server("tell", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%3 == 0 {
				v.sent++
				m.Broadcast(f, bulletin{N: v.sent})
			}
		}, ecs.Once())
	})
	v.AroundServer = func(step func()) {
		begin := time.Now()
		step()
		v.took = append(v.took, time.Since(begin))
		for _, player := range v.srv.Players(nil) {
			st, _ := v.srv.PlayerStats(player)
			v.queued = max(v.queued, st.Queued)
		}
	}
	v.srv = &server.Server{}
	srv, err := v.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	v.srv, v.hash = srv, p.Hash()
	for i := range v.heard {
		cg := &mill{}
		var told foretick.Message[bulletin]
		c, err := v.Join(client.Config{
			Protocol: cg.protocol(bulletins(&told, func(b bulletin) {
				if v.heard[i] != 0 && b.N != v.heard[i]+1 {
					v.lost++
				}
				v.heard[i] = b.N
			}), func(p *foretick.Protocol) { p.Server("tell", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once()) }),
			Sample: client.Sample(&cg.cmd, func(client.View) lever { return lever{Pull: 1} }),
		}, simtest.Seat{Up: honestLink, Down: honestLink})
		require.NoError(t, err)
		v.clients = append(v.clients, c)
	}
	return v
}

var honestLink = sim.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05, Duplicate: 0.05}

// let adds a rogue to the match, which takes rate steps a second.
func (v *victims) let(c *rogue, rate int, link sim.Link) {
	c.endpoint, c.hash = v.Dial(link, link), v.hash
	var next func()
	next = func() {
		c.stepRogue(v.Net.Now())
		v.Net.At(v.Net.Now()+time.Second/time.Duration(rate), next)
	}
	v.Net.At(v.Net.Now()+time.Millisecond, next)
}

// unharmed checks that the honest players noticed nothing.
func (v *victims) unharmed(t *testing.T, name string, quiet []time.Duration) {
	t.Helper()
	for i, c := range v.clients {
		require.Equal(t, client.Playing, c.View().State, name)
		require.Greater(t, v.heard[i], v.sent-60, name)
	}
	require.Zero(t, v.lost, name)
	require.Zero(t, v.srv.Stats().Resumed, name)
	before, during := p99(quiet), p99(v.took)
	t.Logf("%-34s server step p99 %v before, %v with the rogue; most queued %d B", name, before, during, v.queued)
	require.Less(t, during, before+10*time.Millisecond, name) // ten times the limit
}

func p99(d []time.Duration) time.Duration {
	d = slices.SortedFunc(slices.Values(d), cmp.Compare)
	return d[len(d)*99/100]
}

// stream returns a body of the reliable stream: entries from id first on, each
// with a mark and of this size.
func stream(first uint16, marks []byte, size int) []byte {
	b := binary.LittleEndian.AppendUint16(nil, first)
	for _, mark := range marks {
		b = append(b, mark) // gap 0
		if mark&1 != 0 {
			b = append(b, 7, 0) // kind, tick
		}
		b = binary.AppendUvarint(b, uint64(size))
		b = append(b, make([]byte, size)...)
	}
	return b
}

// addRaw appends a message to a packet without a check, and seals the packet.
func addRaw(b []byte, kind byte, body []byte) []byte {
	b = append(b, kind)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return packettest.Seal(append(b, body...))
}

const streamType, first, last = 1, 1, 2

// TestMaliciousClients: a client with any kind of malice is dropped, and harms nobody else.
func TestMaliciousClients(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ids := uint16(0)
	for _, row := range []struct {
		name string
		new  func() *rogue
		rate int
		code transport.Code
		most time.Duration // from joining to being dropped
	}{
		{"acks for unsent packets", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte { return withAck(b, func(a uint16) uint16 { return a + 1000 }) }}
		}, 30, transport.Protocol, time.Second},
		{"extreme sequence", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte {
				binary.LittleEndian.PutUint16(b[5:], binary.LittleEndian.Uint16(b[5:])+30_000)
				return packettest.Seal(b)
			}}
		}, 30, transport.Protocol, time.Second},
		{"extreme ack", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte {
				return withAck(b, func(a uint16) uint16 { return a + uint16(random.IntN(32_000)) + 300 })
			}}
		}, 30, transport.Protocol, time.Second},
		{"extreme baseline", func() *rogue {
			return &rogue{commands: func(c *rogue) [][]byte {
				return [][]byte{c.body(1<<32-1, 1, make([]byte, c.welcome.CommandSize))}
			}}
		}, 30, transport.Protocol, time.Second},
		{"fragments that overlap", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte {
				return addRaw(b, streamType, stream(0, []byte{first, first, last}, 9))
			}}
		}, 30, transport.Protocol, time.Second},
		{"fragments that never end", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte {
				marks := []byte{0, 0, 0}
				if ids == 0 {
					marks[0] = first
				}
				ids += 3
				return addRaw(b, streamType, stream(ids-3, marks, 256))
			}}
		}, 120, transport.Protocol, 2 * time.Second}, // the fragments need time to become longer than any message
		{"the most messages a packet holds", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte {
				for len(b)+2 < 1180 {
					b = append(b, byte(netcode.MessageReady), 0)
				}
				return packettest.Seal(b)
			}}
		}, 30, transport.Protocol, time.Second},
		{"10k inputs a second", func() *rogue {
			return &rogue{times: 6, commands: func(c *rogue) [][]byte {
				return [][]byte{c.body(c.newest+400+netcode.Tick(random.IntN(1000)), 60, make([]byte, c.welcome.CommandSize))}
			}}
		}, 30, transport.Protocol, time.Second},
		{"a packet each millisecond", func() *rogue { return &rogue{} }, 1000, transport.Protocol, time.Second},
		{"never acks", func() *rogue {
			return &rogue{mangle: func(_ *rogue, b []byte) []byte { return withAck(b, nil) }}
		}, 30, transport.Timeout, 6 * time.Second},
		{"never reads", func() *rogue { return &rogue{deaf: func([]byte) bool { return true }} }, 30, transport.Timeout, 6 * time.Second},
		{"withholds one ack for ever", func() *rogue {
			kept, held := uint16(0), false
			return &rogue{deaf: func(b []byte) (drop bool) {
				_, _, messages := packettest.Fields(b)
				packettest.Each(messages, func(kind netcode.MessageType, body []byte) {
					if kind == streamType {
						id := binary.LittleEndian.Uint16(body)
						if !held {
							kept, held = id, true
						}
						drop = drop || id == kept
					}
				})
				return drop
			}}
		}, 30, transport.Timeout, 6 * time.Second},
		{"input out of range", func() *rogue {
			return &rogue{commands: func(c *rogue) [][]byte { return [][]byte{c.body(c.newest+6, 3, []byte{0xff, 1, 0, 0, 0, 0})} }}
		}, 30, transport.Protocol, time.Second},
		{"input that is no number", func() *rogue {
			nan := binary.LittleEndian.AppendUint64(nil, 128|uint64(math.Float32bits(float32(math.NaN())))<<10)
			return &rogue{commands: func(c *rogue) [][]byte { return [][]byte{c.body(c.newest+6, 3, nan[:6])} }}
		}, 30, transport.Protocol, time.Second},
	} {
		v := newVictims(t)
		v.Run(4 * time.Second)
		quiet := v.took
		v.took = nil
		c := row.new()
		ids = 0
		v.let(c, row.rate, sim.Link{Latency: 10 * time.Millisecond})
		var joined time.Duration
		for now := 4 * time.Second; now < 14*time.Second && c.gone == nil; now += 10 * time.Millisecond {
			v.Run(now)
			if joined == 0 && c.joined() {
				joined = now
			}
		}
		v.Run(v.Net.Now() + 3*time.Second)
		require.NotZero(t, joined, row.name)
		require.NotNil(t, c.gone, row.name)
		require.Equal(t, row.code, c.gone.Code, "%s: %s", row.name, c.gone.Reason)
		require.NotEmpty(t, c.gone.Reason, row.name)
		require.LessOrEqual(t, c.goneAt-joined, row.most+50*time.Millisecond, row.name)
		require.LessOrEqual(t, v.queued, 256<<10, row.name)
		v.unharmed(t, fmt.Sprintf("%s (%s)", row.name, c.gone.Reason), quiet)
	}
}

// TestDamagedPacketsAreNobodysFault: damaged packets are never blamed on a peer,
// whatever their sender and number.
func TestDamagedPacketsAreNobodysFault(t *testing.T) {
	v := newVictims(t)
	v.Run(4 * time.Second)
	n := 0
	c := &rogue{times: 10, mangle: func(_ *rogue, b []byte) []byte {
		if n++; n%10 != 0 {
			b[len(b)-1] ^= 0x55
		}
		return b
	}}
	v.let(c, 30, sim.Link{Latency: 10 * time.Millisecond})
	v.Run(14 * time.Second)
	require.Nil(t, c.gone)
	require.True(t, c.joined())
	require.Greater(t, n, 2500)
	v.unharmed(t, "damaged packets", v.took)
}

// TestRogueThatBehaves: a rogue without malice stays, so the others are dropped for
// their malice.
func TestRogueThatBehaves(t *testing.T) {
	v := newVictims(t)
	v.Run(time.Second)
	c := &rogue{}
	v.let(c, 60, sim.Hell)
	v.Run(40 * time.Second)
	require.Nil(t, c.gone)
	require.True(t, c.joined())
	require.Zero(t, v.srv.Stats().Offenders)
	v.unharmed(t, "an honest one", v.took)
}
