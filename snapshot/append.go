package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	headerBits = 40 + 24 + 12 + 8 + 33 + 13 + 13 // tick, length, marks, flush, usual distances at most
	spansLeast = 3 + 33 + 33                     // one span at most
	maxMisfits = 8                               // records tried after the first that did not fit
)

// candidate is an entity with something to send.
type candidate struct {
	wire    WireID
	own     bool // the viewer's, or everybody's
	first   bool // the viewer's alone: it goes before the others
	spawn   bool
	encoded bool
	done    bool   // its turn is over
	kept    bool   // its record lies in the cache
	listed  bool   // it is expected
	gate    uint16 // what its flag as expected costs, in 1/256 bit
	words   int32  // of a spawn; of others see weigh
	size    int32  // in bits
	at      code
	sym, k  int32 // its flags, for the statistics
}

// Append appends the snapshot of the Source's current tick in at most room bytes
// and fills rec with what it carries. The viewer's own entities come first, all of
// them or, where the room does not hold them all, as many as it does; what finds no
// room of the others is listed as postponed and goes earlier next time, where what is
// [Everyone]'s gains twice as fast as another. With too little room for any snapshot
// (some 32 bytes) nothing is appended. Call it at most once a tick, after End.
func (s *Sender) Append(dst []byte, room int, rec *Sent) []byte {
	return s.AppendBudget(dst, room, room, rec)
}

// AppendBudget is Append with a budget besides the room: only the viewer's own
// entities, and groups that hold some of them, may go beyond it, so that what he
// predicts is never put off for want of a rate.
func (s *Sender) AppendBudget(dst []byte, budget, room int, rec *Sent) []byte {
	rec.Reset()
	budget = min(budget, room)
	if s.closed || s.src.tick == 0 || s.src.open {
		return dst
	}
	if room*8 < headerBits+3+spansLeast+2+8 {
		s.count.TooSmall++
		return dst
	}
	rec.tick, rec.view = s.src.tick, s.view
	s.appends++
	s.sit()
	s.follow()
	s.look()
	s.trail.begin(s.src.tick)
	copy(s.trail.aged(0).changed, s.chosen)
	clear(s.chosen)
	s.refer()
	own := s.choose(room*8, budget*8)
	s.postpone()

	from := len(dst)
	dst = s.write(dst, budget, room, own, rec)
	s.count.Snapshots++
	s.count.Bytes += uint64(len(dst) - from)
	if p := s.cfg.Profile; p != nil {
		p.total += uint64(len(dst) - from)
	}
	return dst
}

// appendTick appends the tick: the lowest 15 bits, once the viewer is known to have
// received a snapshot not long ago, else all.
func (s *Sender) appendTick(dst []byte) []byte {
	t := s.src.tick
	if s.newest != 0 && t-s.newest < 1<<13 {
		return binary.LittleEndian.AppendUint16(dst, uint16(t&0x7fff))
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(t&0x7fff|0x8000))
	return append(dst, byte(t>>15), byte(t>>23), byte(t>>31))
}

// write appends the snapshot: its tick, the length of the flags, the flags, and the
// bits.
func (s *Sender) write(dst []byte, budget, room int, own bool, rec *Sent) []byte {
	h := &s.head
	h.f.reset()
	h.syms = h.syms[:0]
	h.w.Reset(h.w.buf[:0])
	h.flag(ctxComplete, len(s.runs) == 0)
	h.flag(ctxOwn, own)
	h.w.Golomb(s.usual[0])
	if s.usual[0] != 0 {
		steady := s.usual[1] == ordinaryGaps[1] && s.usual[2] == ordinaryGaps[2]
		h.flag(ctxSteady, steady)
		if !steady {
			h.w.Write(uint64(s.usual[1]), 6)
			if s.usual[1] != 0 {
				h.w.Write(uint64(s.usual[2]), 6)
			}
		}
	}
	s.writeLeaving(&h.w, rec)
	s.writeRecords(rec)

	h.f.next()
	s.rc.reset(s.rc.out[:0])
	s.rc.encode(h.f.groups)
	flags := s.rc.finish()
	if st := s.cfg.Statistics; st != nil {
		for _, sym := range h.syms {
			st.flags[sym>>1][sym&1]++
		}
	}
	if len(s.runs) > 0 {
		least := h.w.Len() + spansLeast // what was postponed is told within the budget, if it can be
		rest := max(budget*8, min(room*8, (5+3+len(flags))*8+least)) - (5+3+len(flags))*8
		rec.late = append(rec.late, coarsen(s.runs, rest-h.w.Len())...)
		writeSpans(&h.w, rec.late)
	}
	dst = s.appendTick(dst)
	dst = binary.AppendUvarint(dst, uint64(len(flags)))
	dst = append(dst, flags...)
	return append(dst, h.w.Bytes()...)
}

