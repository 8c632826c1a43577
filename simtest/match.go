package simtest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/alarm"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Epoch is the wall-clock time at which every match starts.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// defaultFrameRate is the number of rendered frames a second of a client whose
// Seat.FrameRate is 0.
const defaultFrameRate = 60

// Match is a server, its clients and the network between them. Create one with
// [New]; it is not safe for concurrent use.
type Match struct {
	// Net is the simulated network, whose event queue drives everything.
	// Schedule a test's own actions with Net.At.
	Net *sim.Network
	// AroundServer, when set, is called for each Step of the server and must
	// call step. Use it to time the step or count its allocations.
	AroundServer func(step func())
	aroundClient func(step func()) // like AroundServer, for each Step of a client

	rand     *rand.Rand
	server   *server.Server
	inside   probe.Server // internals of the server
	listen   *sim.Endpoint
	process  int  // counts starts and ends of the server's process, to recognise an ended one
	frozen   bool // the server's process is suspended
	checkers []Checker
	kinds    int // number of message kinds that the game declares on reliable channels
	requests int // number of request kinds
	packets  []PacketChecker
	messages []MessageChecker
	asks     []RequestChecker
	wrongs   []PredictionChecker
	played   bool // a player owned an entity with the command
	activity probe.Activity
	restless bool  // the match never rests: nothing is compared at quiet points
	err      error // the first fault that a checker found
	checked  foretick.Tick
	seats    []*seat
	owners   map[int]foretick.PlayerID // players on the current server, by number of their endpoint
	grants   map[string]server.Grant   // what observers of the current server may see, by address
	player   []server.Player
	trace    hash.Hash // digest for Match.Trace; nil: the match has no trace
	buf      []byte
	step     func()
}

// New returns a match at virtual time 0.
func New(seed uint64) *Match {
	m := &Match{Net: sim.NewNetwork(seed), rand: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), trace: sha256.New()}
	m.Net.Trace(m.tracePacket)
	m.step = func() { m.server.Step(m.Now()) }
	return m
}

// Rand returns the match's own random source, seeded with its seed.
func (m *Match) Rand() *rand.Rand { return m.rand }

// Now returns the virtual time as wall-clock time, as seen by the server and by
// clients without clock drift.
func (m *Match) Now() time.Time { return Epoch.Add(m.Net.Now()) }

// Serve adds the server to the match; it sets cfg.Transport. The server steps
// whenever a tick is due or a packet has arrived. After [Match.KillServer],
// Serve starts the next process at the same address. If cfg has no OnPanic, a
// panic in the game's code for one player is a fault of the match: see
// [Match.Err].
func (m *Match) Serve(cfg server.Config) (*server.Server, error) {
	listen := m.listen
	if listen == nil {
		listen = m.Net.Listen()
	} else {
		listen = m.Net.Restart(listen)
	}
	cfg.Transport = listen
	m.keepGrants(&cfg)
	if cfg.Random == nil {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], m.rand.Uint64())
		cfg.Random = rand.NewChaCha8(seed)
	}
	onTick := cfg.OnTick
	cfg.OnTick = func(f *foretick.ServerFrame) {
		if onTick != nil {
			onTick(f)
		}
		m.played = m.played || m.inside.Commanded()
		if m.trace != nil {
			m.number('T', uint64(f.Tick), m.inside.Hash())
		}
	}
	srv, err := server.New(cfg)
	if err != nil {
		return nil, err
	}
	game, err := schema.ReadProtocol(cfg.Protocol.Schema(nil))
	if err != nil {
		return nil, err
	}
	m.inside, m.activity.Known = probe.OfServer(srv), false
	m.inside.SetArchitecture(architecture)
	m.watchServer(m.inside)
	if cfg.OnPanic == nil {
		m.inside.OnPanic(m.panicked)
	}
	m.server, m.listen, m.checked, m.owners = srv, listen, 0, map[int]foretick.PlayerID{}
	m.kinds, m.requests = 0, len(game.Requests)
	for _, k := range game.Messages {
		if own := k.Channel - 2; own < 0 || game.Channels[own].Reliable { // schema numbers a game's channels from 2
			m.kinds++
		}
	}
	m.process++
	m.stepServer(m.process, m.Net.Now())
	return m.server, nil
}

// serveEnd is Serve for one end of a game, including its Begin.
func (m *Match) serveEnd(p Player, cfg server.Config) error {
	s, err := m.Serve(cfg)
	if err == nil && p.Begin != nil {
		p.Begin(s)
	}
	return err
}

// panicked ends the match with a panic that a server would only log.
func (m *Match) panicked(p probe.Panicked) {
	m.recordFault(nil, fmt.Errorf("panic in %s of player %d: %v\n%s", p.Handler, p.Player, p.Value, alarm.Origin(p.Stack)))
}

