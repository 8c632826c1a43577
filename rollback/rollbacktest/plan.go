package rollbacktest

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport/sim"
)

// Player is a peer of a game under test: its protocol, newly built for each call, and the scripted input of its player.
type Player struct {
	// Protocol is the game's declaration. Required.
	Protocol *foretick.Protocol
	// Sample makes the player's commands. nil gives zero commands. Spectators and replays do not use it.
	Sample rollback.Sampler
	// Draw, when set, is called after each Step with its result.
	Draw func(v rollback.View)
}

// Plan is a match with faults drawn from a seed. Only New is required. Zero values elsewhere have the defaults given
// below. See [Check].
type Plan struct {
	// New returns a peer of the game. It is called for each player and spectator that joins, and for each replay. seed
	// is drawn from the match's seed, another one for each call. Draw the script's own chance from it.
	New func(seed uint64) Player
	// Peer changes a peer's configuration, such as Window, Delay or Tags. nil leaves it unchanged.
	Peer func(cfg *rollback.Config)
	// Relay changes the relay's configuration. It has a History of 12 s, so that players who join later than that receive
	// a world. nil leaves it unchanged.
	Relay func(cfg *relay.Config)

	// Players is the number of players, up to 64. 0 means 2.
	Players int
	// Observers is the number of spectators. The same faults happen to them, and they come and go as players do.
	// About half of them see the match a second later, unless Peer sets Behind.
	Observers int
	// Play is the duration of the match with faults. After that the match goes on without faults for some seconds. 0
	// means 30 s.
	Play time.Duration
	// FrameRate is the number of rendered frames a second, one for each Step of a peer. 0 means 60.
	FrameRate int

	// Links are the links between peers and the relay. Each peer changes between them at its own times, on average
	// every Change (0: 10 s). Empty means one with a round trip of 100 to 140 ms between two players, and 3 % loss in
	// each direction.
	Links  []sim.Link
	Change time.Duration

	// Stay is the mean time that a peer plays before it leaves. 0: all stay. Absence is the time until another one
	// takes its place, which joins late. 0 means 1 s. One player always stays, since its world is that of the match.
	Stay, Absence time.Duration
	// Hides is the mean time between freezes of a peer, as of a hidden tab or a laptop that sleeps. Each is for up to
	// Hidden (0: 3 s). 0: none.
	Hides, Hidden time.Duration
	// Drops is the mean time between connections that are lost and come back by Redial. 0: none.
	Drops time.Duration

	// Idle allows a match that stands still. Without it, a match fails if no field of the command was ever set, or no
	// value of the world changed in a tick without a join or a leave: then it tests nothing.
	Idle bool
}

// bad is the link of a plan that names none.
var bad = sim.Link{Latency: 25 * time.Millisecond, Jitter: 10 * time.Millisecond, InOrder: true, Loss: 0.03}

func (p Plan) withDefaults() Plan {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if p.Players == 0 {
		p.Players = 2
	}
	if p.FrameRate == 0 {
		p.FrameRate = 60
	}
	if len(p.Links) == 0 {
		p.Links = []sim.Link{bad}
	}
	set(&p.Play, 30*time.Second)
	set(&p.Change, 10*time.Second)
	set(&p.Absence, time.Second)
	set(&p.Hidden, 3*time.Second)
	return p
}

// validate reports every fault of a plan.
func (p *Plan) validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("rollbacktest: "+format, args...)) }
	if p.New == nil {
		fault("Plan.New is nil: set it to a function that returns a peer of your game")
	}
	if p.Players < 1 || p.Players > 64 {
		fault("Plan.Players is %d: use up to 64, or 0 for 2", p.Players)
	}
	if p.Observers < 0 || p.Observers > 1000 {
		fault("Plan.Observers is %d: use 0 to 1000", p.Observers)
	}
	if p.FrameRate < 1 || p.FrameRate > 1000 {
		fault("Plan.FrameRate is %d: use up to 1000 a second, or 0 for 60", p.FrameRate)
	}
	for i, l := range p.Links {
		if err := l.Validate(); err != nil {
			fault("Plan.Links[%d]: %w", i, err)
		}
	}
	if min(p.Play, p.Change, p.Stay, p.Absence, p.Hides, p.Hidden, p.Drops) < 0 {
		fault("a time of the Plan is negative: use 0 for none, or for the default")
	}
	return errors.Join(errs...)
}

// Run plays the plan with a seed. The error is a [*Fault], or says what is wrong with the plan. It wraps the error of a
// peer that ended. A panic in the game's code leaves Run.
func (p Plan) Run(seed uint64) (Outcome, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return Outcome{}, err
	}
	m, err := newMatch(p, seed)
	if err != nil {
		return Outcome{}, err
	}
	m.play()
	if m.fault == nil {
		m.replay()
	}
	m.completeOutcome()
	if m.fault != nil {
		return m.out, m.fault
	}
	return m.out, nil
}
