package rollback

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// State is how far a peer has come.
type State uint8

// The states, in their order.
const (
	// Connecting: the transport is not up yet, or the relay has not answered.
	Connecting State = iota
	// Joining: the peer receives the world or catches up, or its player is not in the match yet. A spectator that sees
	// the match later is Joining until the first tick that it has is due.
	Joining
	// Playing: the player is in the match. A spectator that sees it is Playing, too.
	Playing
	// Resuming: the connection was lost, and the peer connects again. The match goes on without its input.
	Resuming
	// Closed: the connection ended. View.Err says why.
	Closed
)

// String returns the state in lower case, such as "playing".
func (s State) String() string {
	return [...]string{"connecting", "joining", "playing", "resuming", "closed", "?", "?", "?"}[s&7]
}

// View is what to draw, as [Peer.Step] returns it.
type View struct {
	// State is how far the peer has come.
	State State
	// Err is why the connection ended, in state Closed: a [*transport.DisconnectError], or the error of Config.Redial.
	// nil in any other state. Code Mismatch means that the build or a setting is not that of the match: Reason names it.
	// After Full try another match, or later. Timeout, Unreachable, Gone and Restart mean that the connection was lost,
	// and that Config.Redial is nil or found no relay for 30 s. Replaced means that the player joined again elsewhere.
	// Closed has the reason of the relay's Close, or of the end of its match.
	Err error
	// World is the world at the end of Tick. Reading it is free. Nothing but systems may write it.
	World *ecs.World
	// Player is the own player, or [ecs.Nobody] before the relay has answered and for a spectator.
	Player foretick.PlayerID
	// Tick is the world's tick.
	Tick foretick.Tick
	// Settled is the newest tick that nothing can change any more.
	Settled foretick.Tick
	// Fraction is how far the rendered frame is from Tick to the next tick, 0 to 1.
	Fraction float32
	// Waiting is true while an input of another player is missing for longer than the window, or in lockstep at
	// all. No tick runs until it comes.
	Waiting bool
	// Delay is the input delay: how many ticks the world is behind the newest command. 0 if State is not Playing.
	Delay int
	// RTT is the round trip to the relay. 0 before it is measured. The way to another player is half of both players'.
	RTT time.Duration
	// RolledBack is how many ticks ran again in this Step.
	RolledBack int
}

// look fills in the view. before has the counts at the beginning of the Step.
func (p *Peer) look(before simulationCounts) {
	v, waited := &p.view, p.view.Waiting
	v.State, v.Err = p.state(), p.link.err
	v.Player = p.link.player()
	v.Tick, v.Settled = p.sim.newest, p.sim.settled
	v.RolledBack = int(p.sim.counts.again - before.again)
	t := p.pace.time
	if v.Fraction = t.Fraction; p.pace.even {
		v.Fraction = t.RenderFraction
	}
	v.Delay = 0
	if v.State == Playing && !p.cfg.Observe && !waited {
		v.Delay = max(int(int32(t.Command-p.sim.newest)), 0)
	}
	if v.RTT = 0; p.link.let {
		v.RTT = p.link.conn.RTT()
	}
	p.stats.count(v)
}

func (p *Peer) state() State {
	switch {
	case p.link.err != nil:
		return Closed
	case p.link.lost.by != nil:
		return Resuming
	case !p.link.let:
		return Connecting
	case p.match == 0:
		return Joining
	case p.cfg.Observe && p.pace.time.Started && int32(p.pace.due()-p.sim.settled) >= 0, p.joined:
		return Playing
	}
	return Joining
}
