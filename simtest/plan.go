package simtest

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

// Plan is a match to be played with faults drawn from a seed. New alone is
// required; zero elsewhere means what is named. See [Check].
type Plan struct {
	// New makes one end of the game: it is called for the server, for each
	// client, and for each process that is started again.
	New func() Player
	// Server changes the server's configuration, whose Protocol is set. nil
	// leaves it as it is.
	Server func(cfg *foretick.ServerConfig)

	// Clients that play. 0 means 16.
	Clients int
	// Play is how long the match is played, with faults, and Rest how long it
	// then has to come to rest, without: nobody gives input any more, and Rest
	// must outlast whatever flies on by itself. 0 means 60 s and 2 s.
	//
	// A negative Rest is for a game that never rests: NPCs walk, waves come. Then
	// nobody is told to rest and nothing is compared whole. Snapshots are compared in
	// every tick all the same, and in the end everybody must be back in the match.
	Play, Rest time.Duration
	// Quiet, when set, has the match rest for Rest each time so much has been
	// played, for a comparison in the middle. 0: in the end alone.
	Quiet time.Duration
	// Pictures a second that clients step at. 0 means 30.
	Pictures int

	// Links are what clients' links change between, each at its own moments, on
	// the mean each Change (0: 10 s). None means sim.Hell.
	Links  []sim.Link
	Change time.Duration
	// Calm is the link while the match rests. The zero Link is 30 ms each way.
	Calm sim.Link

	// Stay is the mean time that a client plays before it leaves, and Absence
	// until another comes in its place. 0: all stay; 1 s.
	Stay, Absence time.Duration
	// ClientKills and ServerKills are the mean times between processes that end
	// without a word; a client's successor comes after Absence, the server's
	// after Down (0: 3 s). 0: none.
	ClientKills, ServerKills, Down time.Duration
	// Freezes is the mean time between clients that stand still, for up to
	// Frozen (0: 3 s). 0: none.
	Freezes, Frozen time.Duration
	// ServerFreezes is the mean time between stalls of the server's process, for up
	// to Frozen. 0: none. Rest should then be 3 s at least: a player's commands of
	// before the stall run first, as far ahead as his client had predicted.
	ServerFreezes time.Duration
	// Drift is by how much clients' clocks go wrong at most, as a share: 0.0001
	// is what crystals do. 0: not at all.
	Drift float64

	// SyncTest is how many ticks one client of the match runs again after each of its
	// ticks, so that a system that does not come out the same is found and named. 0
	// means 2, negative none. It costs that many ticks of one client. [SyncTest] runs
	// more of them, on every client.
	SyncTest int

	// Checkers makes those that watch a match. nil means [Standard].
	Checkers func() []Checker
}

// Standard are the checkers of a plan that names none: [Agreement], [Delivery],
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
	if p.Pictures == 0 {
		p.Pictures = 30
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

// validate names what is wrong with a plan.
func (p *Plan) validate() error {
	if p.New == nil {
		return fmt.Errorf("simtest: Plan.New is nil: it makes one end of your game")
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
	if p.Pictures > 1000 {
		return fmt.Errorf("simtest: Plan.Pictures is %d: use up to 1000 a second, or 0 for 30", p.Pictures)
	}
	if p.Rest < 0 && p.Quiet > 0 {
		return fmt.Errorf("simtest: Plan.Rest is %v and Plan.Quiet %v: a match that never rests has no quiet points; leave Quiet out", p.Rest, p.Quiet)
	}
	if p.Clients < 1 || p.Play < 0 || p.Quiet < 0 || p.Pictures < 1 {
		return fmt.Errorf("simtest: a Plan needs one client and one picture a second at least, and no negative times")
	}
	return nil
}

// Outcome is what became of a played plan.
type Outcome struct {
	Seed      uint64
	Trace     [32]byte      // see Match.Trace
	Played    time.Duration // virtual
	Ticks     uint64        // over all server processes
	Snapshots uint64        // applied by clients
	Packets   uint64        // sent by the server and taken in by it
	Mended    uint64        // predictions that were corrected
	// Causes counts these by cause.
	Causes  [prediction.Causes]uint64
	Joins   int      // clients that came in
	Leaves  int      // those that left
	Kills   int      // processes killed, servers and clients
	Freezes int      // clients, and servers, that stood still
	Worked  []string // what each checker checked
	// Quiets is how many times the match came to rest and was compared whole.
	Quiets int
}

// Run plays the plan from a seed. The error says what went wrong first: what a
// checker found, or that there was nothing to find.
func (p Plan) Run(seed uint64) (Outcome, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return Outcome{}, err
	}
	d := &director{plan: p, m: New(seed)}
	d.out.Seed = seed
	err := d.run()
	d.count()
	if err == nil && d.panics > 0 {
		err = fmt.Errorf("simtest: seed %d: %d panics in decoding", seed, d.panics)
	}
	d.out.Trace, d.out.Played = d.m.Trace(), d.m.Net.Now()
	return d.out, err
}
