package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
)

// record has what a peer's world has run: a world to begin with, and the settled ticks since. A replay is made of
// it. It also has the worlds of the newest sums, from which the search for what made two worlds differ begins.
type record struct {
	rules    *settled.Rules
	most     int // most is how many bytes of ticks are kept. Then the record begins later.
	places   int
	standing *settled.Standing // standing is that of the newest tick.
	base     moment            // base is where the record begins.
	later    *moment           // later is where it begins once there are too many ticks. It is nil while there are few.
	moments  []moment          // moments are those of the newest sums, oldest first.
	ticks    []byte            // ticks has the settled ticks after the base, as the relay sends them.
	from     int               // from is the offset of ticks in all that was ever recorded.
	sums     []settled.Sum     // sums are those of the ticks after the base.
}

// moment is a world at the end of a settled tick.
type moment struct {
	tick     foretick.Tick
	offset   int    // offset is where the next tick begins.
	standing []byte // standing is what standing.appendWhole wrote.
	world    []byte
	sum      uint64
}

const (
	mostMoments = 8       // mostMoments is how many worlds are kept. The relay compares as many sums.
	mostRecord  = 8 << 20 // mostRecord is record.most of a peer.
)

// begin begins with the world of a tick, whose bytes the record keeps.
func (r *record) begin(s *settled.Standing, world []byte) {
	*r = record{rules: r.rules, most: r.most, places: s.Places, standing: settled.NewStanding(r.rules, s.Places)}
	whole := s.AppendWhole(nil)
	_ = r.standing.ReadWhole(s.Tick, whole) // it is of the same match
	r.base = moment{tick: s.Tick, standing: whole, world: world, sum: settled.SumOf(world)}
}

// add adds the next settled tick.
func (r *record) add(s *settled.Tick) { r.ticks = r.standing.Append(r.ticks, s) }

// addSum adds the sum of the newest tick, and the world that it is of.
func (r *record) addSum(s settled.Sum, world []byte) {
	r.sums = append(r.sums, s)
	m := moment{tick: s.Tick, offset: r.from + len(r.ticks), sum: s.Sum}
	if len(r.moments) == mostMoments {
		oldest := r.moments[0]
		switch m.standing, m.world = oldest.standing[:0], oldest.world[:0]; {
		case r.later == nil && len(r.ticks) > r.most/2:
			r.later = &oldest
			m.standing, m.world = nil, nil // those are later's now
		case len(r.ticks) > r.most:
			r.forget(r.later)
			r.later = nil
		}
		copy(r.moments, r.moments[1:])
		r.moments = r.moments[:mostMoments-1]
	}
	m.standing, m.world = r.standing.AppendWhole(m.standing), append(m.world, world...)
	r.moments = append(r.moments, m)
}

// forget makes the record begin with a later world.
func (r *record) forget(m *moment) {
	r.base = *m
	r.ticks = append([]byte(nil), r.ticks[m.offset-r.from:]...)
	r.from = m.offset
	for len(r.sums) > 0 && int32(r.sums[0].Tick-m.tick) <= 0 {
		r.sums = r.sums[1:]
	}
}

// at returns the world of a tick, or nil if it is not kept.
func (r *record) at(t foretick.Tick) *moment {
	if r.base.tick == t {
		return &r.base
	}
	for i := range r.moments {
		if r.moments[i].tick == t {
			return &r.moments[i]
		}
	}
	return nil
}

// play returns what runs again the ticks after a kept world.
func (r *record) play(p *compiled, tags []string, m *moment) (*playback, error) {
	if m.offset < r.from {
		return nil, errRecord // the record begins later by now
	}
	return newPlayback(p, tags, r.rules, r.places, m, r.ticks[m.offset-r.from:], mostEntities)
}
