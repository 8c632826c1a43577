package relay

import (
	"math"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// inputsAhead is how many ticks a player's inputs may be ahead of the newest settled tick.
const inputsAhead = 128

// place is the place of one player. Its number is its index in places.all, plus 1.
type place struct {
	taken  bool          // taken is true if a player has the place: see person.
	joined bool          // joined is true if the player is in the match, since a settled tick.
	leaves bool          // leaves is true if the player leaves in the next settled tick.
	absent bool          // absent is true if the relay does not wait for the player.
	token  [16]byte      // token is what the player comes back with.
	person uint64        // person tells the player from others in the same place.
	guest  *guest        // guest is nil while the player has no connection.
	heard  time.Duration // heard is when the newest packet came.
	buffer *netcode.CommandBuffer

	last     []byte       // last is the player's newest own input, or what stands in for it.
	repeated int          // repeated counts the ticks in a row in which an input stood in.
	stoodIn  netcode.Tick // stoodIn is the newest tick in which an input stood in.
	lies     int          // lies counts worlds that were not those of the majority.
	slow     int          // slow counts worlds that the player was asked for and did not send in time, as places.blame does.
	clues    int          // clues is how many more clues the player may send.

	// early is how early the inputs came since the last packet to the player, as in settled.Head.
	early    int16
	hasEarly bool
}

// places are the players of a match and their inputs.
type places struct {
	all      []place
	size     int // size is the length of a command in bytes.
	standing *settled.Standing
	repeat   int // repeat is Config.RepeatInput in ticks.
	near     int // near is how many settled ticks a peer may lack when it joins: half a second of them.
	rate     float64

	slowest int    // slowest is the most that slow ever was in a place. A new player begins with it.
	stoodIn uint64 // stoodIn counts inputs that stood in.
	late    uint64 // late counts the inputs that came too late, of buffers that are gone.
	joins   uint64
	leaves  uint64
}

func newPlaces(cfg *Config, s *settled.Standing, rate uint8) *places {
	return &places{all: make([]place, s.Places), size: s.Size, standing: s, rate: float64(rate), repeat: int(max(cfg.RepeatInput, 0) * time.Duration(rate) / time.Second), near: max(20, int(rate)/2)}
}

func (p *places) at(player ecs.Owner) *place { return &p.all[player-1] }

// of returns the place of a token, or 0.
func (p *places) of(token [16]byte) ecs.Owner {
	for i := range p.all {
		if pl := &p.all[i]; pl.taken && !pl.leaves && pl.token == token {
			return ecs.Owner(i + 1)
		}
	}
	return 0
}

// take gives a free place to a guest. It returns 0 if none is free.
func (p *places) take(g *guest, token [16]byte, r *settled.Rules) ecs.Owner {
	for i := range p.all {
		if pl := &p.all[i]; !pl.taken {
			*pl = place{taken: true, absent: true, slow: p.slowest, token: token, person: settled.PersonOf(token), last: make([]byte, p.size)}
			p.seat(pl, g, r)
			return ecs.Owner(i + 1)
		}
	}
	return 0
}

// blame counts a world that a player was asked for and did not send. A player that leaves and comes back anew is not
// asked before those that were better.
func (p *places) blame(player ecs.Owner) {
	pl := p.at(player)
	pl.slow++
	p.slowest = max(p.slowest, pl.slow)
}

// seat makes a guest the one who plays a place. The relay does not wait for its inputs before the first
// one came in time, so nobody feels that it joins.
func (p *places) seat(pl *place, g *guest, r *settled.Rules) {
	p.countLate(pl)
	pl.guest, pl.heard, pl.absent = g, g.heard, true
	pl.buffer = netcode.NewCommandBuffer(p.size, inputsAhead, settled.Widths(r.Fields)...)
}

// countLate keeps the number of inputs that came too late, before a buffer goes.
func (p *places) countLate(pl *place) {
	if pl.buffer != nil {
		late, _, _, _ := pl.buffer.Stats()
		p.late += late
	}
}

// lateInputs returns how many inputs came after their tick was settled.
func (p *places) lateInputs() uint64 {
	n := p.late
	for i := range p.all {
		if b := p.all[i].buffer; b != nil {
			late, _, _, _ := b.Stats()
			n += late
		}
	}
	return n
}

// caughtUp reports whether a guest has all settled ticks but the last few, which are on their way. What it has is known a
// round trip later.
func (p *places) caughtUp(g *guest, newest netcode.Tick) bool {
	if g == nil || g.state != following || !g.showed {
		return false
	}
	lacks := netcode.Distance(newest, g.holds)
	return lacks <= p.near || lacks <= p.near+int(g.conn.RTT().Seconds()*p.rate)
}

// leave notes that a place's player leaves in the next settled tick, or at once if it has not joined.
func (p *places) leave(pl *place) {
	if pl.joined {
		pl.guest, pl.leaves = nil, true
		return
	}
	p.free(pl)
}

func (p *places) free(pl *place) {
	p.countLate(pl)
	*pl = place{}
}

// missing returns how many players have no input for a tick yet, and for how many of them the relay waits.
func (p *places) missing(t netcode.Tick) (missing, awaited int) {
	for i := range p.all {
		if pl := &p.all[i]; pl.joined && !pl.leaves && !pl.buffer.Has(t) {
			if missing++; !pl.absent {
				awaited++
			}
		}
	}
	return missing, awaited
}

// fill fills in a tick: who joins and who leaves, and everybody's input. newest is the tick before it.
func (p *places) fill(out *settled.Tick, t, newest netcode.Tick) {
	out.Tick, out.Inputs, out.Changes = t, out.Inputs[:0], out.Changes[:0]
	for i := range p.all {
		pl, player := &p.all[i], ecs.Owner(i+1)
		switch {
		case len(out.Changes) == settled.MostChanges: // the others join and leave in the next ticks
		case pl.leaves:
			out.Changes = append(out.Changes, settled.RosterChange{Player: player})
			p.free(pl)
			p.leaves++
		case pl.taken && !pl.joined && p.caughtUp(pl.guest, newest):
			out.Changes = append(out.Changes, settled.RosterChange{Player: player, Joined: true, Person: pl.person})
			pl.joined = true
			p.joins++
		}
		if !pl.taken {
			continue
		}
		c, came := pl.buffer.Take(t)
		if !pl.joined {
			continue
		}
		in := settled.Input{Player: player, Command: pl.last, StandIn: !came}
		if came {
			copy(pl.last, c.Data)
			pl.absent, pl.repeated = false, 0
		} else {
			p.standIn(pl, t)
		}
		out.Inputs = append(out.Inputs, in)
	}
}

// standIn makes a place's last input the one that stands in for the next: without presses, and zero after
// a while.
func (p *places) standIn(pl *place, t netcode.Tick) {
	pl.repeated++
	pl.stoodIn, pl.absent = t, true
	p.stoodIn++
	switch {
	case pl.repeated > p.repeat:
		clear(pl.last)
	case pl.repeated == 1:
		p.standing.Release(pl.last)
	}
}

// readCommands reads a body of netcode.MessageCommands. at is the relay's clock in ticks, wait how many
// ticks it waits, and newest the newest settled tick.
func (pl *place) readCommands(body []byte, at, wait float64, newest netcode.Tick) error {
	open := max(0, min(at-wait, float64(newest+1))) // inputs are in time from this tick on
	err := pl.buffer.Read(body, open)
	if e, ok := pl.buffer.Early(); ok {
		e = int16(max(math.MinInt16, float64(e)-256*(at-open)))
		if !pl.hasEarly || e < pl.early {
			pl.early, pl.hasEarly = e, true
		}
	}
	return err
}
