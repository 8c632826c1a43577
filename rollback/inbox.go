package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// inbox has the settled ticks that were received and that the simulation has not taken.
type inbox struct {
	standing *settled.Standing // standing is the newest one that was received. It is nil before a match is known.
	ring     []inboxTick
	taken    foretick.Tick // taken is the newest tick that the simulation took.
	read     settled.Tick  // read is scratch.
}

// inboxTick is a settled tick with memory of its own.
type inboxTick struct {
	of     settled.Tick
	packed []byte
}

// inboxTicks is how many ticks wait at most, besides those that a spectator holds back. The relay sends the
// others again.
const inboxTicks = 256

// begin begins with the tick after the standing's.
func (ib *inbox) begin(s *settled.Standing, held int) {
	ib.standing, ib.taken = s, s.Tick
	if len(ib.ring) == 0 {
		ib.ring = make([]inboxTick, inboxTicks+held)
	}
}

// newest returns the newest tick that was received.
func (ib *inbox) newest() foretick.Tick { return ib.standing.Tick }

// take reads ticks of which the first is that of the head. Those that were received before are skipped. After a
// gap the relay sends all again. An error means that the relay and this peer no longer understand one another.
func (ib *inbox) take(h *settled.Head, ticks []byte) error {
	t := h.First
	for range h.Count {
		var ok bool
		switch ahead := int32(t - ib.standing.Tick); {
		case ahead <= 0:
			ticks, ok = ib.standing.Skip(ticks)
		case ahead > 1 || int(t-ib.taken) > len(ib.ring):
			return nil
		default:
			if ticks, ok = ib.standing.Read(ticks, &ib.read); ok {
				ib.slotOf(t).keep(&ib.read)
			}
		}
		if !ok {
			return netcode.ErrMalformed
		}
		t++
	}
	return nil
}

func (ib *inbox) slotOf(t foretick.Tick) *inboxTick { return &ib.ring[t%foretick.Tick(len(ib.ring))] }

// keep copies a settled tick.
func (k *inboxTick) keep(s *settled.Tick) {
	k.of.Tick, k.of.Inputs, k.of.Changes, k.packed = s.Tick, k.of.Inputs[:0], append(k.of.Changes[:0], s.Changes...), k.packed[:0]
	for _, in := range s.Inputs {
		k.packed = append(k.packed, in.Command...)
	}
	at := 0
	for _, in := range s.Inputs {
		n := len(in.Command)
		in.Command = k.packed[at : at+n : at+n]
		k.of.Inputs, at = append(k.of.Inputs, in), at+n
	}
}

// next returns the oldest tick that waits, or nil. It is valid until the next call of take.
func (ib *inbox) next() *settled.Tick {
	if ib.standing == nil || ib.taken == ib.standing.Tick {
		return nil
	}
	ib.taken++
	return &ib.slotOf(ib.taken).of
}
