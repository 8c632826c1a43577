package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// follow reads the source's log for removed and changed entities.
func (s *Sender) follow() {
	for len(s.bySlot) < len(s.src.slots) {
		s.bySlot = append(s.bySlot, slotNote{})
	}
	s.forgetUnborn()
	changed := s.chosen // scratch until records are chosen
	clear(changed)
	s.births = s.births[:0]
	missed := s.src.seq - s.seen
	if missed > logLength {
		s.restless = true
		s.scan(changed)
	} else {
		for ; s.seen != s.src.seq; s.seen++ {
			s.readNews(s.src.log[(s.seen+1)%logLength], changed)
		}
	}
	s.seen = s.src.seq
	if s.regroup {
		s.relateAll(changed)
	}
	// look at births of several ticks in the order of network ids
	s.restless = s.restless || (missed > 1 && len(s.births) > 0)
}

// readNews applies the news of a tick.
func (s *Sender) readNews(log []news, changed wireSet) {
	for _, n := range log {
		if n.what == newsBorn {
			s.births = append(s.births, n.slot)
			continue
		}
		note := &s.bySlot[n.slot]
		w := note.wire
		if w == 0 {
			// Entities that the viewer now owns are shown from now on.
			s.restless = s.restless || s.cfg.Relevant && n.what < newsBorn && s.viewerOwns(n.owner)
			continue
		}
		a := s.relation(n.slot, n.owner)
		switch {
		case n.what == newsGone:
			s.beginRemoval(w, false)
			note.wire = 0
		case n.what&sight(a) != 0:
			changed.add(w)
			s.dirty.add(w)
			fallthrough
		default:
			s.restless = s.restless || s.cfg.Relevant && (s.auds[w]^a)&quantise.ToOwner != 0
			s.relate(w, a, changed)
			if n.refs {
				s.refers.add(w)
			}
		}
	}
}

// scan looks at every entity. It is used if the log does not reach back far enough.
func (s *Sender) scan(changed wireSet) {
	before := s.sent.steps[s.sent.here].tick
	for i, m := range s.live {
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			slot := s.slots[w]
			h := &s.src.hot[slot]
			if h.id != s.shown[w].id {
				s.beginRemoval(w, false)
				s.bySlot[slot].wire = 0
				continue
			}
			a := s.relation(slot, h.owner)
			s.refers.put(w, h.refs)
			t := s.src.newestChange(slot, h, a)
			s.dirty.put(w, after(t, s.acked(w)) || after(s.from[w], s.acked(w)))
			if after(t, before) {
				changed.add(w)
			}
			s.relate(w, a, changed)
		}
	}
}

// lookAtVisibility applies changes of visibility: it assigns wire ids and releases them.
func (s *Sender) lookAtVisibility() {
	s.wake()
	if s.cfg.Visible == nil && !s.restless {
		for _, slot := range s.births {
			if s.src.hot[slot].id != 0 {
				s.consider(slot)
			}
		}
		s.reconsider()
		return
	}
	s.restless, s.moved = false, s.moved[:0]
	for _, slot := range s.src.order {
		s.consider(slot)
	}
}

// consider assigns an entity a wire id if the viewer may see it, and otherwise releases its wire id.
func (s *Sender) consider(slot int32) {
	id, n := s.src.hot[slot].id, &s.bySlot[slot]
	if n.id != id {
		*n = slotNote{}
		if len(s.unborn) > 0 {
			*n = s.unborn[id].slotNote
			delete(s.unborn, id)
		}
		n.id = id
	}
	visible := !n.hidden && (!s.cfg.Relevant || n.relevant || s.viewerOwns(s.src.hot[slot].owner)) && (s.cfg.Visible == nil || s.cfg.Visible(id))
	switch {
	case visible && n.wire == 0:
		n.wire = s.allot(id, slot)
		s.restless = s.restless || n.wire == 0
	case !visible && n.wire != 0:
		s.beginRemoval(n.wire, true)
		n.wire = 0
	}
}

// allot assigns an entity the lowest free wire id, or 0 if there is none.
func (s *Sender) allot(id NetID, slot int32) schema.WireID {
	i := max(1, int(s.hint))
	for i < len(s.shown) && s.shown[i].state != wireFree {
		i++
	}
	if i > maxWire {
		s.hint = maxWire
		s.count.NoWireID++
		return 0
	}
	if i == len(s.shown) {
		s.growWires()
	}
	w := schema.WireID(i)
	s.hint = w
	s.lives++
	e, h := s.src.slots[slot], &s.src.hot[slot]
	s.shown[w] = shown{state: wireLive, id: id, life: s.lives, jumps: e.jumps, born: s.src.tick}
	s.slots[w], s.gained[w] = slot, 0
	s.sent.forgetWire(w)
	s.forgetCut(w)
	s.live.add(w)
	s.told.drop(w)
	s.held.drop(w)
	s.waiting.drop(w)
	s.aside.drop(w)
	s.auds[w], s.from[w] = s.relation(slot, h.owner), 0
	s.own.put(w, s.viewerOwns(s.src.hot[slot].owner))
	s.refers.put(w, h.refs)
	return w
}

// beginRemoval begins a removal, or forgets an entity that was never sent.
func (s *Sender) beginRemoval(w schema.WireID, hidden bool) {
	g := &s.shown[w]
	if s.held.has(w) {
		s.mapEpoch++
	}
	s.live.drop(w)
	if !s.told.has(w) {
		s.freeWire(w)
		return
	}
	s.away.add(w)
	g.state, g.hidden, g.gone = wireLeaving, hidden, s.src.tick
}

func (s *Sender) freeWire(w schema.WireID) {
	s.shown[w].state = wireFree
	s.hint = min(s.hint, w)
}

// wake frees wire ids that rested long enough, unless a record that the viewer has yet
// to receive might name the old entity.
func (s *Sender) wake() {
	if len(s.rest) == 0 {
		return
	}
	oldest, pending := schema.Tick(0), false
	for i, m := range s.refers {
		for m &= s.live[i] & s.told[i]; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			n := s.shown[w].refs
			if n != nil && (!s.held.has(w) || after(n.since, s.acked(w))) && (!pending || after(oldest, n.since)) {
				oldest, pending = n.since, true
			}
		}
	}
	n := 0 // s.rest begins with the ids that rest longest
	for ; n < len(s.rest); n++ {
		r := s.rest[n]
		if s.src.tick-r.tick < restTicks || s.appends-r.appends < restTicks || pending && !after(oldest, r.tick) {
			break
		}
		s.freeWire(r.wire)
	}
	s.rest = slices.Delete(s.rest, 0, n)
}
