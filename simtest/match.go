package simtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
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

	rand     *rand.Rand
	server   *foretick.Server
	listen   *sim.Endpoint
	process  int  // of the server: counts its starts
	frozen   bool // the server
	checkers []Checker
	kinds    int // of messages, that the game declares
	requests int // and of requests
	packets  []PacketChecker
	messages []MessageChecker
	asks     []RequestChecker
	wrongs   []PredictionChecker
	restless bool  // it never comes to rest: nothing is compared at quiet points
	err      error // the first fault that a checker found
	checked  foretick.Tick
	seats    []*seat
	owners   map[int]foretick.PlayerID // by endpoint, on this server
	player   []foretick.PlayerID
	trace    hash.Hash
	buf      []byte
	step     func()
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

// Now is the virtual time as the wall clock that the server sees, and clients
// whose clocks do not drift.
func (m *Match) Now() time.Time { return Epoch.Add(m.Net.Now()) }

// Serve puts the server into the match: cfg.Transport is set by it. It steps
// whenever a tick is due or a packet has arrived. After [Match.KillServer] it
// starts the next process at the same address. Where cfg has no OnPanic, a panic
// in what the game does for one player is a fault of the match: see [Match.Err].
func (m *Match) Serve(cfg foretick.ServerConfig) (*foretick.Server, error) {
	listen := m.listen
	if listen == nil {
		listen = m.Net.Listen()
	} else {
		listen = m.Net.Restart(listen)
	}
	cfg.Transport = listen
	if cfg.Random == nil {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], m.rand.Uint64())
		cfg.Random = rand.NewChaCha8(seed)
	}
	if cfg.OnPanic == nil {
		cfg.OnPanic = m.panicked
	}
	m.watchServer(&cfg)
	server, err := foretick.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	m.server, m.listen, m.checked, m.owners = server, listen, 0, map[int]foretick.PlayerID{}
	m.kinds, m.requests = cfg.Protocol.Messages(), cfg.Protocol.Requests()
	m.process++
	m.stepServer(m.process, m.Net.Now())
	return m.server, nil
}

// serve is Serve for a game's own end, which may have a beginning to make.
func (m *Match) serve(p Player, cfg foretick.ServerConfig) error {
	s, err := m.Serve(cfg)
	if err == nil && p.Begin != nil {
		p.Begin(s)
	}
	return err
}

// panicked ends the match with what a server would only log.
func (m *Match) panicked(p foretick.Panic) {
	m.fail(nil, fmt.Errorf("panic in %s of player %d: %v\n%s", p.Handler, p.Who, p.Value, cause(p.Stack)))
}

// cause is a stack from where the panic was raised.
func cause(stack []byte) []byte {
	_, after, found := bytes.Cut(stack, []byte("\npanic("))
	if _, after, _ = bytes.Cut(after, []byte("\n")); !found {
		return stack
	}
	_, after, _ = bytes.Cut(after, []byte("\n")) // its place
	return after
}

// watchServer puts the match's own ears beside those of the configuration.
func (m *Match) watchServer(cfg *foretick.ServerConfig) {
	onTick, onMessage, onRequest := cfg.OnTick, cfg.OnMessage, cfg.OnRequest
	cfg.OnTick = func(f *foretick.Frame) {
		if onTick != nil {
			onTick(f)
		}
		m.number('T', uint64(f.Tick), m.server.Hash())
	}
	cfg.OnMessage = func(s foretick.MessageSent) {
		if onMessage != nil {
			onMessage(s)
		}
		for _, c := range m.messages {
			c.Sent(m, s)
		}
	}
	cfg.OnRequest = func(r foretick.RequestTaken) {
		if onRequest != nil {
			onRequest(r)
		}
		for _, c := range m.asks {
			m.fail(c, c.Handling(m, r))
		}
	}
}

// Server is the match's server, nil before Serve and while it is killed.
func (m *Match) Server() *foretick.Server { return m.server }

// KillServer ends the server's process as a power cut does: nobody is told, and
// all that it knew is gone. Serve starts the next one.
func (m *Match) KillServer() {
	if m.server != nil {
		m.Net.Kill(m.listen)
		m.server, m.frozen = nil, false
		m.process++
	}
}

// FreezeServer stops the server's process from running, or lets it go on: what
// arrives waits in its socket's queue meanwhile.
func (m *Match) FreezeServer(frozen bool) { m.frozen = frozen }

