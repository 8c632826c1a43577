package snapshot

import (
	"cmp"
	"slices"
)

// SetGroup puts an entity into a group, by a number that the caller chooses. Group 0,
// the default, is none. The changes of a group are sent in one snapshot, all or none: a
// vehicle and its riders, a spell and its target. Entities that did not change or that
// the viewer may not see do not count. A group that fits into no snapshot is sent in
// parts, and counted.
//
// Call it between the Put of an entity and End. It returns false for an entity that was
// not put.
func (s *Source) SetGroup(id NetID, group uint32) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	if group == 0 && int(e.slot) >= len(s.groups) {
		return true
	}
	for len(s.groups) <= int(e.slot) {
		s.groups = append(s.groups, 0)
	}
	s.groups[e.slot] = group
	return true
}

// Group returns the group of an entity, 0 for none and for one that is not put.
func (s *Source) Group(id NetID) uint32 {
	if e := s.lookup(id); e != nil && int(e.slot) < len(s.groups) {
		return s.groups[e.slot]
	}
	return 0
}

// herdItem is a candidate of a group.
type herdItem struct {
	group uint32
	cand  uint16
}

// choice is the records chosen so far.
type choice struct {
	used, n, names int
	load           spawnLoad
}

// fit adds a candidate's record to a choice if it fits in left bits, and reports whether it did.
func (s *Sender) fit(ch *choice, c *candidate, left int) bool {
	if !c.encoded {
		s.encode(c)
	}
	names := ch.names
	if !c.listed {
		names = s.gapBits(ch.n + 1)
	}
	if s.weigh(c); ch.used+int(c.size)+names > left || !ch.load.addCandidate(c) {
		return false
	}
	ch.used += int(c.size)
	if !c.listed {
		ch.n, ch.names = ch.n+1, names
	}
	return true
}

// takeCandidate chooses a candidate if it fits, and reports whether it did.
func (s *Sender) takeCandidate(ch *choice, c *candidate, left int) bool {
	c.done = true
	if s.tooLong(c) {
		return false
	}
	ok := s.fit(ch, c, left)
	if ok {
		s.chosen.add(c.wire)
	}
	return ok
}

// takeAll chooses all of the candidates if they fit, and else none. It reports whether it did.
func (s *Sender) takeAll(ch *choice, items []herdItem, left int) bool {
	t := *ch
	for _, it := range items {
		if c := &s.cands[it.cand]; !s.tooLong(c) && !s.fit(&t, c, left) {
			return false
		}
	}
	*ch = t
	for _, it := range items {
		c := &s.cands[it.cand]
		if c.done = true; !s.isCut(c.wire) {
			s.chosen.add(c.wire)
		}
	}
	return true
}

// gatherHerds lists the candidates of groups, group by group. It also lists those that
// go first: the viewer's own and their groups.
func (s *Sender) gatherHerds() {
	s.herds, s.first = s.herds[:0], s.first[:0]
	groups := s.src.groups
	for _, turn := range s.turns {
		c := &s.cands[turn]
		if len(groups) == 0 && !c.first {
			break // the viewer's own come first
		}
		if slot := int(s.slots[c.wire]); slot < len(groups) && groups[slot] != 0 {
			s.herds = append(s.herds, herdItem{groups[slot], turn})
		}
		if c.first {
			c.done = true
			s.first = append(s.first, herdItem{cand: turn})
		}
	}
	if len(s.herds) == 0 {
		return
	}
	slices.SortStableFunc(s.herds, func(a, b herdItem) int { return cmp.Compare(a.group, b.group) })
	for _, it := range s.first[:len(s.first):len(s.first)] {
		for _, with := range s.herdOf(&s.cands[it.cand]) {
			if c := &s.cands[with.cand]; !c.done {
				c.done = true
				s.first = append(s.first, with)
			}
		}
	}
}

// herdOf returns the candidates of a candidate's group, or nil if it has none.
func (s *Sender) herdOf(c *candidate) []herdItem {
	slot := int(s.slots[c.wire])
	if slot >= len(s.src.groups) || s.src.groups[slot] == 0 {
		return nil
	}
	group := s.src.groups[slot]
	from, _ := slices.BinarySearchFunc(s.herds, group, func(it herdItem, g uint32) int { return cmp.Compare(it.group, g) })
	upto := from
	for upto < len(s.herds) && s.herds[upto].group == group {
		upto++
	}
	return s.herds[from:upto]
}

// chooseSome fills the room in the order of turns. It reports whether all of the
// viewer's own fit, and whether all did. The viewer's own may use the room, others only
// the budget.
func (s *Sender) chooseSome(room, budget int) (own, all bool) {
	s.order()
	s.gatherHerds()
	own, all = true, true
	ch := choice{load: spawnLoad{most: s.cfg.Spawns}}
	if !s.takeAll(&ch, s.first, room) {
		all = false
		for _, it := range s.first {
			s.takeCandidate(&ch, &s.cands[it.cand], room)
		}
	}
	misfits, unfit, alone := 0, 0, true // alone: only entities that go first were chosen
	taken, before := 0, ch.used
	whole := budget - s.gapBits(1)
	for _, turn := range s.turns {
		c := &s.cands[turn]
		if c.done {
			continue
		}
		if misfits > maxMisfits || misfits > 0 && (budget-ch.used)*2*taken < ch.used-before {
			all = false // less than half of a record's mean size is left
			break
		}
		herd, ok := s.herdOf(c), false
		switch {
		case herd == nil:
			ok = s.takeCandidate(&ch, c, budget)
		case s.takeAll(&ch, herd, budget):
			ok = true
		case alone: // no snapshot would hold the whole group
			s.count.GroupsSplit++
			ok = true
			for _, it := range herd {
				ok = s.takeCandidate(&ch, &s.cands[it.cand], budget) && ok
			}
		default:
			for _, it := range herd {
				s.cands[it.cand].done = true
			}
		}
		switch alone = alone && !ok; {
		case ok:
			taken++
			continue
		case s.isCut(c.wire): // it is sent in pieces, and the others still have their turns
		case herd == nil && int(c.size) > whole && unfit < maxUnfit:
			if unfit++; s.gained[c.wire] >= unfitWait {
				s.cutRecord(c)
			}
		default:
			misfits++
		}
		all = false
	}
	s.used = ch.used + ch.names
	for i := range s.cands {
		own = own && !(s.cands[i].own && !s.chosen.has(s.cands[i].wire))
	}
	if !own {
		s.count.OwnPostponed++
	}
	return own, all
}
