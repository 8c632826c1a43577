package simtest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Epoch is the wall-clock time at which every match begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultPictures is the pictures a second that a client draws when Seat says 0.
const DefaultPictures = 60

// Match is a server, its clients and the network between them. Make one with
// [New]; it is not safe for concurrent use.
type Match struct {
	// Net is the simulated network, whose heap drives everything. Schedule what
	// a test does with Net.At.
	Net *sim.Network
	// AroundServer, when set, is called for each of the server's Steps and must
	// call step: for timing it or counting its allocations.
	AroundServer func(step func())

	rand   *rand.Rand
	server *foretick.Server
	listen *sim.Endpoint
	seats  []*seat
	trace  hash.Hash
	buf    []byte
	step   func()
}

type seat struct {
	client   *foretick.Client
	endpoint *sim.Endpoint
	up, down sim.Link
	interval time.Duration
	after    func(foretick.View)
	paused   bool
	gone     bool
	next     time.Duration
}

// New begins a match at virtual time 0.
func New(seed uint64) *Match {
	m := &Match{Net: sim.NewNetwork(seed), rand: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), trace: sha256.New()}
	m.Net.Trace(m.packet)
	m.step = func() { m.server.Step(m.Now()) }
	return m
}

// Rand is the match's own source of chance, drawn from its seed.
func (m *Match) Rand() *rand.Rand { return m.rand }

// Now is the virtual time as the wall clock that server and clients see.
func (m *Match) Now() time.Time { return Epoch.Add(m.Net.Now()) }

// Serve puts the server into the match: cfg.Transport is set by it. It steps
// whenever a tick is due or a packet has arrived.
func (m *Match) Serve(cfg foretick.ServerConfig) (*foretick.Server, error) {
	m.listen = m.Net.Listen()
	cfg.Transport = m.listen
	if cfg.Random == nil {
		cfg.Random = rand.NewChaCha8([32]byte{byte(m.rand.Uint64())})
	}
	onTick := cfg.OnTick
	cfg.OnTick = func(f *foretick.Frame) {
		if onTick != nil {
			onTick(f)
		}
		m.number('T', uint64(f.Tick), m.server.Hash())
	}
	var err error
	if m.server, err = foretick.NewServer(cfg); err != nil {
		return nil, err
	}
	m.Net.At(m.Net.Now(), m.stepServer)
	return m.server, nil
}

// Server is the match's server, nil before Serve.
func (m *Match) Server() *foretick.Server { return m.server }

// stepServer computes what is due and asks to be called for the next tick.
func (m *Match) stepServer() {
	m.serverStep()
	m.Net.At(max(m.server.Next().Sub(Epoch), m.Net.Now()+1), m.stepServer)
}

func (m *Match) serverStep() {
	if m.AroundServer != nil {
		m.AroundServer(m.step)
		return
	}
	m.step()
}

// Seat is a client's place in a match.
type Seat struct {
	// Up and Down are the links to and from the server.
	Up, Down sim.Link
	// NoRedial leaves a lost connection lost. Without it the client's Redial, if
	// it has none, is set to dial the match's server again.
	NoRedial bool
	// Pictures a second that the client steps at. 0 means 60.
	Pictures int
	// After, when set, is called after each of its Steps.
	After func(foretick.View)
	// Wrap, when set, stands between the client and its endpoint, the first and
	// each later one: to watch what passes, or to play a client that lies.
	Wrap func(transport.Endpoint) transport.Endpoint
}

// Join adds a client to the match: cfg.Transport is set by it. Its first Step
// comes within one picture of now, at a moment drawn from the seed.
func (m *Match) Join(cfg foretick.ClientConfig, s Seat) (*foretick.Client, error) {
	if s.Pictures == 0 {
		s.Pictures = DefaultPictures
	}
	st := &seat{endpoint: m.Net.Dial(m.listen, s.Up, s.Down), interval: time.Second / time.Duration(s.Pictures), after: s.After}
	wrap := s.Wrap
	if wrap == nil {
		wrap = func(e transport.Endpoint) transport.Endpoint { return e }
	}
	cfg.Transport = wrap(st.endpoint)
	st.up, st.down = s.Up, s.Down
	if cfg.Redial == nil && !s.NoRedial {
		cfg.Redial = func() (transport.Endpoint, error) {
			st.endpoint = m.Net.Dial(m.listen, st.up, st.down)
			return wrap(st.endpoint), nil
		}
	}
	var err error
	if st.client, err = foretick.NewClient(cfg); err != nil {
		return nil, err
	}
	m.seats = append(m.seats, st)
	st.next = m.Net.Now() + time.Duration(m.rand.Int64N(int64(st.interval)))
	m.Net.At(st.next, func() { m.stepSeat(st) })
	return st.client, nil
}

func (m *Match) stepSeat(st *seat) {
	if st.gone {
		return
	}
	if !st.paused {
		v := st.client.Step(m.Now())
		m.number('C', uint64(v.Tick), st.client.Hash())
		if st.after != nil {
			st.after(v)
		}
		st.gone = v.State == foretick.Closed
	}
	st.next += st.interval
	m.Net.At(st.next, func() { m.stepSeat(st) })
}

// Freeze stops a client's process, as a debugger or a sleeping laptop does, or
// lets it go on.
func (m *Match) Freeze(c *foretick.Client, frozen bool) {
	for _, st := range m.seats {
		if st.client == c {
			st.paused = frozen
		}
	}
}

// Link changes a client's links.
func (m *Match) Link(c *foretick.Client, up, down sim.Link) {
	for _, st := range m.seats {
		if st.client == c {
			st.up, st.down = up, down
			m.Net.SetLink(st.endpoint, up, down)
		}
	}
}

// Run plays until the virtual time is reached.
func (m *Match) Run(until time.Duration) {
	for {
		t, ok := m.Net.Next()
		if !ok || t > until {
			break
		}
		m.Net.Run(t)
		m.wake()
	}
	m.Net.Run(until)
}

// wake lets the server take in what has arrived, as its loop would.
func (m *Match) wake() {
	if m.listen == nil || m.server == nil {
		return
	}
	select {
	case <-m.listen.Ready():
		m.serverStep()
	default:
	}
}

// Trace is a digest of every packet sent and every tick's state so far. Equal
// digests mean equal matches.
func (m *Match) Trace() [32]byte {
	var sum [32]byte
	m.trace.Sum(sum[:0])
	return sum
}

func (m *Match) packet(now time.Duration, from, to int, b []byte) {
	m.number('P', uint64(now), uint64(from)<<32|uint64(uint32(to)))
	m.trace.Write(b)
}

func (m *Match) number(what byte, a, b uint64) {
	m.buf = append(m.buf[:0], what)
	m.buf = binary.LittleEndian.AppendUint64(m.buf, a)
	m.buf = binary.LittleEndian.AppendUint64(m.buf, b)
	m.trace.Write(m.buf)
}

// Audit compares what a client shows with what the server may show it; see
// [foretick.Audit]. The match should be at rest.
func (m *Match) Audit(c *foretick.Client) foretick.AuditReport {
	return foretick.Audit(m.server, c.View().Me, c)
}