// ordinaryGaps are how far before the newer one the two older baselines lie at best.
var ordinaryGaps = [3]uint32{0, 1, 3}

// aim chooses the usual baselines: the newest delivered snapshot, the one just
// before it, which tells the speed, and one some ticks earlier, which tells whether
// it changes.
func (s *Sender) aim() {
	s.usual, s.planned = [3]uint32{}, false
	clear(s.plans)
	t := s.src.tick
	if s.newest == 0 || t-s.newest > maxBack {
		return
	}
	s.usual[0] = t - s.newest
	m := s.trail.byAge(s.trail.delivered)
	if m == 0 || s.trail.aged(bits.LeadingZeros64(m)).tick != s.newest {
		s.ages[0] = trailLength // before all of it
		return
	}
	s.ages[0] = bits.LeadingZeros64(m)
	most := uint32(min(s.cfg.Window, s.src.history, 64))
	from := s.newest
	for i := 1; i < 3; i++ {
		best, want := uint32(0), ordinaryGaps[i]
		for age := s.ages[i-1] + 1; age < trailLength; age++ {
			if m<<age>>63 == 0 {
				continue
			}
			d := from - s.trail.aged(age).tick
			if t-from+d >= most || (best != 0 && gap(d, want) >= gap(best, want)) {
				break // the others are farther still
			}
			best, s.ages[i] = d, age
		}
		if best == 0 {
			return
		}
		s.usual[i] = best
		from -= best
	}
	s.planned = true
}

func gap(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// gather lists the entities with something to send, and those expected; records that
// lie ready are taken at once. It returns how many bits the flags of the latter take
// at most, apart from what is counted in the candidates' sizes.
func (s *Sender) gather() int {
	s.cands, s.expected = s.cands[:0], s.expected[:0]
	l := &s.trail
	usual := [3]*step{l.aged(s.ages[0]), l.aged(s.ages[1]), l.aged(s.ages[2])}
	costs := (*[8][2]uint16)(s.code.tab.costs[ctxExpected:])
	whole := 0
	if usual[0].whole {
		whole = 4
	}
	ready := s.planned && !s.code.counts()
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
			w := WireID(i<<6 + bits.TrailingZeros64(m))
			state := whole
			if both&bit != 0 {
				state += s.sameness(w, usual[2].carried[i]&bit != 0)
			}
			if expects&bit != 0 {
				s.expected = append(s.expected, expected{w, uint16(ctxExpected + state)})
				cost += uint32(costs[state&7][0])
			}
			if want&bit == 0 {
				continue
			}
			s.cands = append(s.cands, candidate{wire: w, own: s.own[i]&bit != 0, spawn: s.held[i]&bit == 0})
			c := &s.cands[len(s.cands)-1]
			c.first = c.own && s.src.hot[s.slots[w]].owner != Everyone
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

// takeSteady takes a record that lies ready in the cache, see encodeSteady.
func (s *Sender) takeSteady(c *candidate) {
	if since := s.from[c.wire]; since != 0 && after(since, s.trail.aged(s.ages[2]).tick) {
		return
	}
	if x := s.plan(s.auds[c.wire]).slot(s.slots[c.wire]); x.is&planRecord != 0 {
		s.cache.hits++
		c.at, c.kept = s.cache.entries[x.at].at, true
		c.settle()
	}
}

// settle notes the size of a record that is made.
func (c *candidate) settle() {
	c.encoded, c.size = true, c.at.n+(c.at.cost+int32(c.gate)+255)/256
}

// weigh notes the words of a record, if all together may be too many.
func (s *Sender) weigh(c *candidate) {
	if c.words == 0 && len(s.cands)*s.src.reg.words > maxRead {
		c.words = s.freshWords(c.wire)
	}
}

// freshWords is the number of words that a record makes the receiver keep.
func (s *Sender) freshWords(w WireID) int32 {
	e := s.src.slots[s.slots[w]]
	v := &e.vers[e.head]
	return int32(s.src.reg.wordsOf(s.src.reg.visibleMask(v.mask, s.auds[w])))
}

// choose encodes what fits, and tells whether all of the viewer's own did.
func (s *Sender) choose(room, budget int) bool {
	left := room - headerBits - 8 - 2 - 33 - spansLeast
	left = s.chooseLeaving(left)
	soft := left - (room - budget)
	s.cache.begin(s.src)
	s.aim()
	s.code.f.reset()
	s.code.syms = s.code.syms[:0]
	s.code.w.Reset(s.code.w.buf[:0])
	s.expecting = s.mayExpect()
	cost := s.gather()
	if cost >= soft/2 {
		s.expecting = false
		cost = s.gather()
	}
	left, soft = left-cost, soft-cost
	if !s.tight && !s.barred && s.encodeAll(soft) {
		copy(s.chosen, s.want)
		return true
	}
	own, all := s.chooseSome(left, soft)
	s.tight = !all
	return own && !s.barredOwn
}

// encodeAll encodes all candidates, or as many as fit, and tells whether all did.
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
		if s.weigh(c); !load.add(c) || total > left {
			return false
		}
	}
	return total+s.gapBits(others) <= left
}

