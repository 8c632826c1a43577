package rollback

import (
	"time"

	"github.com/foretick/foretick"
)

// search finds, together with another player, what made their two worlds differ. Both run the ticks again that
// follow the newest agreed one, and compare first the ends of the ticks, then the steps of the first tick that
// differs, then the values after the first step that differs. In turn, each tells hashes of its list at places
// where the lists may begin to differ, so a list of a million needs four messages.
//
// A world that comes out otherwise when its ticks run again was written outside of systems. Its player
// says so, and the search ends.
type search struct {
	p      *compiled
	tags   []string
	record *record
	own    foretick.PlayerID
	differ differ
	wrote  *write // wrote is what code outside of systems wrote in these ticks, as far as that was seen.
	send   func(*clue)
	begun  time.Duration

	level   level
	base    *moment   // base is the world before the first tick of the level's list.
	play    *playback // play makes the list. It is nil once the list is there.
	list    list
	values  *values
	waiting *clue // waiting came before the list was there.
	speaks  bool  // speaks is true if the other player waits for a clue.
	told    *finding

	build string // build is the other player's.
	done  bool
	known bool // known is true if the cause was found.
	cause Cause
}

const (
	searchTime  = 5 * time.Second // searchTime is how long a search may take.
	ticksOfStep = 16              // ticksOfStep is how many ticks a search runs in a Step.
)

// newSearch begins a search. It returns nil if the worlds of the agreed tick are no longer there.
func newSearch(now time.Duration, p *compiled, tags []string, r *record, own foretick.PlayerID, d differ, wrote *write, send func(*clue)) *search {
	s := &search{p: p, tags: tags, record: r, own: own, differ: d, wrote: wrote, send: send, begun: now, speaks: own < d.other}
	if s.base = r.at(d.agreed); s.base == nil || r.at(d.tick) == nil {
		return nil
	}
	kept := *s.base
	kept.standing, kept.world = append([]byte(nil), kept.standing...), append([]byte(nil), kept.world...)
	s.base = &kept // the record uses its memory again
	return s
}

// advance goes on.
func (s *search) advance(now time.Duration) {
	if now-s.begun > searchTime {
		s.done = true
	}
	for !s.done && s.makeList() {
		switch w := s.waiting; {
		case w != nil:
			s.waiting = nil
			s.take(w)
		case s.speaks:
			s.speak()
		default:
			return // the other player's turn
		}
	}
}

// makeList goes on making the list of the level. It returns true once it is there.
func (s *search) makeList() bool {
	if s.list.whole {
		return true
	}
	var err error
	if s.play == nil {
		if s.play, err = s.record.play(s.p, s.tags, s.base); err != nil {
			s.done = true
			return false
		}
	}
	switch pb := s.play; s.level {
	case levelTicks:
		for range ticksOfStep {
			if pb.tick() == s.differ.tick {
				s.list.whole = true
				s.checkReproduced()
				return !s.done
			}
			if more, err := pb.run(); err != nil || !more {
				s.done = true
				return false
			}
			s.list.add(pb.sum())
		}
		return false
	case levelSteps:
		pb.after = func(int) { s.list.add(pb.sum()) }
		_, err = pb.run()
	case levelValues:
		at := moment{tick: pb.tick(), standing: s.base.standing}
		pb.after = func(step int) {
			if step == s.list.step {
				pb.sum()
				at.world = append([]byte(nil), pb.sim.sums.world...)
			}
		}
		if _, err = pb.run(); err != nil || at.world == nil {
			s.done = true
			return false
		}
		after, e := newPlayback(s.p, s.tags, s.record.rules, s.record.places, &at, nil)
		if err = e; err == nil {
			s.values = valuesOf(s.p.Types, after.sim.world)
			s.list.hashes = s.values.hashes
		}
	}
	s.done, s.list.whole = err != nil, true
	return !s.done
}

// checkReproduced ends the search if the ticks do not make the world that the player had.
func (s *search) checkReproduced() {
	had := s.record.at(s.differ.tick)
	if had == nil || s.play.sum() == had.sum {
		return
	}
	f := finding{first: s.differ.agreed, last: s.differ.tick}
	if w := s.wrote; w != nil {
		f.spot.entity, f.field, f.value, f.expected, f.first, f.last = w.entity, w.field, w.is, w.was, w.first, w.last
	} else if before, err := newPlayback(s.p, s.tags, s.record.rules, s.record.places, had, nil); err == nil {
		as, is := valuesOf(s.p.Types, s.play.sim.world), valuesOf(s.p.Types, before.sim.world)
		f.spot, f.value, f.expected, _ = is.difference(as)
		f.field = is.nameOf(f.spot)
	}
	s.endOutside(s.own, &f)
	s.cause.Own, s.cause.Theirs = f.value, f.expected
	s.tell(&clue{level: levelOutside, cause: &f})
}

// endOutside ends the search, because a player's world was written outside of systems.
func (s *search) endOutside(writer foretick.PlayerID, f *finding) {
	s.cause = Cause{Outside: true, Writer: writer, Tick: f.first, Last: f.last, Field: f.field, Entity: f.spot.entity}
	s.known, s.done = true, true
}

