package foretick

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Server runs a match. It receives commands, computes ticks, and sends each client the
// state that the client may see. Step does the work and Run calls it. Neither is safe for
// concurrent use. Do, Stats, Players, Player and Figures may be called by any
// goroutine.
type Server struct {
	cfg       ServerConfig
	p         *compiled
	endpoint  transport.Endpoint
	untaped   transport.Endpoint    // without the recorder: what follows the match is not on its tape
	sink      tape.Sink             // of the recorder; nil: there is none
	events    [64]transport.Event   // read from it
	library   netcode.SchemaLibrary // of the protocol, for peers that ask
	logs      serverLog
	clock     serverClock
	run       serverRun
	drain     serverDrain
	sessions  sessions
	admission admission
	sim       simulation
	past      *rewind.Past
	level     serverLevel
	senders   senders
	interest  serverInterest
	trails    serverTrails
	late      lateInputs
	stats     stats.Server
	board     board         // what other goroutines may read
	figures   serverFigures // likewise
	times     systemTimes
	bandwidth *bandwidth // nil unless asked for
	inspected inspected
	hooks     serverHooks
	calls     calls
	traces    serverTraces
	reports   serverReports
	preview   *preview                   // whose server it is; nil: it is a server by itself
	order     func(ecs.Rows, int) uint64 // compiled.order, made once
	hash      func() uint64              // hashWorld, likewise
	queued    []tape.Queued              // scratch
}

// serverTrails are for debug builds.
type serverTrails struct {
	words []int32 // scratch
	due   bool    // a shared system has run that is still to be hashed
}

// World returns the server's world, to set it up before the first Step and to read it
// between Steps.
func (s *Server) World() *ecs.World {
	s.touched()
	s.undraw()
	return s.sim.world
}

// Frame returns the server's frame between ticks. Use it to spawn the entities of a match
// before the first Step.
func (s *Server) Frame() *Frame {
	s.touched()
	s.undraw()
	return &s.sim.frame
}

// undraw takes a preview's rendered frame out of the world, for what is done between Steps.
func (s *Server) undraw() {
	if s.preview != nil && !s.preview.busy {
		s.preview.canvas.undraw()
	}
}

// Tick returns the newest tick computed, 0 before the first.
func (s *Server) Tick() Tick { return s.sim.frame.Tick }

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
func (s *Server) Players(dst []PlayerID) []PlayerID {
	p := s.board.players.Hold()
	if p == nil {
		return dst
	}
	defer p.Release()
	return append(dst, p.Value...)
}

// Player returns the counters of one player as of the end of the newest tick, or as of its
// newest join, loss or return if that is later. It returns false when there is no such player. Any goroutine may call it, also while Run runs.
func (s *Server) Player(player PlayerID) (stats.Player, bool) {
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
func (s *Server) ended() bool { return s.sim.frame.Tick >= lastTick }

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
	if s.ended() {
		return s.clock.start.Add(s.clock.now + time.Second)
	}
	return s.clock.start.Add(s.clock.due(s.sim.frame.Tick + 1))
}

// never is when a closed server is to be called again.
var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// serverRun is how far a server has come.
type serverRun struct {
	ticking  bool
	changing bool   // a level begins or the match ends: hooks and a build function run
	building bool   // … the build function
	behind   bool   // the Step computes another tick after this one
	captured bool   // the tick's snapshots have its entities, and are not sent yet
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
func (r *serverRun) defers() bool { return r.ticking || r.changing }

// refuseCaptured panics while a tick's snapshots have its entities and are not sent yet.
func (r *serverRun) refuseCaptured(method string) {
	if r.captured {
		misuse("Frame.%s after the entities of the tick were handed to the snapshots, in ServerConfig.OnTick or a function that says what is sent: pass it to Server.Do", method)
	}
}

// refuses returns why the match cannot be ended or changed now, nil if it can. method is the
// one that was called.
func (r *serverRun) refuses(method string) error {
	if r.inside == "" || r.defers() {
		return nil
	}
	return fmt.Errorf("foretick: Server.%s is called in Server.%s by a function that runs in no tick, such as ServerConfig.Observe or a render system: pass it to Server.Do", method, r.inside)
}

// finish does what was asked for in the tick or the level change that ended: to close, or
// else to begin the next level. A hook of a level change may ask for another one.
func (r *serverRun) finish() {
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

// serverLevel is the level that is played.
type serverLevel struct {
	epoch uint8
	named bool // NextLevel was called: clients are told
	data  []byte
	tick  Tick // its first
}

// info is what clients are told of the level.
func (l *serverLevel) info() netcode.LevelInfo {
	return netcode.LevelInfo{Epoch: l.epoch, Tick: l.tick, Data: l.data}
}

// senders make the snapshots and packets of a tick.
type senders struct {
	source  *snapshot.Source
	every   uint32 // ticks a snapshot
	scratch []byte
	put     putScratch
	grouped map[snapshot.NetID]uint32 // the groups of entities that changed theirs since the last tick

	toldLong  schema.MaskBuilder // the components that made an entity too long to send, and were named
	toldCrowd bool               // the log says that there are too many entities for a player

	encoding []*player         // whose snapshots are due in this tick
	caches   []*snapshot.Cache // one for each share of them
	shares   int
	share    func(i int) // makes those of one
}

// bandwidth counts what ServerConfig.Profile asks for.
type bandwidth struct {
	down *snapshot.Profile
	up   uint64 // bytes of command messages
}

// putScratch is memory for handing entities to the snapshot source.
type putScratch struct {
	pointers []unsafe.Pointer
	columns  []column
	masks    []tableMask // of the tables, in the order of the tick
	tables   int         // that had their turn
}

// column is a replicated component of one table.
type column struct {
	base  unsafe.Pointer
	size  uintptr
	index int
}
