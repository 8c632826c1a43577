package foretick

import (
	"crypto/rand"
	"encoding/binary"
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
	// MaxClients is how many may play at once; more are refused. At most 4096, and
	// at most as many as the transport takes (its Config.MaxPeers). 0 means what the
	// transport takes, or 64 where it does not say; negative is an error.
	MaxClients int
	// SnapshotRate is how many snapshots a second each client gets. It must divide the
	// tick rate. 0 means one a tick; negative is an error.
	SnapshotRate int
	// SendRate bounds what is sent to one client, in bytes a second of the
	// transport's payload. 0 means 32 000; negative is an error. At most 2³⁰.
	SendRate int
	// Timeout is how long a silent client is kept. 0 means 5 s; negative is an error.
	// 100 ms to 24 h.
	Timeout time.Duration
	// RepeatInput is how long a missing command is replaced by the last one
	// received, without its one-shots; after it the command decays, if the game
	// has a [Decay], and is zero then. 0 means 250 ms; negative never repeats. At
	// most a minute.
	RepeatInput time.Duration
	// DecayInput is how long the game's [Decay] goes on after that. 0 means 250 ms;
	// negative means not at all, as without a Decay. At most a minute.
	DecayInput time.Duration
	// MaxRewind bounds how far into the past a shot may look. 0 means 600 ms,
	// negative not at all, as NoLagCompensation has it. At most 1 s.
	MaxRewind time.Duration
	// RewindGrowth is how far a player's rewind limit may grow when its latency
	// rises in mid-match: round trip and drawing delay together, counted from its
	// first five seconds of play, at 200 ms a second. It falls back within 2 s of
	// the path. 0 means 150 ms. A cheater who fakes a slower path gains that much;
	// negative grants none, and then an honest player whose path slows by a tick or
	// more misses most of what it hits on its screen, until [Server.RemeasureLatency] or a
	// new connection. At most 1 s; MaxRewind holds all the same.
	RewindGrowth time.Duration
	// NoLagCompensation judges every shot in the present. For comparison only.
	NoLagCompensation bool
	// ReconnectWindow is how long the place of a player whose connection was lost is kept:
	// what it owns stays in the world with a zero command, and the player may
	// come back to it. Its reliable messages wait meanwhile: see [Message.Send].
	// 0 means 30 s; negative keeps nothing. At most a year. A place is held for no longer than its
	// player has played, and only after a connection was lost: not for a player who
	// left, was kicked, or broke the rules.
	ReconnectWindow time.Duration
	// KeepPlaces keeps the places held for absent players on a full server, and
	// refuses newcomers, for ranked matches whose players have tickets. false gives a
	// newcomer the place of the absent player who played least (of equals, who is
	// absent for longest): it leaves, and its token then gets it a new place if there
	// is one. Of the places held for absent players, one address has at most a
	// quarter of MaxClients, and at least one, in either case.
	KeepPlaces bool
	// MaxWaitingPerAddress is how many connections of one address may be there that do
	// not play yet; more are refused. Two seconds of play release a connection. An
	// IPv6 /64 counts as one address. 0 means 32; negative means no limit. At most 2²⁰. The
	// transports' own limits by address are as high.
	MaxWaitingPerAddress int
	// AllowOtherBuilds lets in clients of other builds of the game: they have the same
	// name, version, tick rate and channels, and are sent the schema to match their
	// own components, fields, command and messages with, by name. false refuses them
	// with a [ProtocolError]. Raise the protocol's version for a change after which
	// old clients must not play.
	AllowOtherBuilds bool
	// Random is where the tokens that players come back with are drawn from. nil
	// means crypto/rand; tests pass a seeded one.
	Random io.Reader
	// Learn, when set, counts what snapshots hold, to learn tables from: see
	// [snapshot.Statistics] and [Protocol.CompressionTables]. It costs time; nil counts
	// nothing.
	TrainCompression *snapshot.Statistics
	// Verify, when set, is asked at the start for each asset that the server needs
	// (see [Protocol.ServerAsset]); if any is missing, NewServer says which, and of
	// which prefabs.
	Verify func(ref string) error
	// Profile has the server count the bytes of each component and field; see
	// [Server.Bandwidth]. It costs time.
	Profile bool
	// Executor, when set, makes the snapshots of different players at the same time;
	// what is sent is the same as without. With Learn or Profile it is not used. nil
	// makes them one after another.
	Executor ecs.Executor
	// Logger is told of players that come and go. nil is silent.
	Logger *slog.Logger
	// OnPanic, when set, is told of each panic in what the game does for one player.
	// The player is dropped and the match goes on; a panic in a system, which is
	// for everybody, ends the program as ever.
	OnPanic func(Panic)
	// OnTick, when set, is called after each tick with the frame, for tests and
	// recorders. It must not change the world.
	OnTick func(f *Frame)
	// OnMessage, when set, is called for each reliable message that was queued
	// for a player, for tests and recorders.
	OnMessage func(m MessageSent)
	// OnRequest, when set, is called for each request of a player's, ahead of its
	// handler, for tests and recorders.
	OnRequest func(r RequestTaken)
}

