package snapshot

import (
	"encoding/binary"
	"slices"
)

const (
	headerBits  = 40 + 24 + 12 + 8 + 33 + 13 + 13 // tick, length, marks, flush, usual distances at most
	spansLeast  = 3 + 33 + 33                     // one span at most
	removalBits = 33 + 1 + 33                     // one removal at most
	maxMisfits  = 8                               // records tried after the first that did not fit
)

// candidate is an entity with something to send.
type candidate struct {
	wire    WireID
	own     bool
	spawn   bool
	words   int // of a spawn
	encoded bool
	chosen  bool
	gained  uint32
	pos, n  int    // its bits
	sym, m  int    // its flags
	size    int    // of both, in bits
	listed  int    // 1 + its place among the expected, 0: none
	kept    bool   // its flags and bits lie in the cache
	gate    uint32 // what its flag as expected costs, in 1/256 bit
}

// Append appends the snapshot of the Source's current tick in at most room bytes
// and fills rec with what it carries. The viewer's own entities come first; what
// finds no room of the others is listed as postponed and goes earlier next time.
// With too little room for any snapshot (some 32 bytes) nothing is appended. Call it
// at most once a tick, after End.
func (s *Sender) Append(dst []byte, room int, rec *Sent) []byte {
	rec.Reset()
	if s.closed || s.src.tick == 0 || s.src.open {
		return dst
	}
	if room*8 < headerBits+3+spansLeast+2+8 {
		s.count.TooSmall++
		return dst
	}
	rec.tick, rec.view = s.src.tick, s.view
	s.appends++
	s.look()
	s.collect()
	own := s.choose(room * 8)
	s.postpone()

	from := len(dst)
	dst = s.write(dst, room, own, rec)
	s.count.Snapshots++
	s.count.Bytes += uint64(len(dst) - from)
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
func (s *Sender) write(dst []byte, room int, own bool, rec *Sent) []byte {
	h := &s.head
	h.f.syms, h.f.cost = h.f.syms[:0], 0
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

	s.rc.reset(s.rc.out[:0])
	s.rc.encode(h.f.syms, &s.src.reg.tab.probs)
	flags := s.rc.finish(0)
	if st := s.cfg.Statistics; st != nil {
		for _, sym := range h.f.syms {
			st.flags[sym>>1][sym&1]++
		}
	}
	if len(s.runs) > 0 {
		writeSpans(&h.w, coarsen(s.runs, (room-5-3-len(flags))*8-h.w.Len()))
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
	s.usual = [3]uint32{}
	d := s.src.tick - s.newest
	if s.newest == 0 || d > maxBack {
		return
	}
	s.usual[0] = d
	most := uint32(min(s.cfg.Window, s.src.history, 64))
	for i, from := 1, uint32(0); i < 3; i++ {
		best, want := uint32(0), ordinaryGaps[i]
		for back := from + 1; d+back < most; back++ {
			if s.acked>>back&1 != 0 && (best == 0 || gap(back-from, want) < gap(best-from, want)) {
				best = back
			}
		}
		if best == 0 {
			return
		}
		s.usual[i] = best - from
		from = best
	}
	s.scale.set(s.src.reg.tab, s.usual)
}

func gap(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// collect lists the entities that leave and those with something to send.
func (s *Sender) collect() {
	s.cands, s.leaving, s.runs = s.cands[:0], s.leaving[:0], s.runs[:0]
	s.bits = s.bits[:0]
	for w := 1; w < len(s.shown); w++ {
		g := &s.shown[w]
		if g.state == wireLeaving {
			s.leaving = append(s.leaving, WireID(w))
		}
		if g.state != wireLive {
			continue
		}
		h := &s.src.hot[g.slot]
		a := s.audience(h.owner)
		if h.refs {
			s.noteRefs(g, s.src.slots[g.slot], a)
		}
		if g.acks && !after(h.changed[a], g.acked) && !g.pending() {
			continue
		}
		c := candidate{wire: WireID(w), own: a == audienceOwner, spawn: !g.acks, gained: g.gained}
		if c.spawn {
			e := s.src.slots[g.slot]
			c.words = s.src.reg.wordsOf(s.src.reg.visibleMask(e.vers[e.head].mask, a))
		}
		s.cands = append(s.cands, c)
	}
}

// choose encodes what fits, and tells whether all of the viewer's own did.
func (s *Sender) choose(room int) bool {
	left := room - headerBits - 8 - 2 - 33 - spansLeast
	left = s.chooseLeaving(left)
	s.aim()
	left -= s.expect(left / 2)
	s.code.f.syms = s.code.f.syms[:0]
	s.code.w.Reset(s.bits)
	if k := s.cfg.Cache; k != nil {
		k.begin(s.src.tick, len(s.src.slots))
	}
	total, others := 0, 0
	load := spawnLoad{most: s.cfg.Spawns}
	fits := true
	for i := 0; i < len(s.cands) && fits; i++ { // in the order of wire ids
		c := &s.cands[i]
		s.encode(c)
		total += c.size
		if c.listed == 0 {
			others++
		}
		fits = load.add(c) && total+s.gapBits(others) <= left
	}
	own := true
	if fits {
		for i := range s.cands {
			s.cands[i].chosen = true
		}
	} else {
		own = s.chooseSome(left)
	}
	s.bits = s.code.w.Bytes()
	return own
}

// spawnLoad limits how much a receiver must allocate for one snapshot.
type spawnLoad struct{ most, n, words int } // most: 0 for the default

func (l *spawnLoad) add(c *candidate) bool {
	if !c.spawn {
		return true
	}
	most := l.most
	if most <= 0 {
		most = maxSpawns
	}
	if l.n == most || (l.n > 0 && l.words+c.words > maxFresh*most/maxSpawns) {
		return false
	}
	l.n++
	l.words += c.words
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

// chooseSome fills the room: own entities, then by what was gained.
func (s *Sender) chooseSome(left int) bool {
	s.turns = s.turns[:0]
	for i := range s.cands {
		turn := uint64(^s.cands[i].gained)<<16 | uint64(i) // ids, and so places, are below 2¹⁶
		if !s.cands[i].own {
			turn |= 1 << 63
		}
		s.turns = append(s.turns, turn)
	}
	slices.Sort(s.turns)
	own, used, n, misfits := true, 0, 0, 0
	load := spawnLoad{most: s.cfg.Spawns}
	for _, turn := range s.turns {
		c := &s.cands[turn&0xffff]
		if misfits > maxMisfits && !c.own {
			break
		}
		if !c.encoded {
			s.encode(c)
		}
		more := 0
		if c.listed == 0 {
			more = 1
		}
		if used+c.size+s.gapBits(n+more) > left || !load.add(c) {
			misfits++
			own = own && !c.own
			continue
		}
		c.chosen = true
		used += c.size
		n += more
	}
	if !own {
		s.count.OwnPostponed++
	}
	return own
}

// chooseLeaving keeps as many removals as may go, and returns what room is left.
func (s *Sender) chooseLeaving(left int) int {
	s.stuck = false
	most := min(maxLeaving, max(1, left/2/removalBits))
	if left < removalBits {
		most = 0
	}
	if n := len(s.leaving); n > most {
		s.stuck = true
		// Go round, so that each has its turn; keep them in order.
		first, _ := slices.BinarySearch(s.leaving, s.cursor+1)
		keep := s.leaving[:0]
		for i, w := range s.leaving {
			if (i-first+n)%n < most {
				keep = append(keep, w)
			} else {
				s.runs = append(s.runs, span{w, w})
			}
			if (i-first+n)%n == most-1 {
				s.cursor = w
			}
		}
		s.leaving = keep
	}
	return left - len(s.leaving)*removalBits
}

// postpone lists what was not chosen, and lets it gain.
func (s *Sender) postpone() {
	for i := range s.cands {
		c := &s.cands[i]
		g := &s.shown[c.wire]
		if c.chosen {
			g.gained, g.told = 0, s.appends
			continue
		}
		gain := 1
		if s.cfg.Priority != nil {
			gain = max(1, min(s.cfg.Priority(g.id), 1<<20))
		}
		g.gained = min(g.gained+uint32(gain), 1<<31)
		s.runs = append(s.runs, span{c.wire, c.wire})
		s.count.Postponed++
	}
	if len(s.runs) < 2 {
		return
	}
	slices.SortFunc(s.runs, func(a, b span) int { return int(a.from) - int(b.from) })
	keep := s.runs[:1]
	for _, r := range s.runs[1:] {
		if last := &keep[len(keep)-1]; s.silent(last.to, r.from) {
			last.to = r.to
		} else {
			keep = append(keep, r)
		}
	}
	s.runs = keep
}

// silent tells whether a run may span the wire ids between two: a record in the
// snapshot speaks for itself, and ids out of use are nobody's.
func (s *Sender) silent(from, to WireID) bool {
	for w := from + 1; w < to; w++ {
		if g := &s.shown[w]; g.state == wireLive && g.told != s.appends {
			return false
		}
	}
	return true
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
		rec.items = append(rec.items, sentItem{wire, true, g.life})
		s.count.Removals++
	}
}

// writeRecords writes the records: of what is expected each with a flag whether it
// is there, then the others with their wire ids.
func (s *Sender) writeRecords(rec *Sent) {
	h := &s.head
	list := &s.lists[rec.tick%64]
	list.tick, list.whole, list.wires = rec.tick, len(s.runs) == 0, list.wires[:0]
	if s.usual[2] != 0 {
		h.flag(ctxExpecting, s.expecting)
	}
	if s.expecting {
		next := 0
		for i := range s.expected {
			x := &s.expected[i]
			if x.ctx == 0 {
				continue
			}
			for next < len(s.cands) && s.cands[next].wire < x.wire {
				next++
			}
			is := next < len(s.cands) && s.cands[next].wire == x.wire && s.cands[next].chosen
			h.flag(int(x.ctx), is)
			if is {
				s.writeRecord(&s.cands[next], rec)
			}
		}
	}
	at := WireID(0)
	for i := range s.cands {
		c := &s.cands[i]
		if !c.chosen {
			continue
		}
		list.wires = append(list.wires, c.wire)
		if c.listed != 0 {
			continue
		}
		h.flag(ctxMore, true)
		h.flag(ctxNext, c.wire == at+1)
		if c.wire != at+1 {
			h.w.gap(uint32(c.wire - at - 2))
		}
		at = c.wire
		s.writeRecord(c, rec)
	}
	h.flag(ctxMore, false)
}

func (s *Sender) writeRecord(c *candidate, rec *Sent) {
	h, g := &s.head, &s.shown[c.wire]
	syms, bits := s.code.f.syms, s.bits
	if c.kept {
		syms, bits = s.cfg.Cache.syms, s.cfg.Cache.bits
	}
	h.f.syms = append(h.f.syms, syms[c.sym:c.sym+c.m]...)
	h.w.splice(bits, c.pos, c.n)
	if g.acks && g.last == g.acked {
		g.since = rec.tick
	}
	g.note(rec.tick)
	rec.items = append(rec.items, sentItem{c.wire, false, g.life})
	s.count.Records++
	if c.spawn {
		s.count.Spawns++
	}
}
