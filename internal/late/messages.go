package late

import "slices"

// Addressee is the receiver of a message. Only the server knows its type.
type Addressee any

// messages holds reliable messages of ticks that may still run again, ordered by tick.
type messages struct {
	items []message
	bytes []byte
	aside []message // aside keeps messages while ticks run again.
}

type message struct {
	tick        Tick
	stands      bool // stands is true if the code that sent the message does not run again.
	to          Addressee
	channel, id uint8
	from, upto  int
}

// KeepMessage reports whether a message must not be sent now. With Late.World it stores a reliable
// message until its tick is final. It drops an unreliable message of a tick that runs again, because
// the first run sent it.
func (r *Room) KeepMessage(to Addressee, channel, id uint8, payload []byte) bool {
	w := &r.world
	switch {
	case !r.Whole:
		return false
	case w.running && r.test.running:
		return true
	case !r.Layout.Reliable(channel):
		return w.running
	}
	t, runs := *r.Tick, w.runs()
	if len(w.held.items) == 0 && (!runs || int32(t-w.final) <= 0) {
		return false
	}
	h := &w.held
	from := len(h.bytes)
	h.bytes = append(h.bytes, payload...)
	h.items = append(h.items, message{t, !runs, to, channel, id, from, len(h.bytes)})
	return true
}

// drop removes the messages of tick from and of later ticks, which run again. It keeps those in aside
// that the runs do not send again.
func (h *messages) drop(from Tick) {
	h.aside = h.aside[:0]
	h.items = slices.DeleteFunc(h.items, func(m message) bool {
		if int32(m.tick-from) < 0 {
			return false
		}
		if m.stands {
			h.aside = append(h.aside, m)
		}
		return true
	})
}

// resume puts messages back from aside, after tick t has run again.
func (h *messages) resume(t Tick) {
	n := 0
	for ; n < len(h.aside) && int32(h.aside[n].tick-t) <= 0; n++ {
		h.items = append(h.items, h.aside[n])
	}
	h.aside = h.aside[n:]
}

// sendMessages sends the messages of ticks up to final.
func (r *Room) sendMessages(final Tick) {
	h, n := &r.world.held, 0
	for ; n < len(h.items) && int32(h.items[n].tick-final) <= 0; n++ {
		m := &h.items[n]
		r.host.Send(m.to, m.tick, m.channel, m.id, h.bytes[m.from:m.upto])
	}
	if n == 0 {
		return
	}
	h.items = slices.Delete(h.items, 0, n)
	h.compact()
}

// SendMessages sends all messages that are kept. Call it when no tick runs again any more.
func (r *Room) SendMessages() {
	if r.Whole {
		r.sendMessages(*r.Tick)
	}
}

// compact frees the bytes of messages that were sent, once they are more than half.
func (h *messages) compact() {
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
