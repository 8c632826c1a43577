package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// candidate is an entity with something to send.
type candidate struct {
	wire schema.WireID
	own  bool // own is true if the viewer or Everyone owns the entity.
	// first is true if the viewer alone owns the entity, or SetFirst marked it. It is sent before the others.
	first   bool
	spawn   bool
	encoded bool
	done    bool   // done is true once the candidate had its turn.
	kept    bool   // kept is true if the record is in the cache.
	steady  bool   // steady is true if viewers with the same usual baselines share the record.
	listed  bool   // listed is true if a record of the entity is expected.
	gate    uint16 // gate is the cost of the flag for an expected record, in 1/256 bit.
	words   int32  // words is the number of words of a spawn's record. For other records see weigh.
	size    int32  // size is the record's size in bits.
	at      coder.Chunk
	// sym and k give the record's flags for the statistics: k flags of Syms from index sym on.
	sym, k int32
}

// gather lists the entities with something to send, and those with an expected record. It takes records from
// the cache where it can. It returns the most bits that the flags of expected records take; the flags of
// records that are there are counted in their candidates' sizes.
func (s *Sender) gather() int {
	s.cands, s.expected = s.cands[:0], s.expected[:0]
	l := &s.sent
	usual := [3]*step{l.aged(s.ages[0]), l.aged(s.ages[1]), l.aged(s.ages[2])}
	costs := (*[8][2]uint16)(s.code.Tables.Costs[coder.CtxExpected:])
	whole := 0
	if usual[0].whole {
		whole = 4
	}
	ready := s.planned && !s.counts()
	cost := uint32(0)
	full := s.unsure()+min(s.mostSpawns(), maxUnsure) > maxUnsure
	s.barred, s.barredOwn = false, false
	for i, live := range s.live {
		want := live & (^s.held[i] | s.dirty[i] | s.pending[i])
		s.want[i] = want
		if full {
			unshown := live &^ s.told[i]
			want &^= unshown
			s.barred, s.barredOwn = s.barred || unshown != 0, s.barredOwn || unshown&s.own[i] != 0
		}
		if s.withheld {
			owned := live & s.own[i]
			s.want[i] |= owned
			want &^= owned
			s.barredOwn = s.barredOwn || owned != 0
		}
		if aside := live & s.aside[i]; aside != 0 {
			s.want[i] |= aside
			want &^= aside
			s.barredOwn = s.barredOwn || aside&s.own[i] != 0
		}
		if s.cut != nil {
			out := live & s.cut.out[i]
			s.want[i] |= out
			want &^= out
			s.barredOwn = s.barredOwn || out&s.own[i] != 0
		}
		expects, both, steady := uint64(0), uint64(0), uint64(0)
		if s.expecting {
			expects = live & usual[0].carried[i]
			both = expects & usual[1].carried[i]
		}
		if ready {
			steady = usual[0].carried[i] & usual[1].carried[i] & usual[2].carried[i] &^ s.refers[i]
		}
		for m := want | expects; m != 0; m &= m - 1 {
			bit := m & -m
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			state := whole
			if both&bit != 0 {
				state += s.sameness(w, usual[2].carried[i]&bit != 0)
			}
			if expects&bit != 0 {
				s.expected = append(s.expected, expected{w, uint16(coder.CtxExpected + state)})
				cost += uint32(costs[state&7][0])
			}
			if want&bit == 0 {
				continue
			}
			s.cands = append(s.cands, candidate{wire: w, own: s.own[i]&bit != 0, spawn: s.held[i]&bit == 0})
			c := &s.cands[len(s.cands)-1]
			hot := &s.src.hot[s.slots[w]]
			c.first = c.own && (hot.owner != Everyone || hot.first)
			if expects&bit != 0 {
				c.listed, c.gate = true, costs[state&7][1]
			}
			switch {
			case steady&bit != 0:
				s.takeSteady(c)
			case c.spawn:
				c.words = s.freshWords(w)
			}
		}
	}
	return int(cost+255) / 256
}

// takeSteady takes a record that encodeSteady made for another viewer from the cache, if there is one.
func (s *Sender) takeSteady(c *candidate) {
	if since := s.from[c.wire]; since != 0 && after(since, s.sent.aged(s.ages[2]).tick) {
		return
	}
	if x := s.plan(s.auds[c.wire]).slotPlan(s.slots[c.wire]); x.is&planRecord != 0 {
		s.cache.hits++
		c.at, c.kept = s.cache.entries[x.at].at, true
		c.steady = true
		c.noteSize()
	}
}

