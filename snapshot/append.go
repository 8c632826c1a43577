package snapshot

import "slices"

const (
	headerBits  = 32 + 2 + 33 // tick, marks, usual distance at most
	spansLeast  = 3 + 33 + 33 // one span at most
	removalBits = 33 + 1 + 33 // one removal at most
	maxMisfits  = 8           // records tried after the first that did not fit
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
	pos, n  int // its record in the scratch bits
}

// Append appends the snapshot of the Source's current tick in at most room bytes
// and fills rec with what it carries. The viewer's own entities come first; what
// finds no room of the others is listed as postponed and goes earlier next time.
// With too little room for any snapshot (some 24 bytes) nothing is appended. Call it
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

	w := &s.out
	w.Reset(dst)
	from := len(dst)
	w.put(uint64(rec.tick), 32)
	w.Bool(len(s.runs) == 0)
	w.Bool(own)
	w.Golomb(s.usual())
	s.writeLeaving(w, rec)
	s.writeRecords(w, rec)
	if len(s.runs) > 0 {
		writeSpans(w, coarsen(s.runs, room*8-w.Len()+from*8-8))
	}
	dst = w.Bytes()
	w.Reset(nil)
	s.count.Snapshots++
	s.count.Bytes += uint64(len(dst) - from)
	return dst
}

// usual is the distance of the baseline that most records have.
func (s *Sender) usual() uint32 {
	if d := s.src.tick - s.newest; s.newest != 0 && d <= maxBack {
		return d
	}
	return 0
}

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
		e := s.src.slots[g.slot]
		a := s.audience(e.vers[e.head].owner)
		if e.refs {
			s.noteRefs(g, e, a)
		}
		if g.acks && !after(e.changed[a], g.acked) && (len(g.refs) == 0 || !after(g.refSince, g.acked)) {
			continue
		}
		c := candidate{wire: WireID(w), own: a == audienceOwner, spawn: !g.acks, gained: g.gained}
		if c.spawn {
			c.words = s.src.reg.wordsOf(s.src.reg.visibleMask(e.vers[e.head].mask, a))
		}
		s.cands = append(s.cands, c)
	}
}

// choose encodes what fits, and tells whether all of the viewer's own did.
func (s *Sender) choose(room int) bool {
	left := room - headerBits - 8 - 2 - 33 - spansLeast
	left = s.chooseLeaving(left)
	s.scratch.Reset(s.bits)
	defer func() { s.bits = s.scratch.Bytes() }()
	for i := range s.cands { // in the order of wire ids, while all fits
		s.encode(&s.cands[i])
	}
	total := 0
	var load spawnLoad
	fits := true
	for i := range s.cands {
		total += s.cands[i].n
		fits = fits && load.add(&s.cands[i])
	}
	if fits && total+s.gapBits(len(s.cands)) <= left {
		for i := range s.cands {
			s.cands[i].chosen = true
		}
		return true
	}
	return s.chooseSome(left)
}

// spawnLoad limits how much a receiver must allocate for one snapshot.
type spawnLoad struct{ n, words int }

func (l *spawnLoad) add(c *candidate) bool {
	if !c.spawn {
		return true
	}
	if l.n == maxSpawns || (l.n > 0 && l.words+c.words > maxFresh) {
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
	return n * (1 + golombBits(uint32(len(s.shown)/n)) + 1)
}

// chooseSome fills the room: own entities, then by what was gained.
func (s *Sender) chooseSome(left int) bool {
	slices.SortFunc(s.cands, func(a, b candidate) int {
		switch {
		case a.own != b.own:
			if a.own {
				return -1
			}
			return 1
		case a.gained != b.gained:
			if a.gained > b.gained {
				return -1
			}
			return 1
		}
		return int(a.wire) - int(b.wire)
	})
	own, used, n, misfits := true, 0, 0, 0
	var load spawnLoad
	for i := range s.cands {
		c := &s.cands[i]
		if misfits > maxMisfits && !c.own {
			break
		}
		if used+c.n+s.gapBits(n+1) > left || !load.add(c) {
			misfits++
			own = own && !c.own
			continue
		}
		c.chosen = true
		used += c.n
		n++
	}
	if !own {
		s.count.OwnPostponed++
	}
	slices.SortFunc(s.cands, func(a, b candidate) int { return int(a.wire) - int(b.wire) })
	return own
}

// chooseLeaving keeps as many removals as may go, and returns what room is left.
func (s *Sender) chooseLeaving(left int) int {
	most := min(maxLeaving, max(1, left/2/removalBits))
	if left < removalBits {
		most = 0
	}
	if n := len(s.leaving); n > most {
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

func (s *Sender) writeRecords(w *BitWriter, rec *Sent) {
	at := WireID(0)
	for i := range s.cands {
		c := &s.cands[i]
		if !c.chosen {
			continue
		}
		w.Bool(true)
		w.Golomb(uint32(c.wire - at - 1))
		w.splice(s.bits, c.pos, c.n)
		at = c.wire
		g := &s.shown[c.wire]
		if g.acks && g.last == g.acked {
			g.since = rec.tick
		}
		g.last, g.sent = rec.tick, true
		rec.items = append(rec.items, sentItem{c.wire, false, g.life})
		s.count.Records++
		if c.spawn {
			s.count.Spawns++
		}
	}
	w.Bool(false)
}
