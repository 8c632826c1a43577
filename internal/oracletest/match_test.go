package oracletest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

const ms = time.Millisecond

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// machine is the architecture that both ends report, so that packets are the same on all machines.
const machine = "oracle"

// plan describes one of the matches.
type plan struct {
	name    string
	seed    uint64
	game    func(note noter) game
	rate    int           // ticks a second; 0: 30
	play    time.Duration // length of the match; 0: 9 s
	players int
	start   foretick.Tick // the tick before the first one; 0: the match begins with tick 1
	sync    int           // ticks that both ends run again to compare; 0: none
	link    sim.Link
	frames  int // frames a second on clients; 0: 60
	server  func(cfg *serverConfig)
	client  func(n int, cfg *clientConfig)
	other   func(n int) func(note noter) game // returns the game of a client of another build; nil: all clients have the same build
	address func(end int) string              // returns the address that the server sees; nil: the network's address
	pace    func(m *match) time.Duration
	acts    []act
	must    func(m *match) error // returns an error if too little happened in the match
}

// act is an action at a time of a match.
type act struct {
	at time.Duration
	do func(m *match) error
}

// named gives peers identities and addresses.
type named struct {
	*sim.Endpoint
	ids  map[string]string // identities by the network's addresses
	plan *plan
}

// Info implements transport.Endpoint.
func (n *named) Info(p transport.PeerID, out *transport.Info) bool {
	ok := n.Endpoint.Info(p, out)
	out.Identity = []byte(n.ids[out.Addr])
	if n.plan.address != nil && ok {
		var end int
		if _, err := fmt.Sscanf(out.Addr, sim.Addr(0)[:len(sim.Addr(0))-1]+"%d", &end); err == nil {
			out.Addr = n.plan.address(end)
		}
	}
	return ok
}

// seat is a client of a match.
type seat struct {
	n      int // number of the client, by which its input differs
	client *clientEnd
	game   game
	end    *sim.Endpoint
	link   sim.Link
	gone   bool
	view   client.View
	counts map[string]int // calls of the client's handlers
}

// match is a match in virtual time.
type match struct {
	*plan
	net    *sim.Network
	listen *named
	srv    *serverEnd
	hosted game
	rec    *flight.Recorder
	sums   *sums
	seats  []*seat
	counts map[string]int // calls of the server's handlers
	told   map[string]int // counts of what an operator saw
	ports  []*trace.Port  // ports of the traces that an operator reads
	rand   *rand.Rand
	err    error
}

func (p *plan) ticks() int {
	if p.rate == 0 {
		return 30
	}
	return p.rate
}

func (p *plan) length() time.Duration {
	if p.play == 0 {
		return 9 * time.Second
	}
	return p.play
}

// host makes the server of a match, live or in a replay.
func (p *plan) host(cfg serverConfig, s *sums, counts map[string]int) (*serverEnd, game, error) {
	g := p.game(func(what string, numbers ...uint64) {
		counts[what]++
		s.add(worlds, []byte(what), numbers...)
	})
	cfg.Protocol = g.protocol()
	cfg.Recorder = tapped{cfg.Recorder, s}
	cfg.OnDrain = func(f *foretick.ServerFrame, reason string) {
		counts["drain"]++
		s.add(worlds, []byte(reason), uint64(f.Tick))
		if heal := g.call("heal"); heal != nil {
			heal(f)
		}
	}
	srv, err := newServer(cfg)
	if err != nil {
		return nil, nil, err
	}
	if p.start > 0 {
		probe.OfServer(srv).StartAt(p.start)
	}
	if p.sync > 0 {
		if err := probe.OfServer(srv).SyncTest(p.sync, func(d probe.Desync) {
			counts["desync"]++
			s.add(worlds, fmt.Append(nil, d))
		}); err != nil {
			return nil, nil, err
		}
	}
	g.serves(srv)
	g.level(srv.Frame(), nil)
	return srv, g, nil
}

