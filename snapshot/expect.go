package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// An entity with a record in the usual baseline's snapshot is expected to have one in this snapshot too. A flag
// says for each such entity whether it has. Other records name their wire ids.

// sentList lists the entities with records in a snapshot, in ascending order.
type sentList struct {
	tick  schema.Tick
	whole bool // whole is true if nothing was postponed.
	wires []schema.WireID
}

// expected is an entity with an expected record, and the context of the flag for
// whether it is there.
type expected struct {
	wire schema.WireID
	ctx  uint16
}

// mayExpect reports whether the viewer knows the contents of the usual baselines.
func (s *Sender) mayExpect() bool {
	return s.usual[2] != 0 && !s.stuck && (s.view == 0 || after(s.sent.aged(s.ages[2]).tick, s.viewed)) &&
		(s.related == 0 || !after(s.related, s.sent.aged(s.ages[2]).tick))
}

// hasWire reports whether a list holds a wire id. Ask for ids in ascending order.
func (l *sentList) hasWire(at *int, w schema.WireID) bool {
	for *at < len(l.wires) && l.wires[*at] < w {
		*at++
	}
	return *at < len(l.wires) && l.wires[*at] == w
}

// expectation returns the context of the flag that says whether an expected record is there. whole is true if
// the first baseline's snapshot postponed nothing. state is 0 if the entity was not in the second snapshot, 1
// if its values in the first and the second were equal, 2 if those in the second and the third were equal, and
// 3 otherwise.
func expectation(whole bool, state int) int {
	if whole {
		state += 4
	}
	return coder.CtxExpected + state
}

// sameness returns the state for expectation, for an entity that was in the first and the second snapshot.
// third is true if it was in the third too.
func (s *Sender) sameness(w schema.WireID, third bool) int {
	same := s.compared(w)
	switch {
	case same&planSame != 0:
		return 1
	case same&planSame2 != 0 && third:
		return 2
	}
	return 3
}

// compared returns which of the values in the usual baselines' ticks are equal.
func (s *Sender) compared(w schema.WireID) planState {
	a, slot := s.auds[w], s.slots[w]
	x := s.plan(a).slotPlan(slot)
	if x.is&planCompared != 0 {
		return x.is
	}
	e := s.src.slots[slot]
	if x.is&planFound == 0 {
		s.findUsual(x, e)
	}
	same := planState(0)
	if s.sameVersion(e, int(x.vers[0]), int(x.vers[1]), a) {
		same |= planSame
	}
	if s.sameVersion(e, int(x.vers[1]), int(x.vers[2]), a) {
		same |= planSame2
	}
	if x.is&planMoot == 0 {
		x.is |= planCompared | same
	}
	return same
}

// sameVersion reports whether a viewer sees no difference between two versions, the
// newer first. a is the viewer's audience now; its classes were the same then.
func (s *Sender) sameVersion(e *entity, i, j int, a quantise.Audience) bool {
	if i == j {
		return true
	}
	if i < 0 || j < 0 {
		return false
	}
	reg, v, w, mv, mw := s.src.reg, &e.vers[i], &e.vers[j], e.mask(i), e.mask(j)
	own := s.ownAudience(v.owner)
	if (j+1)&(len(e.vers)-1) == i && v.owner == w.owner && mv.Equal(mw) && v.jumps == w.jumps && !reg.Shared() {
		return v.changed[own] != v.tick // they were compared when the newer was put
	}
	if own != s.ownAudience(w.owner) {
		return false
	}
	a = a&^quantise.ToOwner | own
	if mv.Equal(mw) && !reg.Shared() {
		return !s.src.differ(mv, e.lane(i, a), e.lane(j, a))
	}
	return reg.SeenAlike(a, mv, mw) && !reg.DifferSeen(a, mv, e.lane(i, a), mw, e.lane(j, a))
}

// sentIn returns the contents of a tick's snapshot, or nil.
func (r *Receiver) sentIn(t schema.Tick) *sentList {
	if l := &r.lists[int(t)&(len(r.lists)-1)]; l.tick == t {
		return l
	}
	return nil
}

// parseExpected reads the expected records.
func (r *Receiver) parseExpected(t schema.Tick) error {
	var at [3]schema.Tick
	var lists [3]*sentList
	for i, d := 0, uint32(0); i < 3; i++ {
		d += r.usual[i]
		if at[i] = t - d; d >= t {
			return malformed("distance of a baseline")
		}
		if lists[i] = r.sentIn(at[i]); lists[i] == nil {
			return ErrBaseline
		}
	}
	var in [3]int
	away := 0
	r.listed = r.listed[:0]
	for _, w := range lists[0].wires {
		slot := r.wireSlot(w)
		for away < len(r.gone) && r.gone[away].wire < w {
			away++
		}
		if slot == nil || slot.ghost == nil || (slot.ghost.Gone != 0 && !after(slot.ghost.Gone, t)) || (away < len(r.gone) && r.gone[away].wire == w) {
			continue
		}
		i, state := slot.ghost.exact(at[0]), 0
		if i < 0 {
			return ErrBaseline
		}
		if lists[1].hasWire(&in[1], w) {
			state = slot.ghost.expectation(i, at, lists[2].hasWire(&in[2], w))
		}
		if r.in.Flag(expectation(lists[0].whole, state)) {
			r.listed = append(r.listed, w)
		}
	}
	for _, w := range r.listed {
		if err := r.parseRecord(w, r.wireSlot(w), t); err != nil {
			return err
		}
	}
	return nil
}

func (g *Ghost) expectation(i int, at [3]schema.Tick, third bool) int {
	j := g.exact(at[1])
	if g.sameVersion(i, j) {
		return 1
	}
	if third && g.sameVersion(j, g.exact(at[2])) {
		return 2
	}
	return 3
}

func (g *Ghost) sameVersion(i, j int) bool {
	if i < 0 || j < 0 {
		return false
	}
	v, w := g.vers[i], g.vers[j]
	return v.mask.Equal(w.mask) && v.aud == w.aud && !g.r.reg.Differ(v.mask, g.lane(i), g.lane(j))
}
