package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/schema"
)

const (
	retryTooLong = 64 // snapshots until a record that was too long is tried again
	resendPiece  = 64 // snapshots until a piece without news of its packet is sent again
	pieceWait    = 16 // snapshots without any piece until one may exceed the budget
	unfitWait    = 64 // gain at which an entity whose record is longer than the budget is cut
)

// cutter is a sender's state of records that are longer than a packet. A sender has none
// until it meets the first.
type cutter struct {
	// out has the entities that are in pieces, wait to be cut, or are too long.
	out   wireSet
	open  []*pinned                     // open has the records in pieces. The viewer's own come first.
	pins  wireSet                       // pins has the entities in known.
	known map[schema.WireID]schema.Tick // known has the ticks of the pinned values that the viewer holds.
	// banned has, for records that were too long, s.appends when that was found.
	banned map[schema.WireID]uint32
	told   []TooLong
	// waits counts the snapshots since the last one with pieces, while there were some to send.
	waits  int
	serial uint32 // serial is the number of the newest pinned record.
	spare  []*pinned
}

// TooLong is an entity that is not sent to a viewer, because its record is longer than [MaxRecord].
type TooLong struct {
	Entity NetID
	Bytes  int // size of the record
	// Component is the id of the component that takes most of the record, and Share is that component's bytes.
	Component, Share int
}

// Cuts reports whether any record so far was longer than a packet. If so, look at [Sender.Counters] and
// [Sender.TakeTooLong].
func (s *Sender) Cuts() bool { return s.cut != nil }

// TakeTooLong returns the entities that were found to be too long to send since the last
// call. Each is tried again after 64 snapshots, and then returned again.
func (s *Sender) TakeTooLong() []TooLong {
	if s.cut == nil || len(s.cut.told) == 0 {
		return nil
	}
	out := s.cut.told
	s.cut.told = nil
	return out
}

// acked returns the tick of an entity's newest value that the viewer is known to hold, or 0.
func (s *Sender) acked(w schema.WireID) schema.Tick {
	t := s.sent.acked(w)
	if s.cut != nil && s.cut.pins.has(w) {
		if pin := s.cut.known[w]; t == 0 || after(pin, t) {
			return pin
		}
	}
	return t
}

// outdated reports whether the viewer may have dropped its newest acknowledged value, because too many other
// values were sent since.
func (s *Sender) outdated(w schema.WireID, acked schema.Tick) bool {
	l, t, window := &s.sent, s.src.tick, uint32(s.cfg.Window)
	if s.cut == nil || !s.cut.pins.has(w) || s.cut.known[w] != acked {
		return l.last(w) != acked && t-l.since(w) >= window
	}
	// Records from before the pinned value do not count.
	since := schema.Tick(0)
	for m := l.byAge(l.sends[w]); m != 0; m &= m - 1 { // oldest first
		if at := l.aged(63 - bits.TrailingZeros64(m)).tick; after(at, acked) {
			since = at
			break
		}
	}
	if o := &l.old[w]; o.sent != 0 && after(o.sent, acked) {
		since = acked + 1
	}
	return since != 0 && t-since >= window
}

// cuts reports whether any record is in pieces, waits to be cut, or is too long.
func (s *Sender) cuts() bool {
	if s.cut == nil {
		return false
	}
	for i, m := range s.cut.out {
		if m&s.live[i] != 0 {
			return true
		}
	}
	return false
}

// stands reports whether a pinned record is still valid: the entity is shown, and its audience and baselines
// did not change since.
func (s *Sender) stands(x *pinned) bool {
	return x.view == s.view && x.aud == s.auds[x.wire] && s.live.has(x.wire) && s.shown[x.wire].life == x.life && s.from[x.wire] == x.from && !s.aside.has(x.wire)
}

// forgetCut forgets a wire id's records in pieces, before the wire id is used again.
func (s *Sender) forgetCut(w schema.WireID) {
	if c := s.cut; c != nil {
		c.out.drop(w)
		c.pins.drop(w)
		delete(c.known, w)
		delete(c.banned, w)
	}
}

