package snapshot

// What the snapshot of the usual baseline held is expected in this one too: whether
// it is there takes a flag, and what comes besides takes its wire id.

// sentList names the entities of which a snapshot held records, in ascending order.
type sentList struct {
	tick  Tick
	whole bool // nothing was postponed
	wires []WireID
}

// expected is an entity of which a record is expected.
type expected struct {
	wire WireID
	ctx  uint16 // of its flag; 0: it is gone, and has none
}

// list finds what the snapshot of a tick held, or nil.
func (s *Sender) list(t Tick) *sentList {
	if l := &s.lists[t%64]; l.tick == t {
		return l
	}
	return nil
}

// expect lists what is expected, marks the candidates among it, and returns how many
// bits its flags take at most, apart from what is counted in the candidates' sizes. With more than room nothing is
// expected.
func (s *Sender) expect(room int) int {
	s.expected, s.expecting = s.expected[:0], false
	t := s.src.tick
	if s.usual[2] == 0 || s.stuck {
		return 0
	}
	var at [3]Tick
	var lists [3]*sentList
	for i, d := uint32(0), uint32(0); i < 3; i++ {
		d += s.usual[i]
		at[i] = t - d
		if lists[i] = s.list(at[i]); lists[i] == nil || (s.view != 0 && !after(at[i], s.viewed)) {
			return 0
		}
	}
	s.expecting = true
	cost, next := uint32(0), 0
	var in [3]int
	for _, w := range lists[0].wires {
		x := expected{wire: w}
		if g := &s.shown[w]; g.state == wireLive {
			state := 0
			if lists[1].has(&in[1], w) {
				e := s.src.slots[g.slot]
				state = s.expectation(e, at, lists[2].has(&in[2], w))
			}
			x.ctx = uint16(expectation(lists[0].whole, state))
			c := &s.code.tab.costs[x.ctx]
			for next < len(s.cands) && s.cands[next].wire < w {
				next++
			}
			if next < len(s.cands) && s.cands[next].wire == w {
				s.cands[next].listed = len(s.expected) + 1
				s.cands[next].gate = uint32(c[1])
			}
			cost += uint32(c[0])
		}
		s.expected = append(s.expected, x)
	}
	if int(cost/256) >= room {
		s.expected, s.expecting = s.expected[:0], false
		for i := range s.cands {
			s.cands[i].listed, s.cands[i].gate = 0, 0
		}
		return 0
	}
	return int(cost/256) + 1
}

// has tells whether a list holds a wire id; ids are asked for in ascending order.
func (l *sentList) has(at *int, w WireID) bool {
	for *at < len(l.wires) && l.wires[*at] < w {
		*at++
	}
	return *at < len(l.wires) && l.wires[*at] == w
}

// expectation is the context of the flag that an expected record is there: whether
// the snapshot that it was in was whole, and 0: the entity was not in the second, 1:
// its values in both were equal, 2: those in the second and third, 3: none of these.
func expectation(whole bool, state int) int {
	if whole {
		state += 4
	}
	return ctxExpected + state
}

// expectation compares the values that a viewer holds of three ticks.
func (s *Sender) expectation(e *entity, at [3]Tick, third bool) int {
	i, j := e.find(at[0]), e.find(at[1])
	if s.sameVersion(e, i, j) {
		return 1
	}
	if third && s.sameVersion(e, j, e.find(at[2])) {
		return 2
	}
	return 3
}

// sameVersion tells whether a viewer sees no difference between two versions.
func (s *Sender) sameVersion(e *entity, i, j int) bool {
	if i == j {
		return true
	}
	if i < 0 || j < 0 {
		return false
	}
	v, w := &e.vers[i], &e.vers[j]
	a := s.audience(v.owner)
	if a != s.audience(w.owner) {
		return false
	}
	mask := s.src.reg.visibleMask(v.mask, a)
	return mask == s.src.reg.visibleMask(w.mask, a) && !s.src.differ(mask, e.lane(i, a), e.lane(j, a))
}

// list finds what the snapshot of a tick held, or nil.
func (r *Receiver) list(t Tick) *sentList {
	if l := &r.lists[int(t)&(len(r.lists)-1)]; l.tick == t {
		return l
	}
	return nil
}

// parseExpected reads the records of what is expected.
func (r *Receiver) parseExpected(t Tick, load *spawnLoad) error {
	var at [3]Tick
	var lists [3]*sentList
	for i, d := 0, uint32(0); i < 3; i++ {
		d += r.usual[i]
		if at[i] = t - d; d >= t {
			return malformed("distance of a baseline")
		}
		if lists[i] = r.list(at[i]); lists[i] == nil {
			return ErrBaseline
		}
	}
	var in [3]int
	away := 0
	for _, w := range lists[0].wires {
		slot := r.slot(w)
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
		if lists[1].has(&in[1], w) {
			state = slot.ghost.expectation(i, at, lists[2].has(&in[2], w))
		}
		if !r.in.flag(expectation(lists[0].whole, state)) {
			continue
		}
		if err := r.parseRecord(w, slot, t, load); err != nil {
			return err
		}
	}
	return nil
}

func (g *Ghost) expectation(i int, at [3]Tick, third bool) int {
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
	v, w := &g.vers[i], &g.vers[j]
	return v.mask == w.mask && v.mine == w.mine && !g.r.reg.differ(v.mask, g.lane(i), g.lane(j))
}
