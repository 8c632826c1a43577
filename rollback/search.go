package rollback

import (
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/settled"
)

// search finds, together with another player, what made their two worlds differ. Both run the ticks again that
// follow the newest agreed one, and compare first the ends of the ticks, then the steps of the first tick that
// differs, then the values after the first step that differs. In turn, each tells hashes of its list at places
// where the lists may begin to differ, so a list of a million needs four messages.
//
// A world that comes out otherwise when its ticks run again was written outside of systems, or by a system that
// uses what is not in the world. Its player says so, and the search ends.
type search struct {
	p      *compiled
	tags   []string
	record *record
	own    foretick.PlayerID
	differ settled.Differ
	wrote  write // wrote is what code outside of systems wrote in these ticks. Without a field, nothing was seen.
	send   func(*settled.Clue)
	begun  time.Duration

	level   settled.Level
	base    *moment   // base is the world before the first tick of the level's list.
	play    *playback // play makes the list. It is nil once the list is there.
	list    list
	values  *values
	waiting *settled.Clue // waiting came before the list was there.
	speaks  bool          // speaks is true if the other player waits for a clue.
	told    *settled.Finding

	build string // build is the other player's.
	done  bool
	known time.Duration // known is when the cause was found. 0 means that it was not.
	cause Cause
	now   time.Duration
}

const (
	searchTime  = 5 * time.Second // searchTime is how long a search may take.
	mostOfStep  = 16              // mostOfStep is how many ticks a search runs in a Step at most.
	bytesOfStep = 1 << 20         // bytesOfStep is how many bytes of worlds it sums in a Step.
	buildTime   = time.Second     // buildTime is how long a search that found the cause waits for the other build.
)

// newSearch begins a search. It returns nil if the worlds of the agreed tick are no longer there.
func newSearch(now time.Duration, p *compiled, tags []string, r *record, own foretick.PlayerID, d settled.Differ, wrote write, send func(*settled.Clue)) *search {
	s := &search{p: p, tags: tags, record: r, own: own, differ: d, wrote: wrote, send: send, begun: now, speaks: own < d.Other}
	if s.base = r.at(d.Agreed); s.base == nil || r.at(d.Tick) == nil {
		return nil
	}
	kept := *s.base
	kept.standing, kept.world = append([]byte(nil), kept.standing...), append([]byte(nil), kept.world...)
	s.base = &kept // the record uses its memory again
	return s
}

