package rollback

import (
	"bytes"
	"slices"
	"strings"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
)

// findUnsteady runs the ticks of a search twice more, side by side. It returns the first value that a step gives
// otherwise in the second run, because it uses what is not in the world, or nil if both runs are equal.
func (s *search) findUnsteady() *settled.Finding {
	one, err := s.record.play(s.p, s.tags, s.base)
	if err != nil {
		return nil
	}
	two, err := s.record.play(s.p, s.tags, s.base)
	if err != nil {
		return nil
	}
	var worlds [][]byte // worlds are those of one after the steps of its newest tick.
	one.after = func(step int) {
		for len(worlds) <= step {
			worlds = append(worlds, nil)
		}
		one.sum()
		worlds[step] = append(worlds[step][:0], one.sim.sums.world...)
	}
	differs, second := -1, []byte(nil)
	two.after = func(step int) {
		if two.sum(); differs < 0 && (step >= len(worlds) || !bytes.Equal(worlds[step], two.sim.sums.world)) {
			differs, second = step, slices.Clone(two.sim.sums.world)
		}
	}
	for differs < 0 {
		worlds = worlds[:0]
		if more, err := one.run(); err != nil || !more || one.tick()-1 == s.differ.Tick {
			return nil
		}
		if _, err := two.run(); err != nil {
			return nil
		}
	}
	if differs >= len(worlds) {
		return nil
	}
	as, is := s.valuesOf(worlds[differs]), s.valuesOf(second)
	if as == nil || is == nil {
		return nil
	}
	f := is.difference(as)
	if f != nil {
		f.First, f.Last, f.System = one.tick(), one.tick(), one.stepName(differs)
	}
	return f
}

// valuesOf returns the values of a world that is given as bytes, or nil if it cannot be read.
func (s *search) valuesOf(world []byte) *values {
	at := moment{tick: s.base.tick, standing: s.base.standing, world: world}
	pb, err := newPlayback(s.p, s.tags, s.record.rules, s.record.places, &at, nil, mostEntities)
	if err != nil {
		return nil
	}
	return valuesOf(s.p, pb.sim.world)
}

// writersOf returns the names of the systems that declare that they write the component or singleton of a spot.
func writersOf(p *compiled, of settled.Spot) string {
	var names []string
	for _, sys := range p.Schedule.Systems() {
		writes := slices.Concat(sys.Writes, sys.OtherWrites, sys.Creates)
		if of.Entity == ecs.None {
			writes = sys.SingleWrites
		}
		if slices.Contains(writes, ecs.ID(of.Column)) {
			names = append(names, sys.Name)
		}
	}
	return strings.Join(names, ", ")
}
