package relay

import (
	"math/bits"
	"time"

	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// matchClock is the relay's time in ticks. Tick 0 was when the first player came.
type matchClock struct {
	origin time.Duration
	rate   float64
}

func (c *matchClock) ticks(now time.Duration) float64 { return (now - c.origin).Seconds() * c.rate }

// due returns when the clock reaches a time in ticks.
func (c *matchClock) due(ticks float64) time.Duration {
	return c.origin + time.Duration(ticks/c.rate*float64(time.Second)) + 1
}

// lastTick is the tick after which a match ends, so that no tick of it wraps: neither that of the relay's clock, nor
// those for which peers send commands ahead. 128 ticks a second reach it after 388 days.
const lastTick = 1<<32 - 1<<12

// settling decides when a tick settles and with which inputs, and keeps the newest settled ticks as bytes.
type settling struct {
	clock    *matchClock
	places   *places
	standing *settled.Standing
	wait     float64      // wait is Config.Wait in ticks.
	ring     [][]byte     // ring has each tick at its number modulo the ring's length.
	newest   netcode.Tick // newest is the newest settled tick.
	kept     int          // kept is how many ticks up to the newest are in the ring.
	next     settled.Tick
	waited   uint64 // waited counts ticks that settled because the time to wait was over.
}

// holds reports whether the ring has a tick.
func (s *settling) holds(t netcode.Tick) bool {
	return !netcode.Newer(t, s.newest) && netcode.Distance(s.newest, t) < s.kept
}

// follows reports whether a peer that has all ticks up to t can get those after it.
func (s *settling) follows(t netcode.Tick) bool { return t == s.newest || s.holds(t+1) }

// bytesOf returns a tick that the ring holds.
func (s *settling) bytesOf(t netcode.Tick) []byte { return *s.slotOf(t) }

// slotOf returns the place of a tick in the ring.
func (s *settling) slotOf(t netcode.Tick) *[]byte { return &s.ring[t%netcode.Tick(len(s.ring))] }

// isDue reports whether the next tick settles now: when all inputs are there; when the clock has reached
// it and only those inputs are missing that the relay no longer waits for; or when it has waited enough.
func (s *settling) isDue(now time.Duration) bool {
	at, t := s.clock.ticks(now), float64(s.newest+1)
	missing, awaited := s.places.missing(s.newest + 1)
	switch {
	case s.ended(): // the match ends
		return false
	case at < t-1: // otherwise peers could make the match run faster
		return false
	case at >= t+s.wait:
		return true
	case at >= t:
		return awaited == 0
	}
	return missing == 0
}

// ended reports whether no tick settles any more: see lastTick.
func (s *settling) ended() bool { return s.newest >= lastTick }

// nextDue returns when the next tick settles at the latest, or may settle without those that the relay
// does not wait for.
func (s *settling) nextDue(now time.Duration) time.Duration {
	t := float64(s.newest + 1)
	if s.clock.ticks(now) < t {
		return s.clock.due(t)
	}
	return s.clock.due(t + s.wait)
}

// settle settles the next tick, and returns it. What it holds is valid until the next call.
func (s *settling) settle() *settled.Tick {
	t := s.newest + 1
	if _, awaited := s.places.missing(t); awaited > 0 {
		s.waited++
	}
	s.places.fill(&s.next, t, s.newest)
	slot := s.slotOf(t)
	*slot = s.standing.Append((*slot)[:0], &s.next)
	s.newest, s.kept = t, min(s.kept+1, len(s.ring))
	return &s.next
}

// write appends ticks from first on to a body, up to settled.MaxTicks and limit bytes in all. It returns their
// number.
func (s *settling) write(dst []byte, first netcode.Tick, limit int) ([]byte, int) {
	n := 0
	for n < settled.MaxTicks && s.holds(first) {
		b := s.bytesOf(first)
		if len(dst)+len(b) > limit {
			break
		}
		dst, n, first = append(dst, b...), n+1, first+1
	}
	return dst, n
}

// players returns how many play.
func (s *settling) players() int { return bits.OnesCount64(s.standing.In) }