// spawnLoad limits how much a receiver must do and allocate for one snapshot: few
// bits can say that very many values are as they were, or as expected.
type spawnLoad struct {
	most, n, words int // most: 0 for the default
	records, all   int // of spawns and others, and their words
}

// spawnsOf is a configured number of spawns, or the default.
func spawnsOf(most int) int {
	if most <= 0 {
		return maxSpawns
	}
	return most
}

// mostSpawns is how many entities a snapshot may show for the first time.
func (s *Sender) mostSpawns() int { return spawnsOf(s.cfg.Spawns) }

func (l *spawnLoad) add(c *candidate) bool {
	if l.records == maxRecords || l.records > 0 && l.all+int(c.words) > maxRead {
		return false
	}
	if !c.spawn {
		l.records, l.all = l.records+1, l.all+int(c.words)
		return true
	}
	most := spawnsOf(l.most)
	if l.n == most || (l.n > 0 && l.words+int(c.words) > maxFresh*most/maxSpawns) {
		return false
	}
	l.n++
	l.words += int(c.words)
	l.records, l.all = l.records+1, l.all+int(c.words)
	return true
}

// gapBits bounds what naming n entities takes: gaps that sum to the number of wire
// ids cost most when they are equal.
func (s *Sender) gapBits(n int) int {
	if n == 0 {
		return 0
	}
	c := &s.code.tab.costs
	flags := (uint32(c[ctxMore][1])+uint32(max(c[ctxNext][0], c[ctxNext][1])))/256 + 1
	return n * (int(flags) + gapOrder + golombBits(uint32(len(s.shown)/n)>>gapOrder))
}

// rank is which turn a gain brings, 0 to 239: exact below 16, then eight to an octave.
func rank(gained uint32) int {
	if gained < 16 {
		return int(gained)
	}
	n := bits.Len32(gained) - 1
	return 16 + (n-4)*8 + int(gained>>(n-3))&7
}

// order lists the candidates: the viewer's own, then, everybody's among them, by what was gained, in the order
// of wire ids among equals.
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
		s.turns[*p] = uint16(i) // ids, and so places, are below 2¹⁶
		*p++
	}
}

// chooseLeaving keeps as many removals as may go, and returns what room is left. The
// others go round, so that each has its turn. However many wait, this takes a look at
// each word of the set and at those that go.
func (s *Sender) chooseLeaving(left int) int {
	s.runs = s.runs[:0]
	n, cursor := s.Leaving(), s.cursor
	var size int
	for most := min(n, maxLeaving); ; most = most * 3 / 4 {
		s.stuck = n > most
		s.cursor = s.pick(most, cursor)
		if size = s.leavingBits(); size <= left/2 || most <= 1 {
			break
		}
	}
	if size > max(left, 0) {
		s.stuck, s.cursor = true, s.pick(0, cursor)
		size = 0
	}
	return left - size
}

// pick takes so many removals in hand, behind a wire id if that is not all. It returns
// the last one.
func (s *Sender) pick(most int, cursor WireID) WireID {
	s.leaving = s.leaving[:0]
	clear(s.leaves)
	at := 0
	if s.stuck {
		at = int(cursor) + 1
	}
	for range most {
		w := nextWire(len(s.away), at, s.goes)
		if w < 0 {
			w = nextWire(len(s.away), 0, s.goes)
		}
		s.leaves.add(WireID(w))
		if at = w + 1; s.stuck {
			cursor = WireID(w)
		}
	}
	for i, m := range s.leaves {
		for ; m != 0; m &= m - 1 {
			s.leaving = append(s.leaving, WireID(i<<6+bits.TrailingZeros64(m)))
		}
	}
	return cursor
}

// leavingBits is what the removals in hand take, without their number.
func (s *Sender) leavingBits() int {
	n, at := 0, WireID(0)
	for _, w := range s.leaving {
		n += golombBits(uint32(w-at-1)) + 1 + golombBits(min(s.src.tick-s.shown[w].gone, maxBack))
		at = w
	}
	return n
}

// goes is the part of the removals that wait.
func (s *Sender) goes(i int) uint64 { return s.away[i] }

// unsure is how many entities were shown of which it is not known whether the viewer
// received them, those that leave included.
func (s *Sender) unsure() (n int) {
	for i, m := range s.told {
		n += bits.OnesCount64(m &^ s.held[i] & (s.live[i] | s.away[i]))
	}
	return n
}