// forgetAllCuts drops everything about records in pieces.
func (s *Sender) forgetAllCuts() {
	if c := s.cut; c != nil {
		clear(c.out)
		clear(c.pins)
		clear(c.known)
		clear(c.banned)
		c.spare, c.open = append(c.spare, c.open...), c.open[:0]
	}
}

// beginCuts gives up pinned records that are no longer valid. Then it lets waiting entities try again, as many
// as may still be in pieces. The viewer's own go first, and then those with the highest gain.
func (s *Sender) beginCuts() {
	c := s.cut
	if c == nil {
		return
	}
	for i, m := range c.out {
		c.out[i] = m & s.live[i]
	}
	c.open = slices.DeleteFunc(c.open, func(x *pinned) bool {
		if s.stands(x) {
			return false
		}
		if s.live.has(x.wire) {
			c.out.drop(x.wire)
		}
		c.spare = append(c.spare, x)
		return true
	})
	for free := maxInParts - len(c.open); free > 0; free-- {
		w := s.nextCut()
		if w == 0 {
			break
		}
		c.out.drop(w)
	}
}

// nextCut returns the waiting entity that tries next, or 0.
func (s *Sender) nextCut() (best schema.WireID) {
	c := s.cut
	for i, m := range c.out {
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			if at, ok := c.banned[w]; ok && s.appends-at < retryTooLong || c.findPinned(w) != nil {
				continue
			}
			if best == 0 || s.own.has(w) && !s.own.has(best) || s.own.has(w) == s.own.has(best) && s.gained[w] > s.gained[best] {
				best = w
			}
		}
	}
	return best
}

func (c *cutter) findPinned(w schema.WireID) *pinned {
	for _, x := range c.open {
		if x.wire == w {
			return x
		}
	}
	return nil
}

// tooLong reports whether a candidate's record fits into no snapshot. Such a candidate is sent in pieces. If
// its record cannot be cut, tooLong returns false.
func (s *Sender) tooLong(c *candidate) bool {
	if !c.encoded {
		s.encode(c)
	}
	if int(c.size)+s.gapBits(1) <= s.alone {
		return false
	}
	return s.cutRecord(c)
}

// cutRecord sends a candidate in pieces. If too many records are in pieces already, the candidate waits. It
// returns false if the record has nothing to cut.
func (s *Sender) cutRecord(cand *candidate) bool {
	e, w := s.src.slots[s.slots[cand.wire]], cand.wire
	mask := s.src.reg.VisibleMask(e.mask(e.head), s.auds[w])
	if countUnits(s.src.reg, mask, s.auds[w]) == 0 {
		return false
	}
	if s.cut == nil {
		s.cut = &cutter{known: map[schema.WireID]schema.Tick{}, banned: map[schema.WireID]uint32{}, out: make(wireSet, len(s.live)), pins: make(wireSet, len(s.live))}
	}
	c := s.cut
	cand.done = true
	c.out.add(w)
	words, held := s.src.reg.WordsOf(mask), 0
	for _, x := range c.open {
		held += x.words
	}
	if len(c.open) >= maxInParts || held > 0 && held+words > maxRead/2 {
		return true
	}
	x := s.pin(w, e)
	if size := x.size(); size > MaxRecord {
		s.count.TooLong++
		c.banned[w] = s.appends
		c.told = append(c.told, TooLong{s.shown[w].id, size, x.greatest, x.share / 8})
		c.spare = append(c.spare, x)
		return true
	}
	delete(c.banned, w)
	x.words = words
	s.count.InPieces++
	at := len(c.open)
	for at > 0 && x.own && !c.open[at-1].own {
		at--
	}
	c.open = slices.Insert(c.open, at, x)
	return true
}

// isCut reports whether an entity is in pieces, or waits for that.
func (s *Sender) isCut(w schema.WireID) bool { return s.cut != nil && s.cut.out.has(w) }