// live plays a match to its end.
func (p *plan) live() (*match, error) {
	m := &match{plan: p, net: sim.NewNetwork(p.seed), sums: newSums(p.ticks()), counts: map[string]int{}, told: map[string]int{}, rand: rand.New(rand.NewPCG(p.seed, 41))}
	m.listen = &named{Endpoint: m.net.Listen(), ids: map[string]string{}, plan: p}
	var err error
	if m.rec, err = flight.New(flight.Config{Name: p.name}); err != nil {
		return nil, err
	}
	cfg := serverConfig{Transport: m.listen, Recorder: m.rec, Random: rand.NewChaCha8([32]byte{byte(p.seed), 1})}
	if p.server != nil {
		p.server(&cfg)
	}
	if m.srv, m.hosted, err = p.host(cfg, m.sums, m.counts); err != nil {
		return nil, err
	}
	probe.OfServer(m.srv).SetArchitecture(machine)
	m.stepServer()
	for n := range p.players {
		m.net.At(time.Duration(n)*150*ms, func() { m.fail(m.join(n, nil)) })
	}
	for _, a := range p.acts {
		m.net.At(a.at, func() { m.fail(a.do(m)) })
	}
	for m.err == nil {
		t, ok := m.net.Next()
		if !ok || t > p.length() {
			break
		}
		m.net.Run(t)
		if p.pace == nil {
			select {
			case <-m.listen.Ready():
				m.srv.Step(m.now())
			default:
			}
		}
	}
	if m.err == nil && p.must != nil {
		if err := p.must(m); err != nil {
			m.err = fmt.Errorf("match %q shows too little: %w", p.name, err)
		}
	}
	return m, m.err
}

func (m *match) fail(err error) {
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("match %q at %v: %w", m.name, m.net.Now(), err)
	}
}

func (m *match) now() time.Time { return epoch.Add(m.net.Now()) }

// stepServer steps the server now, and then whenever a tick is due, or at the plan's own times.
func (m *match) stepServer() {
	m.srv.Step(m.now())
	next := max(m.srv.Next().Sub(epoch), m.net.Now()+1)
	if m.pace != nil {
		next = m.net.Now() + m.pace(m)
	}
	if next < m.length()+time.Minute {
		m.net.At(next, m.stepServer)
	}
}

// dial connects a seat, or connects it again.
func (m *match) dial(st *seat) transport.Endpoint {
	st.end = m.net.Dial(m.listen.Endpoint, st.link, st.link)
	m.listen.ids[sim.Addr(st.end.ID())] = fmt.Sprint("guest ", st.n)
	return &tap{Endpoint: st.end, sums: m.sums, kind: up, number: uint64(st.n)}
}

// join adds a client.
func (m *match) join(n int, token []byte) error {
	return m.enter(n, func(cfg *clientConfig) { cfg.ResumeToken = token })
}

// observe adds a client that observes. The first byte of data is the kind of view that it asks for.
func (m *match) observe(n int, data ...byte) error {
	return m.enter(n, func(cfg *clientConfig) { cfg.Observe, cfg.Sample = &client.Observe{Data: data}, nil })
}

func (m *match) enter(n int, set func(cfg *clientConfig)) error {
	st := &seat{n: n, link: m.link, counts: map[string]int{}}
	note := func(what string, numbers ...uint64) {
		st.counts[what]++
		m.sums.add(screens, []byte(what), append(numbers, uint64(n))...)
	}
	begin := m.game
	if m.other != nil {
		begin = m.other(n)
	}
	st.game = begin(note)
	cfg := clientConfig{Protocol: st.game.protocol(), Sample: st.game.sampler(m.seed<<8 + uint64(n)),
		Random:     rand.NewChaCha8([32]byte{byte(n), byte(m.seed), 2}),
		Redial:     func() (transport.Endpoint, error) { return m.dial(st), nil },
		OnSession:  func(s client.Session) { note("session "+s.Kind.String()+" "+s.Text, uint64(s.Code)) },
		OnRefused:  func(t foretick.Tick, why string) { note("refused "+why, uint64(t)) },
		OnSnapshot: func(t foretick.Tick) { note("snapshot", uint64(t)) },
		OnMisprediction: func(w prediction.Misprediction) {
			note("correction "+w.Prefab+w.Component+w.Field+w.System+w.Cause.String(), uint64(w.Tick), w.Entity, uint64(w.CauseTick), math.Float64bits(w.Predicted), math.Float64bits(w.Actual))
		},
	}
	if m.client != nil {
		m.client(n, &cfg)
	}
	set(&cfg)
	cfg.Transport = m.dial(st)
	var err error
	if st.client, err = newClient(cfg); err != nil {
		return err
	}
	probe.OfClient(st.client).SetArchitecture(machine)
	if m.sync > 0 {
		err = probe.OfClient(st.client).SyncTest(m.sync, func(d probe.Desync) { note("desync", uint64(d.Tick), uint64(d.Entity)) })
	}
	m.seats = append(m.seats, st)
	m.step(st)
	return err
}