// frozenLook is how often a frozen server looks whether it may go on.
const frozenLook = time.Millisecond

// stepServer has the server compute what is due at a time, and then whenever
// its next tick is, for as long as the process lives.
func (m *Match) stepServer(process int, at time.Duration) {
	m.Net.At(at, func() {
		switch {
		case m.process != process:
		case m.frozen:
			m.stepServer(process, m.Net.Now()+frozenLook)
		default:
			m.serverStep()
			m.stepServer(process, max(m.server.Next().Sub(Epoch), m.Net.Now()+1))
		}
	})
}

func (m *Match) serverStep() {
	if m.AroundServer != nil {
		m.AroundServer(m.step)
	} else {
		m.step()
	}
	if t := m.server.Tick(); t != m.checked {
		m.checked = t
		m.each(Checker.Tick)
	}
}

// Clients appends the clients in the match to dst, in order of joining: all
// that neither closed nor were killed.
func (m *Match) Clients(dst []*foretick.Client) []*foretick.Client {
	for _, st := range m.seats {
		dst = append(dst, st.client)
	}
	return dst
}

// Freeze stops a client's process, as a debugger or a sleeping laptop does, or
// lets it go on.
func (m *Match) Freeze(c *foretick.Client, frozen bool) {
	if st := m.seatOf(c); st != nil {
		st.paused = frozen
	}
}

// Link changes a client's links.
func (m *Match) Link(c *foretick.Client, up, down sim.Link) {
	if st := m.seatOf(c); st != nil {
		st.up, st.down = up, down
		m.Net.SetLink(st.endpoint, up, down)
	}
}

// KillClient ends a client's process without a word to anybody.
func (m *Match) KillClient(c *foretick.Client) {
	if st := m.seatOf(c); st != nil {
		m.Net.Kill(st.endpoint)
		m.stand(st)
	}
}

// Leave has a client close its connection, as a player does who has had enough.
func (m *Match) Leave(c *foretick.Client) error {
	err := c.Close()
	if st := m.seatOf(c); st != nil {
		m.stand(st)
	}
	return err
}

// Run plays until the virtual time is reached. What a checker finds ends it
// early; see [Match.Err].
func (m *Match) Run(until time.Duration) {
	for m.err == nil {
		t, ok := m.Net.Next()
		if !ok || t > until {
			break
		}
		m.Net.Run(t)
		m.wake()
	}
	if m.err == nil {
		m.Net.Run(until)
	}
}

// wake lets the server take in what has arrived, as its loop would.
func (m *Match) wake() {
	if m.server == nil || m.frozen {
		return
	}
	select {
	case <-m.listen.Ready():
		m.serverStep()
	default:
	}
}

// Trace is a digest of every packet sent, every tick's state and every
// eighth picture so far. Equal digests mean equal matches.
func (m *Match) Trace() [32]byte {
	var sum [32]byte
	m.trace.Sum(sum[:0])
	return sum
}

func (m *Match) packet(now time.Duration, from, to int, b []byte) {
	m.number('P', uint64(now), uint64(from)<<32|uint64(uint32(to)))
	m.trace.Write(b)
	for _, c := range m.packets {
		m.fail(c, c.Packet(m, from, to, b))
	}
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
	return foretick.Audit(m.server, c.View().Player, c)
}

// Owner is the player whom the server sends to at the endpoint of a number, as
// [PacketChecker] is told them; [ecs.Nobody] for the server's own endpoint and
// for who is no player.
func (m *Match) Owner(endpoint int) foretick.PlayerID {
	if m.server == nil || endpoint == m.listen.ID() {
		return ecs.Nobody
	}
	if player, ok := m.owners[endpoint]; ok {
		return player
	}
	m.player = m.server.Players(m.player[:0])
	var info transport.Info
	for _, player := range m.player {
		if m.listen.Info(m.server.Peer(player), &info) && info.Addr == sim.Addr(endpoint) {
			if len(m.owners) > 2*len(m.player)+8 {
				clear(m.owners) // most of them are long gone
			}
			m.owners[endpoint] = player // a connection stays one player's
			return player
		}
	}
	return ecs.Nobody
}

// Listener is the server's endpoint, for clients that a test makes by hand.
func (m *Match) Listener() *sim.Endpoint { return m.listen }
