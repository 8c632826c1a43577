package foretick

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// ServerConfig sets a Server up. Protocol and Transport are required; zero
// elsewhere means the default named.
type ServerConfig struct {
	// Protocol that server and clients share.
	Protocol *Protocol
	// Transport that clients come in by. The server drains it and never closes
	// it but in Close.
	Transport transport.Endpoint
	// MaxClients is how many may play at once; more are refused. 0 means 64;
	// at most 4096.
	MaxClients int
	// SnapshotRate is how many snapshots a second each client gets. 0 means one
	// a tick; it must divide the tick rate.
	SnapshotRate int
	// SendRate bounds what is sent to one client, in bytes a second of the
	// transport's payload. 0 means 32 000.
	SendRate int
	// Timeout is how long a silent client is kept. 0 means 5 s.
	Timeout time.Duration
	// RepeatInput is how long a missing command is replaced by the last one
	// received; after it the command is zero. 0 means 250 ms; negative never
	// repeats.
	RepeatInput time.Duration
	// MaxRewind bounds how far into the past a shot may look. 0 means 600 ms;
	// at most 1 s.
	MaxRewind time.Duration
	// NoLagCompensation judges every shot in the present. For comparison only.
	NoLagCompensation bool
	// Hold is how long the place of a player whose connection was lost is kept:
	// what it owns stays in the world with a zero command, and the player may
	// come back to it. 0 means 30 s; negative keeps nothing. A player who leaves
	// by himself or is kicked is not waited for.
	Hold time.Duration
	// Random is where the tokens that players come back with are drawn from. nil
	// means crypto/rand; tests pass a seeded one.
	Random io.Reader
	// Logger is told of players that come and go. nil is silent.
	Logger *slog.Logger
	// OnTick, when set, is called after each tick with the frame, for tests and
	// recorders. It must not change the world.
	OnTick func(f *Frame)
}

const (
	defaultMaxClients  = 64
	limitMaxClients    = 4096
	defaultSendRate    = 32_000
	defaultTimeout     = 5 * time.Second
	defaultRepeatInput = 250 * time.Millisecond
	defaultHold        = 30 * time.Second
	maxCatchUp         = 4 // ticks run in one Step at most; time is given up beyond
)