// postpone lists what was not chosen, and lets it gain.
func (s *Sender) postpone() {
	for i, want := range s.want {
		for m := s.chosen[i] & s.waiting[i]; m != 0; m &= m - 1 {
			s.gained[i<<6+bits.TrailingZeros64(m)] = 0
		}
		late := want &^ s.chosen[i]
		s.waiting[i] = s.waiting[i]&^s.chosen[i] | late
		s.count.Postponed += uint64(bits.OnesCount64(late))
		for m := late; m != 0; m &= m - 1 {
			w := i<<6 + bits.TrailingZeros64(m)
			gain := 1
			if s.cfg.Priority != nil {
				gain = max(1, min(s.cfg.Priority(s.shown[w].id), 1<<20))
			}
			if s.own.has(WireID(w)) { // every viewer computes with it
				gain *= 2
			}
			s.gained[w] = min(s.gained[w]+uint32(gain), 1<<31)
		}
	}
	s.addRuns()
}

// speaks is the part of the shown entities that are neither sent nor postponed: what
// their absence says must not be lost in a run of the postponed. Where a record is in
// the snapshot it speaks for itself, and ids out of use are nobody's.
func (s *Sender) speaks(i int) uint64 { return s.live[i] &^ s.want[i] }

// addRuns makes runs of what is postponed, removals too, each as long as it may be.
func (s *Sender) addRuns() {
	open := false // the last run ends with what comes next and is not postponed
	for i, want := range s.want {
		late, speaks := want&^s.chosen[i]|s.away[i]&^s.leaves[i], s.speaks(i)
		for m := late; m != 0; {
			at := bits.TrailingZeros64(m)
			if below := uint64(1)<<at - 1; speaks&below != 0 {
				speaks, open = speaks&^below, false
			}
			w := WireID(i<<6 + at)
			if !open {
				s.runs, open = append(s.runs, span{w, w}), true
			}
			// All up to the next that speaks belongs to this run.
			if end := speaks & -speaks; end != 0 {
				s.runs[len(s.runs)-1].to = WireID(i<<6 + 63 - bits.LeadingZeros64(m&(end-1)))
				m &^= end - 1
			} else {
				s.runs[len(s.runs)-1].to = WireID(i<<6 + 63 - bits.LeadingZeros64(m))
				m = 0
			}
		}
		open = open && speaks == 0
	}
}

func (s *Sender) writeLeaving(w *BitWriter, rec *Sent) {
	w.Golomb(uint32(len(s.leaving)))
	at := WireID(0)
	for _, wire := range s.leaving {
		g := &s.shown[wire]
		w.Golomb(uint32(wire - at - 1))
		w.Bool(g.hidden)
		w.Golomb(min(s.src.tick-g.gone, maxBack))
		at = wire
		rec.away = append(rec.away, removal{wire, g.life})
		s.count.Removals++
	}
}

// writeRecords writes the records: whether each that is expected is there, these,
// and then the others with their wire ids.
func (s *Sender) writeRecords(rec *Sent) {
	h := &s.head
	if s.usual[2] != 0 {
		h.flag(ctxExpecting, s.expecting)
	}
	if s.expecting {
		for _, x := range s.expected {
			h.flag(int(x.ctx), s.chosen.has(x.wire))
		}
		for i := range s.cands {
			if c := &s.cands[i]; c.listed && s.chosen.has(c.wire) {
				s.writeRecord(c)
			}
		}
	}
	at := WireID(0)
	for i := range s.cands {
		c := &s.cands[i]
		if c.listed || !s.chosen.has(c.wire) {
			continue
		}
		h.flag(ctxMore, true)
		h.flag(ctxNext, c.wire == at+1)
		if c.wire != at+1 {
			h.w.gap(uint32(c.wire - at - 2))
		}
		at = c.wire
		s.writeRecord(c)
	}
	h.flag(ctxMore, false)
	for i, m := range s.chosen {
		rec.count += bits.OnesCount64(m)
		s.count.Spawns += uint64(bits.OnesCount64(m &^ s.held[i]))
		s.told[i] |= m
	}
	s.count.Records += uint64(rec.count)
	rec.seq, rec.records = s.trail.seq, append(rec.records[:0], s.chosen...)
	s.trail.note(s.chosen, len(s.runs) == 0)
}

func (s *Sender) writeRecord(c *candidate) {
	if s.cfg.Profile != nil {
		s.profile(c)
	}
	h, from := &s.head, &s.code
	if c.kept {
		from = &s.cache.code
	}
	h.f.next()
	h.f.groups = append(h.f.groups, from.f.groups[c.at.from:c.at.from+c.at.m]...)
	h.w.splice(from.w.buf, int(c.at.pos), int(c.at.n))
	if h.stat != nil {
		h.syms = append(h.syms, s.code.syms[c.sym:c.sym+c.k]...)
	}
}
