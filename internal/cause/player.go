package cause

import "github.com/foretick/foretick/prediction"

// suddenTicks is how many ticks in a row bring a snapshot after a sudden effect, so that one lost packet does
// not delay its correction.
const suddenTicks = 2

// Player holds the server's knowledge about the mispredictions of one player. The zero value
// is ready to use.
type Player struct {
	// effect is the newest tick in which a server system wrote the player's predicted state. 0 means none.
	effect Tick
	system int  // system is the number of the system that wrote in the tick effect.
	sudden Tick // sudden is the newest tick with an effect after some ticks without one. 0 means none.
	// pushed is the newest tick in which another player's run of a shared system wrote what this player
	// predicts.
	pushed   Tick
	pushedBy uint16
	hidden   hiddenTicks
	raised   []raisedAt
	told     []Raised // told is scratch.
	// packed is the note of the snapshot that is being built. It is empty if there is none.
	packed []byte
}

// hiddenTicks are the newest ticks in which entities were hidden from the player that shared
// systems may read. to is 0 for none.
type hiddenTicks struct {
	from, to Tick
	again    Tick // again is the newest tick with a hidden entity after some ticks without one.
}

// Conceal notes that an entity is hidden from the player in tick now, and shared systems may read it. acked is
// the newest snapshot that the client is known to have. Ticks without a hidden entity count as well if the
// client may not know of them yet.
func (p *Player) Conceal(now, acked Tick) {
	h := &p.hidden
	if h.to == 0 || now-h.to > 1 {
		if h.again = now; age(h.to, now, acked) == 0 {
			h.from = now
		}
	}
	h.to = now
}

// ForgetConcealed forgets hidden entities. It is for a client that has been sent nothing of them: a connection
// or a level begins.
func (p *Player) ForgetConcealed() { p.hidden = hiddenTicks{} }

// concealed returns what the note of tick now says of hidden entities.
func (p *Player) concealed(now, acked Tick) Concealed {
	switch h := &p.hidden; {
	case h.to == 0:
	case h.to != now:
		if a := age(h.to, now, acked); a != 0 {
			return concealedUntil(a - 1)
		}
	case acked == 0 || int32(h.again-acked) > 0:
		return concealedSince(now - h.from)
	}
	return 0
}

// raisedAt is an event that an entity of the player's raised.
type raisedAt struct {
	tick  Tick
	event uint32
}

// Substitution is a run of ticks for which the server made up the player's command.
type Substitution struct {
	From, To Tick // To is 0 if there was no run.
	How      prediction.StandIn
	Command  []byte // Command is the newest command, packed.
	Earlier  Stretch
}

// Stretch is a run of ticks from From to To, with the stand-in of the last. To is 0 if there was no run.
type Stretch struct {
	From, To Tick
	How      prediction.StandIn
}

// Follow begins a run in tick now. acked is the newest snapshot that the client is known
// to have. The runs before it that the client may not have heard of become one.
func (s *Substitution) Follow(now, acked Tick) {
	if s.To != 0 {
		before := Stretch{s.From, s.To, s.How}
		if age(s.Earlier.To, now, acked) != 0 {
			before.From, before.How = s.Earlier.From, prediction.Other
		}
		s.Earlier = before
	}
	s.From = now
}

// Affected notes that a server system wrote the player's predicted state in tick now.
// The effect is sudden if there was none for calm ticks before.
func (p *Player) Affected(now Tick, system int, calm Tick) {
	if p.effect == 0 || int64(now)-int64(p.effect) > int64(calm) { // the difference is below 0 in a tick that runs again
		p.sudden = now
	}
	p.effect, p.system = now, system
}

// AffectedIn reports whether a server system wrote the player's predicted state in tick now, the
// newest.
func (p *Player) AffectedIn(now Tick) bool { return p.effect == now && now != 0 }

// PushedIn reports whether another player's run of a shared system wrote predicted state of this
// player in tick now, the newest.
func (p *Player) PushedIn(now Tick) bool { return p.pushed == now && now != 0 }

// Sudden reports whether the player is to get a snapshot in this tick, because the server
// did something sudden that the player could not predict.
func (p *Player) Sudden(now Tick) bool { return p.sudden != 0 && now-p.sudden < suddenTicks }

// Pushed notes that a shared system, run for another player, wrote what this player
// predicts. by is the other player, 0 if it is not known.
func (p *Player) Pushed(now Tick, by uint16) { p.pushed, p.pushedBy = now, by }

// Raise notes an event of the player's entities.
func (p *Player) Raise(now Tick, event int) {
	p.raised = append(p.raised, raisedAt{now, uint32(event)})
}

// Rerun forgets the events from a tick on: those ticks run again.
func (p *Player) Rerun(from Tick) {
	for n := len(p.raised); n > 0 && int32(p.raised[n-1].tick-from) >= 0; n-- {
		p.raised = p.raised[:n-1]
	}
}

// Write makes the note for the snapshot of tick now. acked is the newest snapshot that the
// client is known to have. With always, the note is made for events alone, too: where
// remote players are predicted, a tick's result may differ without a cause on the server.
func (p *Player) Write(now, acked Tick, s *Substitution, always bool) {
	p.packed = p.packed[:0]
	p.forgetEvents(now, acked)
	n := Note{Substituted: age(s.To, now, acked), Effect: age(p.effect, now, acked), Pushed: age(p.pushed, now, acked), Concealed: p.concealed(now, acked)}
	calm := n.Substituted == 0 && n.Effect == 0 && n.Pushed == 0 && n.Concealed == 0
	if calm && !(always && len(p.raised) > 0) {
		return
	}
	if n.Substituted != 0 {
		n.Run, n.How = min(s.To-s.From, MaxRun), s.How
		if e := s.Earlier; age(e.To, now, acked) != 0 {
			n.Earlier = EarlierRun{Gap: s.From - e.To, Run: min(e.To-e.From, MaxRun), How: e.How}
		}
	}
	n.System, n.By = uint32(p.system), uint32(p.pushedBy)
	n.StandIn, n.Raised = s.Command, p.oldest(now)
	p.packed = n.Append(p.packed)
}

// Packed returns the note that Write made; empty if there is none. It is valid until the
// next Write.
func (p *Player) Packed() []byte { return p.packed }

// oldest lists the oldest of the events that the client may not have been told of, at most MaxRaised.
func (p *Player) oldest(now Tick) []Raised {
	p.told = p.told[:0]
	for _, e := range p.raised[:min(len(p.raised), MaxRaised)] {
		p.told = append(p.told, Raised{now - e.tick, e.event})
	}
	return p.told
}

// forgetEvents drops the events that no later note will hold: old ones, and those that
// are not newer than the newest snapshot that the client has.
func (p *Player) forgetEvents(now, acked Tick) {
	live := p.raised[:0]
	for _, e := range p.raised {
		if now-e.tick < Window && (acked == 0 || int32(e.tick-acked) > 0) {
			live = append(live, e)
		}
	}
	p.raised = live
}

// age returns 1 plus the ticks from t to now. It returns 0 if t is 0, which means never, if t is too long ago,
// or if the client is known to have a snapshot of t or a later tick. The client then had the note, and agrees
// with the server up to that tick.
func age(t, now, acked Tick) uint32 {
	if t == 0 || now-t >= Window || acked != 0 && int32(t-acked) <= 0 {
		return 0
	}
	return now - t + 1
}
