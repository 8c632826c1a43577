package simtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// Plan is a match with faults drawn from a seed. Only New is required; zero values
// elsewhere have the defaults given below. See [Check].
type Plan struct {
	// New returns one end of the game, which becomes the server or a client. It is
	// called for the server, for each client, and for each restarted process.
	New func() Player
	// Server changes the server's configuration, whose Protocol is already set. nil
	// leaves it unchanged.
	Server func(cfg *server.Config)

	// Clients is the number of clients. 0 means 16.
	Clients int
	// Observers is the number of clients that observe. The same faults happen to them, they
	// come and go as clients do, and their eyes move. In turn one sees public things only,
	// one also a team's, one a player's view, and one everything, unless Server sets
	// server.Config.Observe. 0: none.
	Observers int
	// Play is the duration of the match with faults. Rest is the time after that to
	// come to rest, without faults or input. Rest must outlast everything that keeps
	// moving by itself, such as the time until a dead player respawns. 0 means 60 s and 2 s.
	//
	// A negative Rest is for a game that never rests, with walking NPCs or waves of
	// enemies. Then Rest of [Player] is not called and no full comparison is made.
	// Snapshots are still compared in every tick, and at the end all clients must be
	// playing again.
	Play, Rest time.Duration
	// Quiet, when set, makes the match rest for Rest after each such period of play,
	// for a full comparison. 0: only at the end.
	Quiet time.Duration
	// FrameRate is the number of rendered frames a second, one for each Step of a
	// client. 0 means 30.
	FrameRate int

	// Links are the links that clients change between, each at its own times, on
	// average every Change (0: 10 s). Empty means [sim.Hell] alone, a very bad link.
	Links  []sim.Link
	Change time.Duration
	// Calm is the link while the match rests. The zero Link means 30 ms each way.
	Calm sim.Link

	// Stay is the mean time that a client plays before it leaves; 0: all stay. Absence is
	// the time until another client takes its place; 0 means 1 s.
	Stay, Absence time.Duration
	// ClientKills and ServerKills are the mean times between processes that end
	// without notice. A client is replaced after Absence, the server after Down (0: 3
	// s). 0: none.
	ClientKills, ServerKills, Down time.Duration
	// Kicks is the mean time between kicks of a player by the server, with
	// [transport.Kicked]. Another client takes its place after Absence. 0: none.
	Kicks time.Duration
	// Freezes is the mean time between freezes of a client, each for up to Frozen (0:
	// 3 s). 0: none.
	Freezes, Frozen time.Duration
	// ServerFreezes is the mean time between stalls of the server's process, each for
	// up to Frozen. 0: none. Rest should then be at least 3 s: after a stall the
	// server first runs the players' older commands, one for each tick that a client
	// had predicted ahead.
	ServerFreezes time.Duration
	// Drift is the largest clock error of clients, as a share: 0.0001 is typical of
	// crystals. 0: none.
	Drift float64

	// SyncTest is the number of ticks that one client of the match replays after each
	// of its ticks, to find and name systems whose results are not reproducible. 0
	// means 2, negative none. It costs that many extra ticks of one client.
	// [SyncTest] replays more ticks, on every client.
	SyncTest int

	// Extremes makes every second client send the fields of its command at the ends of their
	// ranges, one field at a time, for 2 s each. A float without a range gets 1e6 and −1e6.
	// The script makes the rest of the command. The match fails if the bodies of these clients
	// leap: if in at least 3 % of the ticks they move more than 4 times as fast as honest
	// bodies do in 99 % of theirs. Then the server takes a position, a speed or a frame time
	// from the command. Extremes compares the interpolated fields (tag lerp) of predicted
	// components of the command's entity. It leaves out angles and rotations, since an aim may
	// follow the command. The script must move as fast as players can.
	Extremes bool

	// AllowLosses is for a game that means values to leave the range of their tags, or to be
	// cut: [Check] then logs them. Without it they fail the match at its end, in a line for
	// each field. Values of the server and of all clients count. See client.Client.Losses.
	AllowLosses bool

	// AllowGrowth is for a game that means its entities to become ever more, or that sends a
	// player a reliable message in nearly every tick. Without it a match of 9 s or more fails
	// if a prefab has more entities in each third of the match than in the one before, and in
	// the end more than 32 and more than 4 for each player. It also fails if a type of message
	// went to a player in more than 3 of 4 ticks for 8 s.
	AllowGrowth bool

	// Idle allows a match that stands still. Without it, a match fails if no field of the
	// command was ever set, no replicated value changed, and no message or request was sent:
	// then its script presses nothing, and it tests nothing. Changes in ticks with a join or
	// a leave do not count.
	Idle bool

	// Checkers returns the checkers of a match. nil means [Standard].
	Checkers func() []Checker
}

// Standard returns the checkers of a plan that names none: [Agreement], [Delivery],
// [Requests], [Limits] and [Causes].
func Standard() []Checker {
	return []Checker{&Agreement{}, &Delivery{}, &Requests{}, &Limits{}, &Causes{}}
}