// watchServer follows the server's messages and requests.
func (m *Match) watchServer(srv probe.Server) {
	srv.OnMessage(func(s probe.MessageSent) {
		for _, c := range m.messages {
			c.Sent(m, MessageSent(s))
		}
	})
	srv.OnRequest(func(r probe.RequestTaken) {
		for _, c := range m.asks {
			m.recordFault(c, c.Handling(m, RequestTaken(r)))
		}
	})
}

// Server returns the match's server, nil before Serve and while it is killed.
func (m *Match) Server() *server.Server { return m.server }

// KillServer ends the server's process like a power failure: no peer is
// notified, and all state is lost. Serve starts the next one.
func (m *Match) KillServer() {
	if m.server != nil {
		m.Net.Kill(m.listen)
		m.server, m.frozen = nil, false
		m.process++
	}
}

// FreezeServer suspends the server's process, or resumes it. Packets that arrive
// in the meantime wait in its socket's queue.
func (m *Match) FreezeServer(frozen bool) { m.frozen = frozen }

// frozenLook is how often a frozen server checks whether it may continue.
const frozenLook = time.Millisecond

// stepServer runs the server at a given time, and then whenever its next tick is
// due, while the process lives.
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
		m.inside.Activity(&m.activity)
		m.each(Checker.Tick)
	}
}

// Clients appends the clients in the match that play to dst, in order of joining. Clients
// that were closed or killed are not included, nor those that observe: see
// [Match.Observers].
func (m *Match) Clients(dst []*client.Client) []*client.Client {
	for _, st := range m.seats {
		if !st.observes {
			dst = append(dst, st.client)
		}
	}
	return dst
}

// Freeze suspends a client's process, like a debugger or a sleeping laptop, or
// resumes it.
func (m *Match) Freeze(c *client.Client, frozen bool) {
	if st := m.seatOf(c); st != nil {
		st.paused = frozen
	}
}

// Link changes a client's links.
func (m *Match) Link(c *client.Client, up, down sim.Link) {
	if st := m.seatOf(c); st != nil {
		st.up, st.down = up, down
		m.Net.SetLink(st.endpoint, up, down)
	}
}

// KillClient ends a client's process without notice.
func (m *Match) KillClient(c *client.Client) {
	if st := m.seatOf(c); st != nil {
		m.Net.Kill(st.endpoint)
		m.stand(st)
	}
}

// Leave makes a client close its connection, like a player that quits.
func (m *Match) Leave(c *client.Client) error {
	err := c.Close()
	if st := m.seatOf(c); st != nil {
		m.stand(st)
	}
	return err
}

// Run plays until the virtual time until. A fault ends it early; see
// [Match.Err].
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

// RunFor plays for a duration from now on, or until [Match.Err] is set.
func (m *Match) RunFor(d time.Duration) { m.Run(m.Net.Now() + d) }

// errUnplayed is the fault of a match in which no player could move anything.
var errUnplayed = errors.New("nobody plays: no player ever owned an entity with the command: spawn one in Protocol.OnJoin, of a prefab that lists the command, and let a lobby start with these few players")

// wake lets the server process packets that have arrived, as its loop would.
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

// architecture is the processor architecture that both ends of a simulated match report, so
// that packets are the same on every machine.
const architecture = "sim"

// Trace returns a digest of every packet sent, every tick's state and every
// eighth rendered frame so far. Equal digests mean equal matches.
func (m *Match) Trace() [32]byte {
	var sum [32]byte
	m.trace.Sum(sum[:0])
	return sum
}

func (m *Match) tracePacket(now time.Duration, from, to int, b []byte) {
	if m.trace != nil {
		m.number('P', uint64(now), uint64(from)<<32|uint64(uint32(to)))
		m.trace.Write(b)
	}
	for _, c := range m.packets {
		m.recordFault(c, c.Packet(m, from, to, b))
	}
}

func (m *Match) number(what byte, a, b uint64) {
	m.buf = append(m.buf[:0], what)
	m.buf = binary.LittleEndian.AppendUint64(m.buf, a)
	m.buf = binary.LittleEndian.AppendUint64(m.buf, b)
	m.trace.Write(m.buf)
}

// Audit compares a client's view with the state that the server may show it; see
// [Audit]. The match should be at rest.
func (m *Match) Audit(c *client.Client) AuditReport {
	return Audit(m.server, c.View().Player, c)
}

// Owner returns the player at the endpoint with this number, as passed to
// [PacketChecker]. It returns [ecs.Nobody] for the server's own endpoint and for
// endpoints without a player.
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
		if m.listen.Info(m.inside.Peer(player.ID), &info) && info.Addr == sim.Addr(endpoint) {
			if len(m.owners) > 2*len(m.player)+8 {
				clear(m.owners) // most of them are outdated
			}
			m.owners[endpoint] = player.ID // a connection keeps its player
			return player.ID
		}
	}
	return ecs.Nobody
}

// Listener returns the server's endpoint, for clients that a test creates
// itself.
func (m *Match) Listener() *sim.Endpoint { return m.listen }