// advance goes on.
func (s *search) advance(now time.Duration) {
	s.now = now
	if now-s.begun > searchTime || s.known > 0 && (s.build != "" || now-s.known > buildTime) {
		s.done = true
	}
	for !s.done && s.known == 0 && s.makeList() {
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

// ticksOfStep returns how many ticks the search runs in a Step: fewer of a large world.
func (s *search) ticksOfStep() int {
	return max(min(bytesOfStep/len(s.base.world), mostOfStep), 1)
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
	case settled.LevelTicks:
		for range s.ticksOfStep() {
			if pb.tick() == s.differ.Tick {
				s.list.whole = true
				s.checkReproduced()
				return s.known == 0
			}
			if more, err := pb.run(); err != nil || !more {
				s.done = true
				return false
			}
			s.list.add(pb.sum())
		}
		return false
	case settled.LevelSteps:
		there, e := pb.runTo(s.cause.Tick-1, s.ticksOfStep())
		if s.done = e != nil; s.done || !there {
			return false
		}
		s.base = s.worldOf(pb)
		pb.after = func(int) { s.list.add(pb.sum()) }
		_, err = pb.run()
	case settled.LevelValues:
		var world []byte
		pb.after = func(step int) {
			if step == s.list.step {
				pb.sum()
				world = slices.Clone(pb.sim.sums.world)
			}
		}
		if _, err = pb.run(); err == nil {
			if s.values = s.valuesOf(world); s.values == nil {
				err = errRecord
			} else {
				s.list.hashes = s.values.hashes
			}
		}
	}
	s.done, s.list.whole = err != nil, true
	return !s.done
}

// checkReproduced ends the search if the ticks do not make the world that the player had.
func (s *search) checkReproduced() {
	had := s.record.at(s.differ.Tick)
	if had == nil || s.play.sum() == had.sum {
		return
	}
	level, f := settled.LevelOutside, &settled.Finding{First: s.differ.Agreed, Last: s.differ.Tick}
	if w := &s.wrote; w.field != "" {
		*f = settled.Finding{Spot: settled.Spot{Entity: w.entity}, Prefab: w.prefab, Field: w.field, Value: w.is, Expected: w.was, First: w.first, Last: w.last}
	} else if unsteady := s.findUnsteady(); unsteady != nil {
		level, f = settled.LevelUnsteady, unsteady
	} else if as, is := s.valuesOf(s.play.sim.sums.world), s.valuesOf(had.world); as != nil && is != nil {
		if d := is.difference(as); d != nil {
			d.First, d.Last, d.System = f.First, f.Last, writersOf(s.p, d.Spot)
			f = d
		}
	}
	s.blame(s.own, level, f, f.Value, f.Expected)
	s.tell(&settled.Clue{Level: level, Cause: f})
}

// blame names the player whose world is not what its ticks make of it.
func (s *search) blame(player foretick.PlayerID, level settled.Level, f *settled.Finding, own, theirs string) {
	s.cause = Cause{Writer: player, Tick: f.First, Last: f.Last, System: f.System}
	s.cause.Unsteady, s.cause.Outside = level == settled.LevelUnsteady, level == settled.LevelOutside
	s.nameValue(f, own, theirs)
}

// nameValue ends the search with the value that differs.
func (s *search) nameValue(f *settled.Finding, own, theirs string) {
	c := &s.cause
	c.Field, c.Entity, c.Own, c.Theirs = f.Field, f.Spot.Entity, own, theirs
	if k := s.p.PrefabNamed(&game.NetworkID{Prefab: f.Prefab - 1}); k != nil { // 0 becomes more than there are
		c.Prefab = k.ECS.Name()
	}
	s.known = s.now
}

// hear takes a clue of the other player.
func (s *search) hear(c *settled.Clue) {
	if s.done || c.Tick != s.differ.Tick || c.Player != s.differ.Other {
		return
	}
	if c.Build != "" {
		s.build = c.Build
	}
	switch {
	case s.known > 0: // it was told for its build alone
	case c.Level < settled.LevelOutside:
		s.waiting = c
	case c.Cause != nil:
		s.blame(c.Player, c.Level, c.Cause, c.Cause.Expected, c.Cause.Value)
		s.tell(&settled.Clue{Level: settled.LevelTicks}) // for the build
	}
}

// take takes a clue of the level, whose list is there.
func (s *search) take(c *settled.Clue) {
	if c.Level != s.level {
		s.done = true
		return
	}
	s.speaks = true
	if !s.list.narrow(c) {
		s.done = true // the lists are equal, or not those of one search
		return
	}
	if c.Found {
		s.descend(c)
	}
}

// speak tells the other player what is known of where the lists begin to differ.
func (s *search) speak() {
	s.speaks = false
	c := &settled.Clue{Level: s.level, Length: uint32(len(s.list.hashes))}
	if place, found := s.list.place(); found {
		c.Found, c.Place = true, uint32(place)
		if s.level == settled.LevelValues {
			s.told = s.values.findingAt(place)
			c.Cause = s.told
			s.tell(c)
			return
		}
		s.tell(c)
		s.descend(nil)
		return
	}
	c.Points = s.list.points()
	s.tell(c)
}

func (s *search) tell(c *settled.Clue) {
	if c.Player, c.Tick = s.differ.Other, s.differ.Tick; c.Level == settled.LevelTicks || c.Level >= settled.LevelOutside {
		c.Build = buildName()
	}
	s.send(c)
}

// descend goes on with the next level, or ends with what both have at the place that was found. c is the clue that
// named the place, or nil if this peer did.
func (s *search) descend(c *settled.Clue) {
	place, _ := s.list.place()
	switch s.level {
	case settled.LevelTicks:
		s.cause.Tick = s.differ.Agreed + foretick.Tick(place) + 1
	case settled.LevelSteps:
		s.cause.System = s.play.stepName(place)
	case settled.LevelValues:
		if c.Cause == nil {
			s.done = true
			return
		}
		own := s.told
		if own == nil {
			own = s.values.findingAt(place)
			s.tell(&settled.Clue{Level: s.level, Length: uint32(len(s.list.hashes)), Found: true, Place: uint32(place), Cause: own})
		}
		s.conclude(own, c.Cause)
		return
	}
	s.level++
	s.play, s.list = nil, list{step: place}
	if s.level == settled.LevelSteps {
		s.list.step = 0
	}
}

// worldOf returns the world of a playback.
func (s *search) worldOf(pb *playback) *moment {
	sum := pb.sum()
	return &moment{tick: pb.tick(), offset: s.base.offset + pb.length - len(pb.ticks), standing: pb.standing.AppendWhole(nil), world: slices.Clone(pb.sim.sums.world), sum: sum}
}

// conclude ends the search with both values.
func (s *search) conclude(own, theirs *settled.Finding) {
	f := joinFindings(own, theirs)
	s.cause.Last = s.cause.Tick
	s.nameValue(f, f.Value, f.Expected)
	s.done = true
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
func (l *list) narrow(c *settled.Clue) bool {
	l.bound()
	l.high = int(min(uint32(l.high), c.Length))
	for _, p := range c.Points {
		switch {
		case p.Place >= uint32(len(l.hashes)):
		case l.hashes[p.Place] != p.Hash:
			l.high = min(l.high, int(p.Place))
		default:
			l.low = max(l.low, int(p.Place)+1)
		}
	}
	if c.Found {
		if c.Place < uint32(l.low) || c.Place > uint32(l.high) {
			return false
		}
		l.low, l.high = int(c.Place), int(c.Place)
	}
	equal := l.low == len(l.hashes) && uint32(l.low) == c.Length
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
func (l *list) points() (out []settled.Point) {
	l.bound()
	n := min(l.high+1, len(l.hashes)) - l.low
	for i := range min(n, settled.MostPoints) {
		at := l.low + (i+1)*n/min(n, settled.MostPoints) - 1
		out = append(out, settled.Point{Place: uint32(at), Hash: l.hashes[at]})
	}
	return out
}