// check fills defaults in and reports every fault at once.
func (c *ServerConfig) check() error {
	var errs []error
	if c.Protocol == nil {
		errs = append(errs, errors.New("foretick: ServerConfig.Protocol is nil"))
	} else if err := c.Protocol.Err(); err != nil {
		errs = append(errs, err)
	}
	if c.Transport == nil {
		errs = append(errs, errors.New("foretick: ServerConfig.Transport is nil: pass a listening endpoint, for example udp.Listen"))
	}
	if c.MaxClients == 0 {
		c.MaxClients = defaultMaxClients
	}
	if c.MaxClients < 1 || c.MaxClients > limitMaxClients {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.MaxClients is %d: use 1 to %d", c.MaxClients, limitMaxClients))
	}
	if c.Protocol != nil {
		rate := c.Protocol.tickRate
		if c.SnapshotRate == 0 {
			c.SnapshotRate = rate
		}
		if c.SnapshotRate < 1 || rate%c.SnapshotRate != 0 {
			errs = append(errs, fmt.Errorf("foretick: ServerConfig.SnapshotRate is %d: it must divide the tick rate %d", c.SnapshotRate, rate))
		}
	}
	if c.SendRate == 0 {
		c.SendRate = defaultSendRate
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.SendRate < 0 || c.Timeout < 0 {
		errs = append(errs, errors.New("foretick: ServerConfig.SendRate and Timeout must not be negative"))
	}
	if c.RepeatInput == 0 {
		c.RepeatInput = defaultRepeatInput
	}
	if c.Hold == 0 {
		c.Hold = defaultHold
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}

// Server runs a match: it takes commands in, computes ticks, and sends each
// client what it may see. Step does the work and Run calls it; neither is safe
// for concurrent use.
type Server struct {
	cfg      ServerConfig
	p        *Protocol
	endpoint transport.Endpoint
	world    *ecs.World
	frame    Frame
	source   *snapshot.Source
	history  *lagcomp.History
	lag      lagcomp.Config
	effects  *effects

	entities *ecs.Query // everything replicated
	commands *ecs.Query // everything with a command
	nextNet  uint32

	players []*player // in order of arrival, those who are held a place included
	byPeer  map[transport.PeerID]*player
	owners  []*player // by owner; 0 unused
	joining []*player
	leaving []ecs.Owner
	absent  []ecs.Owner // lost their connection since the last tick
	back    []ecs.Owner // came back since the last tick

	begun    bool
	start    time.Time
	now      time.Duration // of the Step that runs, from the start
	interval time.Duration
	every    uint32 // ticks a snapshot

	epoch     uint8 // of the level
	named     bool  // NextLevel was called: clients are told
	level     []byte
	levelTick Tick

	recorded bool // the history holds a tick

	events  [64]transport.Event
	scratch []byte
	put     putScratch
	bodies  bodies
	kept    kept
	living  func(lagcomp.ID, uint32) bool // alive, as a value
	tracks  []track
	cuts    map[ecs.Entity]uint32 // times that an entity's past was cut
	stats   ServerStats
}

// NewServer makes a server that begins at tick 0 with its first Step. The error
// lists every fault of the configuration and the protocol.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := cfg.Protocol
	s := &Server{cfg: cfg, p: p, endpoint: cfg.Transport, byPeer: map[transport.PeerID]*player{}}
	s.world = ecs.NewWorld(p.types, ecs.WorldConfig{Tags: []string{TagServer}})
	s.source = snapshot.NewSource(p.registry, snapshot.SourceConfig{})
	s.lag = lagcomp.Config{TickRate: p.tickRate, MaxRewind: cfg.MaxRewind, Shapes: p.shapes}
	var err error
	if s.history, err = lagcomp.NewHistory(s.lag); err != nil {
		return nil, err
	}
	s.entities = ecs.NewQuery(p.types, ecs.With(&p.identity))
	if p.command != nil {
		s.commands = ecs.NewQuery(p.types, ecs.With(p.command.handle))
	}
	s.owners = make([]*player, cfg.MaxClients+1)
	s.every = uint32(p.tickRate / cfg.SnapshotRate)
	s.interval = time.Second / time.Duration(p.tickRate)
	s.frame = Frame{World: s.world, DT: 1 / float32(p.tickRate), rate: p.tickRate, server: s, queues: p.newQueues()}
	s.effects = newEffects(s)
	s.bodies, s.kept, s.living = newBodies(p), newKept(p.tickRate), s.alive
	for _, t := range p.tracks {
		s.tracks = append(s.tracks, t.fresh(s.history))
	}
	return s, nil
}

func (p *Protocol) newQueues() []eventQueue {
	var qs []eventQueue
	for _, e := range p.events {
		qs = append(qs, e.fresh())
	}
	return qs
}

// World is the server's world, for set-up before the first Step and for
// looking at between Steps.
func (s *Server) World() *ecs.World { return s.world }

// Frame is the server's frame between ticks: spawn a match's furniture with it
// before the first Step.
func (s *Server) Frame() *Frame { return &s.frame }

// Tick is the newest tick computed; 0 before the first.
func (s *Server) Tick() Tick { return s.frame.Tick }

// Players appends who plays to dst, in order of arrival. Those whose place is
// held while they are away are among them.
func (s *Server) Players(dst []ecs.Owner) []ecs.Owner {
	for _, p := range s.players {
		if p.state >= playing {
			dst = append(dst, p.owner)
		}
	}
	return dst
}

// Next is when the next tick is due; the zero time before the first Step.
func (s *Server) Next() time.Time {
	if !s.begun {
		return time.Time{}
	}
	return s.start.Add(s.due(s.frame.Tick + 1))
}

// due is when a tick is computed, counted from the start. It is exact at any
// rate: 31 Hz does not divide a second into whole nanoseconds.
func (s *Server) due(t Tick) time.Duration {
	return time.Duration(uint64(t) * uint64(time.Second) / uint64(s.p.tickRate))
}

// Step takes in what has arrived and computes the ticks that are due at now.
// Call it when [Server.Next] comes and whenever the transport is ready. now
// must not go back.
func (s *Server) Step(now time.Time) {
	if !s.begun {
		s.begun, s.start = true, now
	}
	t := now.Sub(s.start)
	s.receive(t)
	for n := 0; s.due(s.frame.Tick+1) <= t; n++ {
		if n == maxCatchUp {
			// A stalled process does not replay the time it slept: it would
			// fall behind for good. The clients follow by their clocks.
			s.start = s.start.Add(t - s.due(s.frame.Tick))
			s.stats.Slips++
			break
		}
		s.tick(t)
	}
	s.endpoint.Flush()
}

// Kick drops a player, telling it why.
func (s *Server) Kick(who ecs.Owner, detail string) bool {
	p := s.player(who)
	if p == nil {
		return false
	}
	if p.state == away {
		s.leave(p, transport.Kicked, detail)
		return true
	}
	s.drop(p, transport.Kicked, detail)
	return true
}

// Close drops every player with the reason and closes the transport.
func (s *Server) Close(detail string) error {
	for _, p := range slices.Clone(s.players) {
		if p.state != away {
			s.drop(p, transport.Closed, detail)
		}
	}
	return s.endpoint.Close(transport.Closed, detail)
}

func (s *Server) player(who ecs.Owner) *player {
	if int(who) >= len(s.owners) {
		return nil
	}
	return s.owners[who]
}

func (s *Server) spawn(k *ecs.Kind, owner ecs.Owner) ecs.Entity {
	i := s.p.kindOf(k)
	if i < 0 {
		panic(fmt.Sprintf("foretick: Spawn of kind %q, which is not declared with Protocol.Kind", k.Name()))
	}
	e := s.world.Spawn(k, owner)
	s.nextNet++
	*s.p.identity.Get(s.world, e) = Identity{Net: s.nextNet, Kind: uint16(i)}
	s.effects.structural(owner)
	return e
}

func (s *Server) destroy(e ecs.Entity) bool {
	if !s.world.Alive(e) {
		return false
	}
	s.effects.structural(s.world.Owner(e))
	return s.world.Destroy(e)
}

func (s *Server) sendMessage(to ecs.Owner, id uint8, payload []byte) error {
	p := s.player(to)
	if p == nil || p.state != playing {
		return fmt.Errorf("foretick: no player %d", to)
	}
	return s.sendReliable(p, id, payload)
}

func (s *Server) sendReliable(p *player, id uint8, payload []byte) error {
	err := p.conn.SendReliable(s.frame.Tick, id, payload)
	if err != nil {
		s.stats.MessagesRefused++
		return err
	}
	s.stats.MessagesSent++
	return nil
}

func (s *Server) broadcast(id uint8, payload []byte) error {
	var errs []error
	for _, p := range s.players {
		if p.state == playing {
			errs = append(errs, s.sendReliable(p, id, payload))
		}
	}
	return errors.Join(errs...)
}

// mtu is what a datagram to the peer may hold.
func (s *Server) mtu(peer transport.PeerID) int {
	var info transport.Info
	if s.endpoint.Info(peer, &info) && info.MTU > 0 {
		return info.MTU
	}
	return 0
}

func (s *Server) newConn(peer transport.PeerID) *netcode.Conn {
	return netcode.NewConn(netcode.Config{MTU: s.mtu(peer), Timeout: s.cfg.Timeout, Rate: s.cfg.SendRate})
}
