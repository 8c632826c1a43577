package foretick

import "slices"

// heldMessages are reliable messages of ticks that may still run again, by tick.
type heldMessages struct {
	items []heldMessage
	bytes []byte
	aside []heldMessage // while ticks run again
}

type heldMessage struct {
	tick        Tick
	stands      bool // what sent it does not run again
	to          *player
	channel, id uint8
	from, upto  int
}

// keeps takes a message that is not to be sent now: a reliable one until its tick is final,
// and one of a tick that runs again and sent its unreliable messages before.
func (w *lateWorld) keeps(p *player, channel, id uint8, payload []byte) bool {
	switch {
	case !w.on:
		return false
	case w.running && w.s.late.test.running:
		return true
	case !w.s.p.Reliable(channel):
		return w.running
	}
	t := w.s.sim.frame.Tick
	runs := w.runs()
	if len(w.held.items) == 0 && (!runs || int32(t-w.final) <= 0) {
		return false
	}
	h := &w.held
	from := len(h.bytes)
	h.bytes = append(h.bytes, payload...)
	h.items = append(h.items, heldMessage{t, !runs, p, channel, id, from, len(h.bytes)})
	return true
}

// drop forgets the messages of ticks from a tick on, which run again. Those that no tick sent
// are put aside.
func (h *heldMessages) drop(from Tick) {
	h.aside = h.aside[:0]
	h.items = slices.DeleteFunc(h.items, func(m heldMessage) bool {
		if int32(m.tick-from) < 0 {
			return false
		}
		if m.stands {
			h.aside = append(h.aside, m)
		}
		return true
	})
}

// resume puts messages back, once tick t ran again.
func (h *heldMessages) resume(t Tick) {
	n := 0
	for ; n < len(h.aside) && int32(h.aside[n].tick-t) <= 0; n++ {
		h.items = append(h.items, h.aside[n])
	}
	h.aside = h.aside[n:]
}

// send sends the messages of ticks up to final.
func (w *lateWorld) send(final Tick) {
	h, n := &w.held, 0
	for ; n < len(h.items) && int32(h.items[n].tick-final) <= 0; n++ {
		m := &h.items[n]
		if w.s.sessions.has(m.to) {
			_ = w.s.sendAs(m.to, m.tick, m.channel, m.id, h.bytes[m.from:m.upto]) // one that does not take it is disconnected
		}
	}
	if n == 0 {
		return
	}
	h.items = slices.Delete(h.items, 0, n)
	h.compact()
}

// compact gives the memory of what was sent back, once it is the greater part.
func (h *heldMessages) compact() {
	if len(h.items) == 0 {
		h.bytes = h.bytes[:0]
		return
	}
	gone := h.items[0].from
	for i := range h.items {
		gone = min(gone, h.items[i].from)
	}
	if gone <= len(h.bytes)/2 {
		return
	}
	h.bytes = h.bytes[:copy(h.bytes, h.bytes[gone:])]
	for i := range h.items {
		h.items[i].from, h.items[i].upto = h.items[i].from-gone, h.items[i].upto-gone
	}
}

// sendAll sends everything: nothing runs again.
func (w *lateWorld) sendAll() {
	if w.on {
		w.send(w.s.sim.frame.Tick)
	}
}

// has reports whether a peer is still a player or an observer of the match.
func (s *sessions) has(p *player) bool {
	if p.observing != nil {
		return slices.Contains(s.observers, p)
	}
	return s.player(p.owner) == p
}