// noteSize notes the size of a record that is made.
func (c *candidate) noteSize() {
	c.encoded, c.size = true, c.at.N+(c.at.Cost+int32(c.gate)+255)/256
}

// weigh counts the words of a candidate's record, if those of all records together may be too many.
func (s *Sender) weigh(c *candidate) {
	if c.words == 0 && len(s.cands)*s.src.reg.Words > maxRead {
		c.words = s.freshWords(c.wire)
	}
}

// freshWords returns the number of words that the receiver must store for a record.
func (s *Sender) freshWords(w schema.WireID) int32 {
	e := s.src.slots[s.slots[w]]
	return int32(s.src.reg.WordsOf(s.src.reg.VisibleMask(e.mask(e.head), s.auds[w])))
}

// choose encodes the records that fit, and reports whether all of the viewer's own did.
func (s *Sender) choose(room, budget int) bool {
	left := room - headerBits - 8 - 2 - 33 - spansLeast
	s.alone, s.picked = left, 0
	left = s.chooseLeaving(left)
	soft := left - (room - budget)
	s.beginCuts()
	s.cache.beginTick(s.src)
	s.aim()
	s.code.Flags.Reset()
	s.code.Syms = s.code.Syms[:0]
	s.code.Bits.Reset(s.code.Bits.Buf[:0])
	s.expecting = s.mayExpect()
	if s.findTwin(soft) {
		return true
	}
	cost := s.gather()
	if cost >= soft/2 {
		s.expecting = false
		cost = s.gather()
	}
	left, soft = left-cost, soft-cost
	if s.cut != nil {
		pieces := s.pickFirst(left, soft)
		left, soft = left-pieces, soft-pieces
	}
	own := !s.barredOwn
	if !s.tight && !s.barred && s.encodeAll(soft) {
		for i, want := range s.want {
			s.chosen[i] = want
			if s.chosen[i] &^= s.aside[i]; s.withheld {
				s.chosen[i] &^= s.own[i]
			}
			if s.cut != nil {
				s.chosen[i] &^= s.cut.out[i]
			}
		}
	} else {
		whole, all := s.chooseSome(left, soft)
		s.tight, own = !all, own && whole
	}
	if s.cut != nil {
		s.pickPieces(soft-s.used, maxPieces)
	}
	return own
}

// encodeAll encodes all candidates, or as many as fit, and reports whether all did.
func (s *Sender) encodeAll(left int) bool {
	total, others := 0, 0
	load := spawnLoad{most: s.cfg.Spawns}
	for i := range s.cands { // in the order of wire ids
		c := &s.cands[i]
		if !c.encoded {
			s.encode(c)
		}
		total += int(c.size)
		if !c.listed {
			others++
		}
		if s.weigh(c); !load.addCandidate(c) || total > left {
			return false
		}
	}
	s.used = total + s.gapBits(others)
	return s.used <= left
}

// gapBits returns the most bits that naming n entities can take. Gaps with a fixed sum,
// the number of wire ids, cost most when they are equal.
func (s *Sender) gapBits(n int) int {
	if n == 0 {
		return 0
	}
	c := &s.code.Tables.Costs
	flags := (uint32(c[coder.CtxMore][1])+uint32(max(c[coder.CtxNext][0], c[coder.CtxNext][1])))/256 + 1
	return n * (int(flags) + coder.GapOrder + coder.GolombBits(uint32(len(s.shown)/n)>>coder.GapOrder))
}

// rank returns a number from 0 to 239 for a gain. It is exact below 16. Above, each doubling of the gain has
// eight ranks.
func rank(gained uint32) int {
	if gained < 16 {
		return int(gained)
	}
	n := bits.Len32(gained) - 1
	return 16 + (n-4)*8 + int(gained>>(n-3))&7
}

// order sorts the candidates. Those that go first come before the others. In both parts they are sorted by
// gain, and those of equal rank by wire id.
func (s *Sender) order() {
	const ranks = 240
	var at [2 * ranks]int32
	s.places = s.places[:0]
	for i := range s.cands {
		c := &s.cands[i]
		place := ranks - 1 - rank(s.gained[c.wire])
		if !c.first {
			place += ranks
		}
		at[place]++
		s.places = append(s.places, uint16(place))
	}
	sum := int32(0)
	for i := range at {
		at[i], sum = sum, sum+at[i]
	}
	s.turns = slices.Grow(s.turns[:0], len(s.cands))[:len(s.cands)]
	for i, place := range s.places {
		p := &at[place]
		s.turns[*p] = uint16(i) // wire ids, and so indexes of candidates, are below 2¹⁶
		*p++
	}
}
