package server

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/rewind"
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
	untaped    transport.Endpoint // without the recorder: what is sent after the match is not on the tape
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
	stats      stats.Counters
	board      board      // what other goroutines may read
	figures    ownFigures // what other goroutines may read, for monitoring
	times      systemTimes
	inspected  inspected
	hooks      peerHooks
	around     systemHooks
	calls      calls
	traces     traceRequests
	reports    correctionReports
}

// wirePeers connects the parts that deal with peers.
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

// wireSeats connects the parts that admit peers, and those that read what peers send.
func (s *Server) wireSeats() {
	cfg := &s.cfg
	s.entities = frameEntities{sim: &s.sim, sessions: &s.sessions, late: &s.late, interest: &s.interest, past: s.past, logs: &s.logs}
	s.capture = capture{sim: &s.sim, source: s.senders.source, interest: &s.interest, views: &s.views, late: &s.late}
	s.seats = seats{&s.sim, &s.sessions, &s.senders, &s.late, s.past, &s.departures, &s.board, &s.logs, cfg.Random}
	s.comebacks = comebacks{&s.sim, &s.sessions, &s.seats, &s.departures, &s.board, &s.logs, cfg.Same}
	s.observers = observers{&s.sim, &s.sessions, &s.senders, &s.refusals, &s.panics, &s.tape, &s.board, cfg.Observe, cfg.MaxObservers}
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

// openWorld prepares the world for the program, which may change it between Steps.
func (s *Server) openWorld() {
	s.late.Touch()
	if r := s.tape.sink; r != nil {
		r.Touched()
	}
	s.sim.undraw()
}

// Frame returns the server's frame between ticks. Use it to spawn the entities of a match
// before the first Step.
func (s *Server) Frame() *foretick.ServerFrame {
	s.openWorld()
	return forServer(&s.sim.frame)
}

// Tick returns the newest tick computed, 0 before the first.
func (s *Server) Tick() foretick.Tick { return s.sim.frame.Tick }

// Stats returns the server's counters as of the end of the newest Step, or as of the
// newest join or leave if that is later. Any goroutine may call it, also while Run runs.
func (s *Server) Stats() stats.Counters {
	p := s.board.stats.Hold()
	if p == nil {
		return stats.Counters{}
	}
	defer p.Release()
	return p.Value
}

// Losses appends the fields, also of messages, whose values were clamped to the tag's
// range, or whose changes rounding undid. They are in the order of discovery, 256 at most.
// ValuesOutside and ChangesSwallowed of [stats.Counters] are the totals. A debug build also
// names the system that wrote each field. Like Traffic, call it between Steps, in a system or in a handler.
func (s *Server) Losses(dst []stats.Loss) []stats.Loss { return append(dst, s.sim.losses.List...) }

// Traffic returns the bytes sent to and received from all clients since the server began,
// by component and field. It returns nil unless [Config].Profile is set. The
// bytes of a vector are counted at its first field. Commands are sent as differences from one
// another, so their bytes are divided among the fields by size.
func (s *Server) Traffic() []stats.Traffic {
	return s.senders.traffic.trafficLines(s.p.Command, &s.stats)
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

// never is what Next returns for a closed server.
var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// progress is the present work of a server, and the requests for later.
type progress struct {
	ticking  bool
	changing bool   // a level begins or the match ends: hooks and a build function run
	building bool   // the build function runs
	behind   bool   // the Step computes another tick after this one
	inside   string // the method that is running and calls the game's functions: Step or Draw; empty: none
	closed   bool
	broke    error // the error of closing the endpoint
	failed   bool  // a tick panicked
	calling  bool  // a function of Do runs

	callNumber int    // the number in this tick of the function of Do that runs
	inner      bool   // the server is a preview's, and only the preview steps it
	stepping   bool   // the preview is stepping it
	over       bool   // the last tick is over, and the players were told
	closing    func() // the close that was requested in this tick
	after      func() // what runs after the tick: the next level
}

// defers reports whether a request of a function of the game must wait: for the end of the tick, or of
// the level change whose hook it is.
func (r *progress) defers() bool { return r.ticking || r.changing }

// refuses returns why the match cannot be ended or changed now. It is nil if it can. method is the
// method that was called.
func (r *progress) refuses(method string) error {
	if r.inside == "" || r.defers() {
		return nil
	}
	return fmt.Errorf("foretick: Server.%s is called in Server.%s by a function that runs in no tick, such as server.Config.Observe or a render system: pass it to Server.Do", method, r.inside)
}

// finish does what was requested in the tick or the level change that has ended: it closes the server,
// or else begins the next level. A hook of a level change may request another one.
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