// step steps a client, and then once a frame.
func (m *match) step(st *seat) {
	if st.gone {
		return
	}
	v := st.client.Step(m.now())
	st.view = v
	var b []byte
	for _, n := range []uint64{uint64(v.State), uint64(v.Player), uint64(v.Tick), uint64(v.RenderTick), uint64(math.Float32bits(v.Fraction)), uint64(math.Float32bits(v.RenderFraction)), uint64(v.InputDelay), uint64(v.Lead), probe.OfClient(st.client).Hash()} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if v.Err != nil {
		b = append(b, v.Err.Error()...)
	}
	m.sums.add(screens, b, uint64(st.n))
	if v.State == client.Closed {
		st.gone = true
		return
	}
	frames := m.frames
	if frames == 0 {
		frames = 60
	}
	m.net.At(m.net.Now()+time.Second/time.Duration(frames), func() { m.step(st) })
}

// seat returns the newest client with a number.
func (m *match) seat(n int) *seat {
	for _, st := range slices.Backward(m.seats) {
		if st.n == n {
			return st
		}
	}
	m.fail(fmt.Errorf("there is no client %d", n))
	return m.seats[0]
}

// kill ends a client's process without notice.
func (m *match) kill(n int) *seat {
	st := m.seat(n)
	m.net.Kill(st.end)
	st.gone = true
	return st
}

// leave ends a client like a player that quits.
func (m *match) leave(n int) error {
	st := m.seat(n)
	st.gone = true
	return st.client.Close()
}

// links changes the links of all clients.
func (m *match) links(l sim.Link) {
	for _, st := range m.seats {
		if !st.gone {
			st.link = l
			m.net.SetLink(st.end, l, l)
		}
	}
}

// handled counts the calls of all clients' handlers.
func (m *match) handled() map[string]int {
	all := map[string]int{}
	for _, st := range m.seats {
		for what, n := range st.counts {
			what, _, _ = strings.Cut(what, " ")
			all[what] += n
		}
	}
	return all
}

// bytes returns the tape.
func (m *match) bytes() ([]byte, error) {
	var b bytes.Buffer
	_, err := m.rec.WriteTo(&b)
	return b.Bytes(), err
}

// replay plays a tape of the match, and returns the digest of its first streams.
func (p *plan) replay(b []byte) (digest, error) {
	tape, err := flight.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return digest{}, err
	}
	s := newSums(p.ticks())
	var g game
	var srv *serverEnd
	_, played := flight.Play(tape, flight.Game{
		New: func(cfg serverConfig) (*serverEnd, error) {
			*s = *newSums(p.ticks()) // a replay calls it again to find the reason of a difference
			var err error
			srv, g, err = p.host(cfg, s, map[string]int{})
			return srv, err
		},
		Call: func(name string) func(*foretick.ServerFrame) { return g.call(name) },
		Level: func([]byte) func(*foretick.ServerFrame) {
			return func(f *foretick.ServerFrame) { g.level(f, srv.Players(nil)) }
		},
	})
	var d *flight.DifferenceError
	if errors.As(played, &d) {
		return s.digest(p.name), fmt.Errorf("match %q, second %d: %w", p.name, (int(d.Tick-p.start)-1)/p.ticks(), played)
	}
	if played != nil {
		return digest{}, fmt.Errorf("match %q: %w", p.name, played)
	}
	return s.digest(p.name), nil
}