// hear takes a clue of the other player.
func (s *search) hear(c *clue) {
	if s.done || c.tick != s.differ.tick || c.player != s.differ.other {
		return
	}
	if c.build != "" {
		s.build = c.build
	}
	switch {
	case c.level == levelOutside:
		if f := c.cause; f != nil {
			s.endOutside(c.player, f)
			s.cause.Own, s.cause.Theirs = f.expected, f.value
		}
		s.done = true
	default:
		s.waiting = c
	}
}

// take takes a clue of the level, whose list is there.
func (s *search) take(c *clue) {
	if c.level != s.level {
		s.done = true
		return
	}
	s.speaks = true
	if !s.list.narrow(c) {
		s.done = true // the lists are equal, or not those of one search
		return
	}
	if c.found {
		s.descend(c)
	}
}

// speak tells the other player what is known of where the lists begin to differ.
func (s *search) speak() {
	s.speaks = false
	c := &clue{level: s.level, length: uint32(len(s.list.hashes))}
	if place, found := s.list.place(); found {
		c.found, c.place = true, uint32(place)
		if s.level == levelValues {
			s.told = s.values.findingAt(place)
			c.cause = s.told
			s.tell(c)
			return
		}
		s.tell(c)
		s.descend(nil)
		return
	}
	c.points = s.list.points()
	s.tell(c)
}

func (s *search) tell(c *clue) {
	if c.player, c.tick = s.differ.other, s.differ.tick; c.level == levelTicks || c.level == levelOutside {
		c.build = buildName()
	}
	s.send(c)
}

// descend goes on with the next level, or ends with what both have at the place that was found. c is the clue that
// named the place, or nil if this peer did.
func (s *search) descend(c *clue) {
	place, _ := s.list.place()
	switch s.level {
	case levelTicks:
		s.cause.Tick = s.differ.agreed + foretick.Tick(place) + 1
		if s.base = s.worldBefore(s.cause.Tick); s.base == nil {
			s.done = true
			return
		}
	case levelSteps:
		s.cause.System = s.play.stepName(place)
	case levelValues:
		if c.cause == nil {
			s.done = true
			return
		}
		own := s.told
		if own == nil {
			own = s.values.findingAt(place)
			s.tell(&clue{level: s.level, length: uint32(len(s.list.hashes)), found: true, place: uint32(place), cause: own})
		}
		s.conclude(own, c.cause)
		return
	}
	s.level++
	s.play, s.list = nil, list{step: place}
	if s.level == levelSteps {
		s.list.step = 0
	}
}

// worldBefore returns the world before a tick.
func (s *search) worldBefore(t foretick.Tick) *moment {
	pb, err := s.record.play(s.p, s.tags, s.base)
	if err != nil {
		return nil
	}
	if there, err := pb.runTo(t-1, int(t-s.base.tick)); err != nil || !there {
		return nil
	}
	sum := pb.sum()
	return &moment{tick: t - 1, offset: s.record.from + len(s.record.ticks) - len(pb.ticks), standing: pb.standing.appendWhole(nil), world: append([]byte(nil), pb.sim.sums.world...), sum: sum}
}

// conclude ends the search with both values.
func (s *search) conclude(own, theirs *finding) {
	c := &s.cause
	c.Last, c.Field, c.Entity, c.Own, c.Theirs = c.Tick, own.field, own.spot.entity, own.value, theirs.value
	switch order := own.spot.compare(theirs.spot); { // of two other spots, only one side has the first
	case own.field == "" || order > 0 && theirs.field != "":
		c.Field, c.Entity, c.Own = theirs.field, theirs.spot.entity, missing
	case theirs.field == "" || order < 0:
		c.Theirs = missing
	}
	s.known, s.done = true, true
}

// list is what both compare. hashes has a hash for each place, of all up to it.
type list struct {
	hashes []uint32
	whole  bool
	step   int // step is the one that was found, in a list of values.
	last   uint64

	low, high int // low and high are the first and last place from which on the lists may differ.
	bounded   bool
}

// add adds a sum to a list.
func (l *list) add(sum uint64) {
	l.last = fold(l.last, sum)
	l.hashes = append(l.hashes, uint32(l.last>>32))
}

// narrow takes what the other player tells. It returns false if the lists do not differ, or cannot be compared.
func (l *list) narrow(c *clue) bool {
	l.bound()
	l.high = int(min(uint32(l.high), c.length))
	for _, p := range c.points {
		switch {
		case p.place >= uint32(len(l.hashes)):
		case l.hashes[p.place] != p.hash:
			l.high = min(l.high, int(p.place))
		default:
			l.low = max(l.low, int(p.place)+1)
		}
	}
	if c.found {
		if c.place < uint32(l.low) || c.place > uint32(l.high) {
			return false
		}
		l.low, l.high = int(c.place), int(c.place)
	}
	equal := l.low == len(l.hashes) && uint32(l.low) == c.length
	return l.low <= l.high && !equal
}

func (l *list) bound() {
	if !l.bounded {
		l.bounded, l.high = true, len(l.hashes)
	}
}

// place returns where the lists begin to differ, once that is known.
func (l *list) place() (place int, found bool) {
	l.bound()
	return l.low, l.low == l.high && len(l.hashes) > 0
}

// points returns places from low to high, which the other player may not know to be the last.
func (l *list) points() (out []point) {
	l.bound()
	n := min(l.high+1, len(l.hashes)) - l.low
	for i := range min(n, mostPoints) {
		at := l.low + (i+1)*n/min(n, mostPoints) - 1
		out = append(out, point{uint32(at), l.hashes[at]})
	}
	return out
}
