package netcode

// slipTime follows the ticks that the server has lost, and so the speed of its ticks.
//
// Its time is ticks plus lost ticks. That time runs evenly whatever the server loses. Everything about the path
// is measured in it, so lost ticks do not change those measurements. Ticks are converted with a line through
// the newest snapshot. The slope of the line is the speed.
//
// A single stall is no overload, and an overload may end with any tick. So the speed is below 1 only while
// ticks were lost with the newest tick and in each of the last two spans. A span has at least as many ticks as
// a server computes at once. The smallest of these three losses counts.
type slipTime struct {
	span   int64
	told   uint32     // told is the count of lost ticks in the newest snapshot, in quarters of a tick.
	newest int64      // newest is the tick of the newest snapshot.
	lost   float64    // lost is how many ticks were lost by the newest snapshot, since the first one.
	points [16]slipAt // points has the ticks and losses of the last snapshots.
	n      int
	last   int64   // last is the newest tick by which ticks were lost. It counts only if lost is not 0.
	speed  float64 // speed is the speed of ticks, as a share of time.
	faster bool    // faster is true if the speed rose, and predicted time has not followed yet.
	slow   [16]slowSample
	slowN  int
}

type slipAt struct {
	tick int64
	lost float64
}

// slowSample is a lateness that was measured while ticks were lost, at an estimated speed.
type slowSample struct{ late, speed float64 }

const (
	slipUnit     = 4.0  // units of a tick in which a snapshot counts lost ticks
	slipSpan     = 4    // ticks: as many as a server computes in a Step that loses time
	slipQuiet    = 0.75 // seconds without a lost tick that end an overload
	slipRecovers = 4.0  // seconds after the last lost tick in which the lead falls quickly
	slipLeast    = 0.02 // the slowest speed believed
)

func newSlipTime(interval int) slipTime {
	return slipTime{span: int64(max(slipSpan, interval)), speed: 1}
}

// lostBy returns the ticks lost by a snapshot that is newer than all others. told is the snapshot's count in
// quarters of a tick. The server restarts the count after some time without a lost tick.
func (s *slipTime) lostBy(told uint32) float64 {
	switch {
	case s.n == 0 || told == 0:
		return s.lost
	case told >= s.told:
		return s.lost + float64(told-s.told)/slipUnit
	}
	return s.lost + float64(told)/slipUnit
}

// addSnapshot takes a snapshot that is newer than all others, and reports whether an overload begins. lost is
// the part of the snapshot's count that is believed.
func (s *slipTime) addSnapshot(tick int64, told uint32, lost, rate float64) (begins bool) {
	if lost > s.lost {
		begins = !s.slipping(rate)
		s.last = tick
	}
	s.told, s.newest, s.lost = told, tick, lost
	s.points[s.n%len(s.points)] = slipAt{tick, lost}
	s.n++
	if begins {
		s.slowN = 0
	}
	s.measureSpeed()
	return begins
}

// slipping reports whether ticks were lost lately.
func (s *slipTime) slipping(rate float64) bool {
	return s.lost > 0 && float64(s.newest-s.last) <= slipQuiet*rate
}

// recovering reports whether an overload or stall ended in the last few seconds. What it added to the lead is
// known to be of no use.
func (s *slipTime) recovering(rate float64) bool {
	return s.lost > 0 && !s.slipping(rate) && float64(s.newest-s.last) <= slipRecovers*rate
}

func (s *slipTime) measureSpeed() {
	t := s.newest
	lost := min(s.lost-s.lostAt(t-1), s.lostIn(t-s.span, t), s.lostIn(t-2*s.span, t-s.span))
	before := s.speed
	s.speed = max(slipLeast, 1/(1+lost))
	s.faster = s.speed > before || s.faster && s.speed == before
}

// lostIn returns the ticks lost for each tick between two ticks.
func (s *slipTime) lostIn(from, to int64) float64 {
	return (s.lostAt(to) - s.lostAt(from)) / float64(to-from)
}

// lostAt returns the ticks lost by a tick: as many as by the oldest point, if it is older.
func (s *slipTime) lostAt(tick int64) float64 {
	later := slipAt{s.newest, s.lost}
	for i := 1; i <= min(s.n, len(s.points)); i++ {
		p := s.points[(s.n-i)%len(s.points)]
		if p.tick <= tick {
			if later.tick == p.tick {
				return p.lost
			}
			return p.lost + (later.lost-p.lost)*float64(tick-p.tick)/float64(later.tick-p.tick)
		}
		later = p
	}
	return later.lost
}

// timeOf returns the time of a tick, with fraction.
func (s *slipTime) timeOf(tick float64) float64 {
	newest := float64(s.newest)
	return newest + s.lost + (tick-newest)/s.speed
}

// tickAt returns the tick at a time.
func (s *slipTime) tickAt(moment float64) float64 {
	newest := float64(s.newest)
	return newest + (moment-newest-s.lost)*s.speed
}

// addSlow takes the lateness of a command that was made at an estimated speed.
func (s *slipTime) addSlow(late, speed float64) {
	s.slow[s.slowN%len(s.slow)] = slowSample{late, speed}
	s.slowN++
}

// slowLate returns the greatest lateness of the overload at about the present speed. It
// returns false if there is none.
func (s *slipTime) slowLate() (late float64, ok bool) {
	const alike = 0.7
	for _, x := range s.slow[:min(s.slowN, len(s.slow))] {
		if x.speed >= alike*s.speed && s.speed >= alike*x.speed && (!ok || x.late > late) {
			late, ok = x.late, true
		}
	}
	return late, ok
}