const (
	defaultMaxClients  = 64
	limitMaxClients    = 4096
	defaultSendRate    = 32_000
	defaultTimeout     = 5 * time.Second
	defaultRepeatInput = 250 * time.Millisecond
	defaultDecayInput  = 250 * time.Millisecond
	defaultHold        = 30 * time.Second
	defaultMaxWaiting  = 32
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
	if c.Protocol != nil {
		errs = append(errs, c.Protocol.checkRequests())
	}
	if missing(c.Transport) {
		errs = append(errs, errors.New("foretick: ServerConfig.Transport is nil: pass a listening endpoint, for example udp.Listen, and look at its error first"))
		c.Transport = nil
	}
	if c.Executor != nil && missing(c.Executor) {
		errs = append(errs, errors.New("foretick: ServerConfig.Executor is a nil pointer: leave it out, or give one"))
	}
	errs = append(errs, c.checkClients())
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
	errs = append(errs, checkRate("ServerConfig.SendRate", c.SendRate), checkTimeout("ServerConfig.Timeout", c.Timeout))
	errs = append(errs,
		checkDuration("ServerConfig.RepeatInput", &c.RepeatInput, longestInput, defaultRepeatInput),
		checkDuration("ServerConfig.DecayInput", &c.DecayInput, longestInput, defaultDecayInput),
		checkDuration("ServerConfig.ReconnectWindow", &c.ReconnectWindow, longestHold, defaultHold))
	if c.MaxRewind > time.Second {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.MaxRewind is %v: use up to 1s, 0 for %v, or less for none", c.MaxRewind, lagcomp.DefaultMaxRewind))
	}
	switch {
	case c.MaxRewind < 0:
		c.MaxRewind, c.NoLagCompensation = lagcomp.DefaultMaxRewind, true
	case c.MaxRewind == 0:
		c.MaxRewind = lagcomp.DefaultMaxRewind
	}
	if c.RewindGrowth == 0 {
		c.RewindGrowth = lagcomp.DefaultGrowth
	}
	if c.RewindGrowth > time.Second {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.RewindGrowth is %v: use up to 1s, 0 for %v, or less for none", c.RewindGrowth, lagcomp.DefaultGrowth))
	}
	if c.MaxWaitingPerAddress == 0 {
		c.MaxWaitingPerAddress = defaultMaxWaiting
	}
	if c.MaxWaitingPerAddress > mostWaiting {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.MaxWaitingPerAddress is %d: use up to %d, 0 for %d, or less for no limit", c.MaxWaitingPerAddress, mostWaiting, defaultMaxWaiting))
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}

// Limits of what a config may say, so that no sum of it overflows and nobody waits for
// what does not come.
const (
	leastTimeout   = 100 * time.Millisecond
	longestTimeout = 24 * time.Hour
	longestInput   = time.Minute
	longestHold    = 365 * 24 * time.Hour
	longestFade    = 10 * time.Second
	mostRate       = 1 << 30
	mostWaiting    = 1 << 20
)

func checkRate(name string, rate int) error {
	if rate < 0 || rate > mostRate {
		return fmt.Errorf("foretick: %s is %d: use up to 2³⁰ bytes a second, or 0 for %d", name, rate, defaultSendRate)
	}
	return nil
}

// checkDuration fills the default in for zero. Negative is off.
func checkDuration(name string, d *time.Duration, most, byDefault time.Duration) error {
	if *d == 0 {
		*d = byDefault
	}
	if *d > most {
		return fmt.Errorf("foretick: %s is %v: use up to %v, 0 for %v, or less for none", name, *d, most, byDefault)
	}
	return nil
}

func checkTimeout(name string, d time.Duration) error {
	if d < leastTimeout || d > longestTimeout {
		return fmt.Errorf("foretick: %s is %v: use %v to %v, or 0 for %v", name, d, leastTimeout, longestTimeout, defaultTimeout)
	}
	return nil
}

// checkClients holds MaxClients to what the transport takes.
func (c *ServerConfig) checkClients() error {
	peers := 0
	if l, ok := c.Transport.(transport.Limited); ok {
		peers = l.MaxPeers()
	}
	if c.MaxClients == 0 {
		c.MaxClients = defaultMaxClients
		if peers > 0 {
			c.MaxClients = min(peers, limitMaxClients)
		}
	}
	switch {
	case c.MaxClients < 1 || c.MaxClients > limitMaxClients:
		return fmt.Errorf("foretick: ServerConfig.MaxClients is %d: use 1 to %d, or 0 for the default", c.MaxClients, limitMaxClients)
	case peers > 0 && c.MaxClients > peers:
		return fmt.Errorf("foretick: ServerConfig.MaxClients is %d, but the transport takes %d peers: set its Config.MaxPeers to %d", c.MaxClients, peers, c.MaxClients)
	}
	return nil
}

// Server runs a match: it takes commands in, computes ticks, and sends each
// client what it may see. Step does the work and Run calls it; neither is safe
// for concurrent use. Stats, Players and Player may be called by any goroutine.
type Server struct {
	cfg      ServerConfig
	p        *Protocol
	endpoint transport.Endpoint
	world    *ecs.World
	there    func(entity uint64) bool // world.Alive
	frame    Frame
	source   *snapshot.Source
	history  *lagcomp.History
	lag      lagcomp.Config
	growth   time.Duration // of how far back a player may look, at most
	effects  *effects
	losses   losses
	toldCut  [ecs.MaxTypes]bool // components of which something was cut, and said

	entities *ecs.Query // everything replicated
	commands *ecs.Query // everything with a command
	nextNet  uint32
	netsUsed bool // all network ids were given once

	spawnTick Tick // that ordinals are of
	ordinals  ordinals

	players  []*player // in order of arrival, those who are held a place included
	byPeer   map[transport.PeerID]*player
	owners   []*player // by owner; 0 unused
	bans     map[string]ban
	banSweep time.Duration // bans that are over are looked for from then on
	joining  []*player
	leaving  []PlayerID
	absent   []*player // lost their connection since the last tick
	back     []*player // came back since the last tick
	kicks    []*player // leave at the end of the tick
	barred   []barred  // bans that the transport is told then

	number    uint64 // tells its life from others'
	newcomers []newcomer
	departed  []departed // oldest first
	visits    visits
	waiting   map[string]int // connections that do not play yet, by origin
	logs      logLimit

	begun    bool
	over     bool // the last tick is past, and the players were told
	start    time.Time
	slipped  time.Duration // of it, that no ticks were computed for
	now      time.Duration // of the Step that runs, from the start
	before   time.Duration // of the one before
	interval time.Duration
	every    uint32 // ticks a snapshot

	epoch     uint8 // of the level
	ticking   bool
	closed    bool
	failed    bool   // a tick panicked
	closing   func() // what Close asked for in this tick
	after     func() // what waits for the tick's end: the next level
	named     bool   // NextLevel was called: clients are told
	level     []byte
	levelTick Tick

	recorded    bool   // the history holds a tick
	connections uint64 // begun so far
	sessions    uint64 // likewise

	library netcode.SchemaLibrary // of the protocol, for peers that ask

	events  [64]transport.Event
	scratch []byte
	put     putScratch

	trailWords  []int32 // scratch of debug builds
	trailsDue   bool    // a shared system has run that is still to be hashed
	bodies      bodies
	kept        kept
	living      func(lagcomp.ID, uint32) bool // alive, as a value
	cuts        map[ecs.Entity]uint32         // times that an entity's past was cut
	entityTeams map[ecs.Entity]uint8          // of those that have one of their own
	grouped     []grouping                    // since the last tick
	survey      *survey                       // nil: everything matters to everybody
	stats       ServerStats
	board       board // what other goroutines may read

	bandwidth *bandwidth // nil unless asked for

	encoding []*player         // whose snapshots are due in this tick
	caches   []*snapshot.Cache // one for each share of them
	shares   int
	share    func(i int) // makes those of one
}

// NewServer makes a server that begins at tick 0 with its first Step. The error
// lists every fault of the configuration and the protocol.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := cfg.Protocol
	if cfg.Verify != nil {
		if err := p.registry.Verify(true, cfg.Verify); err != nil {
			return nil, err
		}
	}
	s := &Server{
		cfg: cfg, p: p, endpoint: cfg.Transport, byPeer: map[transport.PeerID]*player{}, ordinals: ordinals{},
		waiting: map[string]int{}, logs: logLimit{},
	}
	s.world = ecs.NewWorld(p.types, ecs.WorldConfig{Tags: []string{TagServer}})
	s.there = func(e uint64) bool { return s.world.Alive(ecs.Entity(e)) }
	s.source = snapshot.NewSource(p.registry, snapshot.SourceConfig{})
	if cfg.Profile {
		s.bandwidth = &bandwidth{down: snapshot.NewProfile(p.registry)}
	}
	s.lag = lagcomp.Config{TickRate: p.tickRate, MaxRewind: cfg.MaxRewind, Growth: cfg.RewindGrowth, Shapes: p.shapes}
	s.growth = max(cfg.RewindGrowth, 0)
	var number [8]byte
	if _, err := io.ReadFull(cfg.Random, number[:]); err == nil { // else tokens are none either
		s.number = binary.LittleEndian.Uint64(number[:])
	}
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
	s.losses = newLosses(p, cfg.Logger, &s.frame.Tick, &s.stats.ValuesOutside, &s.stats.ChangesSwallowed)
	p.schedule.SetHook(frameHook{})
	s.survey = newSurvey(s)
	if err := s.publish(); err != nil {
		return nil, err
	}
	if debugBuild {
		for _, text := range p.cautions() {
			cfg.Logger.Warn(cautionText, "caution", text)
		}
	}
	s.share = s.encodeShare
	s.bodies, s.kept, s.living = newBodies(p), newKept(p.tickRate), s.alive
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

// Next is when the next tick is due; the zero time before the first Step.
func (s *Server) Next() time.Time {
	if !s.begun {
		return time.Time{}
	}
	if s.Ended() {
		return s.start.Add(s.now + time.Second)
	}
	return s.start.Add(s.due(s.frame.Tick + 1))
}

// due is when a tick is computed, counted from the start. It is exact at any
// rate: 31 Hz does not divide a second into whole nanoseconds.
func (s *Server) due(t Tick) time.Duration {
	return s.slipped + time.Duration(uint64(t)*uint64(time.Second)/uint64(s.p.tickRate))
}

// Step takes in what has arrived and computes the ticks that are due at now.
// Call it when [Server.Next] comes and whenever the transport is ready. now
// must not go back.
func (s *Server) Step(now time.Time) {
	switch {
	case s.closed:
		return
	case s.failed:
		misuse("Server.Step after a panic in a system: the match cannot go on, so close the server")
	case s.ticking:
		misuse("Server.Step inside of a tick: a system or a handler must not call it")
	}
	done := false
	defer func() { s.failed = !done }()
	if !s.begun {
		s.begun, s.start = true, now
	}
	t := now.Sub(s.start)
	s.receive(t)
	for n := 0; !s.Ended() && s.due(s.frame.Tick+1) <= t; n++ {
		if n == maxCatchUp {
			// A stalled process does not replay the time it slept: it would
			// fall behind for good. The clients follow by their clocks. Time itself
			// goes on: connections are timed and bounded by it.
			s.slipped += t - s.due(s.frame.Tick)
			s.stats.Slips++
			break
		}
		s.tick(t)
		if s.closed {
			s.post(true)
			done = true
			return
		}
	}
	if s.Ended() && !s.over {
		s.end()
	}
	s.endpoint.Flush()
	s.post(false)
	done = true
}

// Close drops every player with the reason, runs the hooks for those who left, and
// closes the transport. The match is over: no client tries to come back. Called from
// inside a tick it does so at the tick's end, and returns nil. After it Step does
// nothing. A second Close returns [transport.ErrClosed].
func (s *Server) Close(detail string) error { return s.closeWith(transport.Closed, detail) }

// CloseForRestart is Close for a server that another one replaces, as in a rolling
// restart. Clients that have [ClientConfig.Redial] try to come back for 30 s and join
// the new server; the others end with [transport.Restart]. Run calls it when its
// context ends.
func (s *Server) CloseForRestart(detail string) error {
	return s.closeWith(transport.Restart, detail)
}

func (s *Server) closeWith(code transport.Code, detail string) error {
	if s.closed || s.closing != nil {
		return transport.ErrClosed
	}
	if s.ticking && !s.failed {
		s.closing = func() { _ = s.close(code, detail) }
		return nil
	}
	return s.close(code, detail)
}

func (s *Server) close(code transport.Code, detail string) error {
	if s.closed {
		return transport.ErrClosed
	}
	s.closed = true
	defer s.post(true)
	if s.failed { // nothing of the match can be relied on
		for peer := range s.byPeer {
			s.endpoint.Disconnect(peer, code, detail)
		}
		return s.endpoint.Close(code, detail)
	}
	for _, p := range slices.Clone(s.players) {
		if p.state == away {
			s.leave(p, code, detail)
		} else {
			s.drop(p, code, detail)
		}
	}
	s.ticking = true // what hooks ask for is too late
	s.changePlayers()
	s.ticking = false
	return s.endpoint.Close(code, detail)
}

func (s *Server) player(player PlayerID) *player {
	if int(player) >= len(s.owners) {
		return nil
	}
	return s.owners[player]
}

func (s *Server) spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	i := s.p.prefabOf(k)
	if i < 0 {
		misuse("Spawn of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	if owner == ecs.Common || owner == ecs.ClientOnly {
		misuse("Spawn of prefab %q for a part of clients' worlds: spawn it for ecs.Nobody; shared systems that write it through WriteOther make it a shared physics object", k.Name())
	}
	e := s.world.Manager().Spawn(k, owner)
	*s.p.identity.Get(s.world, e) = NetworkID{Net: s.freeNet(), Prefab: uint16(i)}
	s.effects.structural(owner)
	return e
}

// freeNet returns a network id that no entity has. Ids have 32 bits and are given in
// turn: after 2³² spawns they come again, except for those still in use.
func (s *Server) freeNet() uint32 {
	for {
		if s.nextNet++; s.nextNet == 0 {
			s.netsUsed = true
		} else if !s.netsUsed || !s.source.Has(snapshot.NetID(s.nextNet)) {
			return s.nextNet
		}
	}
}

func (s *Server) destroy(e ecs.Entity) bool {
	if !s.world.Alive(e) {
		return false
	}
	s.destroying(e)
	return s.world.Manager().Destroy(e)
}

// destroying notes whose prediction an entity and its children were of.
func (s *Server) destroying(e ecs.Entity) {
	s.effects.structural(s.world.Owner(e))
	for _, child := range s.world.Children(e) {
		s.destroying(child)
	}
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
	return netcode.NewConn(netcode.Config{MTU: s.mtu(peer), Timeout: s.cfg.Timeout, Rate: s.cfg.SendRate, Channels: s.p.netChannels(), Newcomer: true})
}