func (p Plan) withDefaults() Plan {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if p.Clients == 0 {
		p.Clients = 16
	}
	if p.FrameRate == 0 {
		p.FrameRate = 30
	}
	set(&p.Play, 60*time.Second)
	set(&p.Rest, 2*time.Second)
	set(&p.Change, 10*time.Second)
	set(&p.Absence, time.Second)
	set(&p.Down, 3*time.Second)
	set(&p.Frozen, 3*time.Second)
	if p.SyncTest == 0 {
		p.SyncTest = 2
	}
	if len(p.Links) == 0 {
		p.Links = []sim.Link{sim.Hell}
	}
	if p.Calm == (sim.Link{}) {
		p.Calm = sim.Link{Latency: 30 * time.Millisecond}
	}
	if p.Checkers == nil {
		p.Checkers = Standard
	}
	return p
}

// validate reports every fault of a plan.
func (p *Plan) validate() error {
	if p.New == nil {
		return fmt.Errorf("simtest: Plan.New is nil: set it to a function that returns one end of your game")
	}
	for i, l := range p.Links {
		if err := l.Validate(); err != nil {
			return fmt.Errorf("simtest: Plan.Links[%d]: %w", i, err)
		}
	}
	if err := p.Calm.Validate(); err != nil {
		return fmt.Errorf("simtest: Plan.Calm: %w", err)
	}
	if !(p.Drift > -0.5 && p.Drift < 0.5) {
		return fmt.Errorf("simtest: Plan.Drift is %v: use a share of less than a half, for example 0.0001", p.Drift)
	}
	if p.Extremes && p.Clients < 2 {
		return fmt.Errorf("simtest: Plan.Extremes needs two clients or more: every second one sends extremes")
	}
	if p.FrameRate > 1000 {
		return fmt.Errorf("simtest: Plan.FrameRate is %d: use up to 1000 a second, or 0 for 30", p.FrameRate)
	}
	if p.Rest < 0 && p.Quiet > 0 {
		return fmt.Errorf("simtest: Plan.Rest is %v and Plan.Quiet %v: a match that never rests has no quiet points; leave Quiet out", p.Rest, p.Quiet)
	}
	if p.Clients < 1 || p.Observers < 0 || p.Play < 0 || p.Quiet < 0 || p.FrameRate < 1 {
		return fmt.Errorf("simtest: a Plan needs at least one client and one frame a second, and no negative times or counts")
	}
	return nil
}

// Outcome is the result of playing a plan.
type Outcome struct {
	Seed      uint64             // seed of the match
	Trace     [32]byte           // digest of the whole match: see Match.Trace
	Played    time.Duration      // length of the match in virtual time
	Ticks     uint64             // ticks computed, over all server processes
	Snapshots uint64             // snapshots applied by clients
	Packets   uint64             // packets sent and received by the server
	Mended    uint64             // predictions that were corrected
	Causes    prediction.ByCause // corrected predictions by cause
	Joins     int                // clients that joined
	Observers int                // clients that came to observe
	Leaves    int                // clients that left
	Kills     int                // processes killed, servers and clients
	Kicks     int                // players that the server kicked
	Freezes   int                // clients and servers that were frozen
	Worked    []string           // a line of each checker that says what it checked
	// Lost has a line for each field with values outside of its tag's range, and one if strings
	// or slices were cut (see server.Server.Losses). They fail the match unless Plan.AllowLosses
	// is set.
	Lost []string
	// Unset has the fields of the command that were zero in every tick of the server. Unmatched
	// has the systems that run on the server and matched no row after any tick. Systems that
	// run once a tick, without rows, are left out.
	Unset, Unmatched []string
	// Tapped has the bools of the command that the scripts set for single ticks only, 10 times
	// or more, and that have no tag oneshot. A press between two ticks is lost without the tag,
	// and a command that comes late repeats the press. A field for what players hold needs no
	// tag.
	Tapped []string
	// Quiets is how often the match came to rest and was fully compared.
	Quiets int
}

// Run plays the plan with a seed. The error is the first failure: a fault that a
// checker found, or that there was nothing to check.
func (p Plan) Run(seed uint64) (Outcome, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return Outcome{}, err
	}
	d := &director{plan: p, m: New(seed)}
	d.out.Seed = seed
	err := d.playRounds()
	d.completeOutcome()
	if err == nil && d.panics > 0 {
		err = fmt.Errorf("simtest: seed %d: %d panics in decoding", seed, d.panics)
	}
	if err == nil && len(d.out.Lost) > 0 && !p.AllowLosses {
		err = fmt.Errorf("values do not fit their tags: %s (if the game means that, set Plan.AllowLosses)", strings.Join(d.out.Lost, "; "))
	}
	d.out.Trace, d.out.Played = d.m.Trace(), d.m.Net.Now()
	return d.out, err
}
