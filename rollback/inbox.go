package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
)

// inbox has the settled ticks that were received and that the simulation has not taken.
type inbox struct {
	standing *standing // standing is the newest one that was received. It is nil before a match is known.
	ring     []inboxTick
	taken    foretick.Tick // taken is the newest tick that the simulation took.
	read     settledTick   // read is scratch.
}

// inboxTick is a settled tick with memory of its own.
type inboxTick struct {
	settledTick
	packed []byte
}

// inboxTicks is how many ticks wait at most, besides those that a spectator holds back. The relay sends the
// others again.
const inboxTicks = 256

// begin begins with the tick after the standing's.
func (ib *inbox) begin(s *standing, held int) {
	ib.standing, ib.taken = s, s.tick
	if len(ib.ring) == 0 {
		ib.ring = make([]inboxTick, inboxTicks+held)
	}
}

// newest returns the newest tick that was received.
func (ib *inbox) newest() foretick.Tick { return ib.standing.tick }

// take reads ticks of which the first is that of the head. Those that were received before are skipped. After a
// gap the relay sends all again. An error means that the relay and this peer no longer understand one another.
func (ib *inbox) take(h *settledHead, ticks []byte) error {
	t := h.first
	for range h.count {
		var ok bool
		switch ahead := int32(t - ib.standing.tick); {
		case ahead <= 0:
			ticks, ok = ib.standing.skip(ticks)
		case ahead > 1 || int(t-ib.taken) > len(ib.ring):
			return nil
		default:
			if ticks, ok = ib.standing.read(ticks, &ib.read); ok {
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
func (k *inboxTick) keep(s *settledTick) {
	k.tick, k.inputs, k.changes, k.packed = s.tick, k.inputs[:0], append(k.changes[:0], s.changes...), k.packed[:0]
	for _, in := range s.inputs {
		k.packed = append(k.packed, in.command...)
	}
	at := 0
	for _, in := range s.inputs {
		n := len(in.command)
		in.command = k.packed[at : at+n : at+n]
		k.inputs, at = append(k.inputs, in), at+n
	}
}

// next returns the oldest tick that waits, or nil. It is valid until the next call of take.
func (ib *inbox) next() *settledTick {
	if ib.standing == nil || ib.taken == ib.standing.tick {
		return nil
	}
	ib.taken++
	return &ib.slotOf(ib.taken).settledTick
}
