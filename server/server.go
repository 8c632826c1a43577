package server

import (
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Server runs a match. It receives commands, computes ticks, and sends each client the
// state that the client may see. Step does the work and Run calls it. Neither is safe for
// concurrent use. Do, Stats, Players, Player and Figures may be called by any
// goroutine.
type Server struct {
	cfg        Config
	p          *compiled
	endpoint   transport.Endpoint
	untaped    transport.Endpoint // without the recorder: what follows the match is not on its tape
	tape       recording
	logs       peerLog
	clock      matchClock
	run        progress
	drain      draining
	sessions   sessions
	panics     panics
	kicks      kicks
	mail       mail
	commands   commands
	requests   requests
	admission  admission
	departures departures
	refusals   refusals
	door       door
	seats      seats
	comebacks  comebacks
	observers  observers
	turnover   turnover
	intake     intake
	inbox      inbox
	dispatch   dispatcher
	offenders  offenders
	schemas    schemaQueue
	sim        simulation
	entities   frameEntities
	past       *rewind.Past
	views      shotViews
	level      playedLevel
	levels     levels
	conclusion conclusion
	senders    senders
	capture    capture
	packets    packets
	interest   interest
	trails     writeTrails
	late       late.Room
	reruns     reruns
	stats      stats.Server
	board      board      // what other goroutines may read
	figures    ownFigures // likewise
	times      systemTimes
	inspected  inspected
	hooks      peerHooks
	around     systemHooks
	calls      calls
	traces     traceRequests
	reports    correctionReports
}

// wirePeers gives the parts that deal with peers what they need of one another.
func (s *Server) wirePeers() {
	cfg := &s.cfg
	s.logs = peerLog{Logger: cfg.Logger, clock: &s.clock, limits: map[string]*logKind{}}
	s.panics = panics{&s.sessions, &s.stats, &s.logs, &s.hooks, s.tape.sink, cfg.OnPanic}
	s.kicks = kicks{&s.sessions, &s.admission, &s.logs, &s.tape}
	s.mail = mail{&s.sim, &s.sessions, &s.hooks, &s.late}
	s.requests = requests{&s.sim, &s.sessions, &s.panics, &s.clock, &s.hooks, &s.late}
	s.commands = commands{sim: &s.sim, sessions: &s.sessions, panics: &s.panics, mail: &s.mail, late: &s.late, clock: &s.clock, repeat: cfg.RepeatInput, decay: cfg.DecayInput}
	s.board = board{of: &s.sessions, counted: &s.stats}
	s.departures = departures{s.endpoint, &s.sessions, &s.admission, &s.interest, &s.requests, &s.late, &s.board, &s.stats, &s.logs, &s.clock, placeLimits{cfg.ReconnectWindow, cfg.MaxHeldPerAddress, cfg.KeepPlaces}}
	s.admission = admission{
		endpoint: s.endpoint, sessions: &s.sessions, clock: &s.clock, logs: &s.logs, stats: &s.stats, figures: &s.figures.counted, library: &s.schemas.library,
		conn:        netcode.Config{Timeout: cfg.Timeout, Rate: cfg.SendRate, Channels: s.p.NetChannels(), Newcomer: true},
		mostWaiting: cfg.MaxWaitingPerAddress, waiting: map[string]int{},
	}
	s.refusals = refusals{&s.departures, &s.admission, &s.logs, &s.clock, &s.sim, &s.packets}
	s.offenders = offenders{&s.sessions, &s.departures, &s.stats, &s.logs, &s.clock, s.p.TickRate, cfg.Timeout}
	s.around = systemHooks{sim: &s.sim, late: &s.late, traces: &s.traces, trails: &s.trails, times: &s.times}
	s.reports = correctionReports{sim: &s.sim, sessions: &s.sessions, clock: &s.clock, panics: &s.panics, figures: &s.figures.counted}
	s.figures = ownFigures{sim: &s.sim, sessions: &s.sessions, clock: &s.clock, times: &s.times, logs: &s.logs, board: &s.board}
	s.traces = traceRequests{
		sim: &s.sim, sessions: &s.sessions, clock: &s.clock, reports: &s.reports, panics: &s.panics, tape: &s.tape, around: &s.around,
		allow: cfg.AllowTrace, replayed: s.tape.replays(),
	}
	s.senders = senders{
		sim: &s.sim, interest: &s.interest, late: &s.late, clock: &s.clock, level: &s.level, log: cfg.Logger,
		rate: cfg.SendRate, executor: cfg.Executor, statistics: cfg.TrainCompression,
	}
	s.packets = packets{&s.sim, &s.sessions, &s.senders, &s.level, &s.clock, &s.run, s.endpoint, newGreeting(cfg, s.p), nil}
	s.calls = calls{panics: &s.panics, hooks: &s.hooks, step: &s.run, sink: s.tape.sink}
}

// wireSeats gives the parts that let peers in what they need of one another, and those that read what
// peers send.
func (s *Server) wireSeats() {
	cfg := &s.cfg
	s.entities = frameEntities{sim: &s.sim, sessions: &s.sessions, late: &s.late, interest: &s.interest, past: s.past, logs: &s.logs}
	s.capture = capture{sim: &s.sim, source: s.senders.source, interest: &s.interest, views: &s.views, late: &s.late}
	s.seats = seats{&s.sim, &s.sessions, &s.senders, &s.late, s.past, &s.departures, &s.board, &s.logs, cfg.Random}
	s.comebacks = comebacks{&s.sim, &s.sessions, &s.seats, &s.departures, &s.board, &s.logs, cfg.Same}
	s.observers = observers{&s.sim, &s.sessions, &s.senders, &s.refusals, &s.panics, &s.tape, cfg.Observe, cfg.MaxObservers}
	s.door = door{&s.sim, &s.sessions, &s.drain, &s.refusals, &s.observers, &s.seats, &s.comebacks, cfg.AllowOtherBuilds, cfg.Same}
	s.turnover = turnover{&s.sim, &s.sessions, &s.panics, &s.requests, &s.seats}
	s.reruns = reruns{&s.sim, &s.sessions, &s.late, &s.around, &s.traces, &s.requests, &s.commands, &s.mail, &s.interest, s.past, &s.tape, nil}
	s.conclusion = conclusion{&s.sim, &s.run, &s.late}
	s.levels = levels{&s.conclusion, &s.level, &s.sessions, &s.senders, s.past, &s.turnover}
	s.dispatch = dispatcher{&s.panics, &s.door, &s.commands, &s.senders, &s.traces, &s.reports, &s.schemas}
	s.inbox = inbox{&s.sim, &s.sessions, &s.clock, &s.panics, &s.offenders, &s.requests, &s.dispatch}
	s.intake = intake{endpoint: s.endpoint, sessions: &s.sessions, clock: &s.clock, run: &s.run, admission: &s.admission, departures: &s.departures, inbox: &s.inbox}
}

// World returns the server's world, to set it up before the first Step and to read it
// between Steps.
func (s *Server) World() *ecs.World {
	s.openWorld()
	return s.sim.world
}

// openWorld prepares the world for the program, which takes it or the frame between Steps.
func (s *Server) openWorld() {
	s.late.Touch()
	if r := s.tape.sink; r != nil {
		r.Touched()
	}
	s.sim.undraw()
}

// Frame returns the server's frame between ticks. Use it to spawn the entities of a match
// before the first Step.
func (s *Server) Frame() *foretick.Frame {
	s.openWorld()
	return &s.sim.frame
}

// Tick returns the newest tick computed, 0 before the first.
func (s *Server) Tick() foretick.Tick { return s.sim.frame.Tick }

// Stats returns the server's counters as of the end of the newest Step, or as of the
// newest join or leave if that is later. Any goroutine may call it, also while Run runs.
func (s *Server) Stats() stats.Server {
	p := s.board.stats.Hold()
	if p == nil {
		return stats.Server{}
	}
	defer p.Release()
	return p.Value
}

// Players appends the players of the match to dst, in order of arrival. Absent players
// whose place is held are included. Any goroutine may call it, also while Run runs.
func (s *Server) Players(dst []foretick.PlayerID) []foretick.PlayerID {
	p := s.board.players.Hold()
	if p == nil {
		return dst
	}
	defer p.Release()
	return append(dst, p.Value...)
}

// Player returns the counters of one player as of the end of the newest tick, or as of its
// newest join, loss or return if that is later. It returns false when there is no such player. Any goroutine may call it, also while Run runs.
func (s *Server) Player(player foretick.PlayerID) (stats.Player, bool) {
	if int(player) >= len(s.board.each) {
		return stats.Player{}, false
	}
	p := s.board.each[player].Hold()
	if p == nil {
		return stats.Player{}, false
	}
	defer p.Release()
	return p.Value.stats, p.Value.plays
}

// ended reports whether the tick counter has run out, after 2³² − 4096 ticks: see
// [ErrEnded]. It says nothing about the game's own end of a match. From then on Step computes
// no ticks, and the server refuses new connections with the reason.
func (m *simulation) ended() bool { return m.frame.Tick >= lastTick }

// Next returns when the next tick is due, the zero time before the first Step. After the
// match's last tick it returns a second later than the newest Step, see [ErrEnded].
// After Close no tick is due any more: Next returns a time thousands of years ahead.
func (s *Server) Next() time.Time {
	if s.run.closed {
		return never
	}
	if !s.clock.begun {
		return time.Time{}
	}
	if l := s.drain.linger; l != nil {
		return s.clock.start.Add(min(max(l.next, s.clock.now), l.until))
	}
	if s.sim.ended() {
		return s.clock.start.Add(s.clock.now + time.Second)
	}
	return s.clock.start.Add(s.clock.due(s.sim.frame.Tick + 1))
}

// never is when a closed server is to be called again.
var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// progress is how far a server has come.
type progress struct {
	ticking  bool
	changing bool   // a level begins or the match ends: hooks and a build function run
	building bool   // … the build function
	behind   bool   // the Step computes another tick after this one
	inside   string // the method that runs, which calls the game's functions: Step or Draw; "": none
	closed   bool
	failed   bool // a tick panicked
	calling  bool // a function of Do runs …

	callNumber int    // … this one of the tick
	inner      bool   // it is a preview's, which alone steps it …
	stepping   bool   // … and does
	over       bool   // the last tick is past, and the players were told
	closing    func() // what Close asked for in this tick
	after      func() // what waits for the tick's end: the next level
}

// defers reports whether what a function of the game asks for waits: for the tick's end, or
// for that of the level change whose hook it is.
func (r *progress) defers() bool { return r.ticking || r.changing }

// refuses returns why the match cannot be ended or changed now, nil if it can. method is the
// one that was called.
func (r *progress) refuses(method string) error {
	if r.inside == "" || r.defers() {
		return nil
	}
	return fmt.Errorf("foretick: Server.%s is called in Server.%s by a function that runs in no tick, such as server.Config.Observe or a render system: pass it to Server.Do", method, r.inside)
}

// finish does what was asked for in the tick or the level change that ended: to close, or
// else to begin the next level. A hook of a level change may ask for another one.
func (r *progress) finish() {
	for r.closing == nil && r.after != nil {
		after := r.after
		r.after = nil
		after()
	}
	if closing := r.closing; closing != nil {
		r.closing, r.after = nil, nil
		closing()
	}
}

// endpointCounts are the counters of the server's own endpoint. They tell of peers that the
// endpoint refused, which the server never saw. A match of a host has none.
type endpointCounts struct {
	of    transport.Counted // nil: it counts nothing
	newly []transport.Count
	told  []transport.Count // as of the newest line about refusals
	shown []figures.Count
	next  time.Duration // when to read them again
}

// readEvery is the time between two readings.
const readEvery = time.Second

func newEndpointCounts(e transport.Endpoint) (c endpointCounts) {
	c.of, _ = transport.As[transport.Counted](e)
	return c
}

// read reads the counters once a second, and logs refusals once a minute at most.
func (c *endpointCounts) read(now time.Duration, logs *peerLog) {
	if c.of == nil || now < c.next {
		return
	}
	c.next = now + readEvery
	c.newly = c.of.AppendCounts(c.newly[:0])
	c.shown = c.shown[:0]
	for _, n := range c.newly {
		c.shown = append(c.shown, figures.Count(n))
	}
	refusals := transport.RefusedLine(c.told, c.newly)
	if refusals == "" {
		return
	}
	if _, due := logs.allow("refused by the endpoint"); due {
		logs.Logger.Warn(refusals)
		c.told = append(c.told[:0], c.newly...)
	}
}

// logEvery is the time between two lines of one kind about abuse or refusals, so
// that nobody outside can fill the log.
const logEvery = time.Minute

// logKind counts the lines of one kind that were not logged.
type logKind struct {
	next    time.Duration // no line of the kind before
	skipped uint64
}

// peerLog logs what peers do, in bounds.
type peerLog struct {
	Logger *slog.Logger
	clock  *matchClock
	limits map[string]*logKind // by kind, which are fixed texts
}

// allow reports whether a line of a kind may be logged now, and how many were left out since
// the last one.
func (l *peerLog) allow(kind string) (skipped uint64, ok bool) {
	return l.allowEach(logEvery, kind)
}

// allowEach is allow for a kind of which one line may be logged in so much time.
func (l *peerLog) allowEach(every time.Duration, kind string) (skipped uint64, ok bool) {
	k, t := l.limits[kind], l.clock.now
	if k == nil {
		k = &logKind{}
		l.limits[kind] = k
	}
	if t < k.next {
		k.skipped++
		return 0, false
	}
	skipped, k.next, k.skipped = k.skipped, t+every, 0
	return skipped, true
}

// abuse logs what a peer did or was refused, once a minute at most for each kind.
func (l *peerLog) abuse(kind string, p *player, args ...any) {
	l.refusal(kind, p.session.peer, p.session.address, p.session.identity, append(args, "session", p.session.number, "player", p.owner)...)
}

// refusal is abuse for a peer that did not get as far as a player.
func (l *peerLog) refusal(kind string, peer transport.PeerID, address string, identity []byte, args ...any) {
	skipped, ok := l.allow(kind)
	if !ok {
		return
	}
	line := make([]any, 0, 8+len(args))
	line = append(line, "peer", peer, "address", address, slog.String("identity", string(identity)), "skipped", skipped)
	l.Logger.Warn(kind, append(line, args...)...)
}

// Draw runs the render systems on the newest tick, for a server with its own screen
// during development. since is the time since the last call, and is their Frame.DT. Call it
// between Steps, with the tag [foretick.TagRender] in [Config].Tags; it panics with
// [foretick.UsageError] without. There is nothing to interpolate: each tick is drawn as it is, with
// every entity. What a render system writes into replicated components stays, so let it only
// read them: builds with the tag foretick_debug panic with [foretick.UsageError] after one that does.
// Draw panics with UsageError too in a function that the server calls, such as a system.
func (s *Server) Draw(since time.Duration) {
	if !slices.Contains(s.cfg.Tags, foretick.TagRender) {
		misuse.Panicf("Server.Draw on a server that draws nothing: add foretick.TagRender to server.Config.Tags")
	}
	if s.run.defers() || s.run.inside != "" {
		misuse.Panicf("Server.Draw in a function that the server calls: a system, a handler or a hook must not call it")
	}
	s.run.inside = "Draw"
	defer func() { s.run.inside = "" }()
	s.tape.outside(tape.Call{Op: tape.Draw, Time: since})
	f := &s.sim.frame
	defer func(dt float32) { f.DT = dt }(f.DT)
	f.DT = float32(since.Seconds())
	if !game.DebugBuild {
		s.p.Schedule.ExecuteRender(s.sim.world, f)
		return
	}
	before := s.replicated()
	s.p.Schedule.ExecuteRender(s.sim.world, f)
	if s.replicated() != before {
		misuse.Panicf("a render system wrote replicated components in Server.Draw, and changed the match: let it only read them; those that declare to write are %q", renderWriters(s.p))
	}
}

// replicated returns a hash of the memory of all replicated components.
func (s *Server) replicated() uint64 {
	h := fnv.New64a()
	for _, rows := range s.sim.entities.All(s.sim.world) {
		for i := range s.p.Components {
			c := &s.p.Components[i]
			if base := rows.Column(c.ID); base != nil && c.Size > 0 {
				_, _ = h.Write(unsafe.Slice((*byte)(base), uintptr(rows.Len())*c.Size)) // never fails
			}
		}
	}
	return h.Sum64()
}

// renderWriters returns the render systems that declare to write replicated components.
func renderWriters(p *compiled) (names []string) {
	for _, sys := range p.Schedule.Systems() {
		if sys.Render && slices.ContainsFunc(slices.Concat(sys.Writes, sys.OtherWrites), func(id ecs.ID) bool { return p.Index(id) >= 0 }) {
			names = append(names, sys.Name)
		}
	}
	return names
}
