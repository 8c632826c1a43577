package layout

import (
	"slices"

	"github.com/foretick/foretick/ecs"
)

// Reach is what shared systems compute from something, directly or through other systems.
type Reach struct {
	Components ecs.Mask
	Singletons ecs.Mask
	Entities   bool // Entities is true if shared systems may spawn or destroy because of it.
}

// Names reports whether the component of a name is reached. Any other name is that of an entity's prefab; Names
// then reports whether entities are reached.
func (r *Reach) Names(l *Layout, name string) bool {
	at := slices.IndexFunc(l.Components, func(c Component) bool { return c.Name == name })
	switch {
	case at < 0:
		return r.Entities
	case l.Components[at].Singleton >= 0:
		return r.Singletons.Has(ecs.ID(l.Components[at].Singleton))
	}
	return r.Components.Has(l.Components[at].ID)
}

// addSystem adds what a system writes, and reports whether some of that is new.
func (r *Reach) addSystem(s *ecs.SystemInfo) bool {
	before := *r
	for _, id := range slices.Concat(s.Writes, s.OtherWrites, s.Creates) {
		r.Components.Set(id)
	}
	for _, id := range s.SingleWrites {
		r.Singletons.Set(id)
	}
	r.Entities = r.Entities || s.Structural || len(s.Creates) > 0
	return *r != before
}

// touches reports whether a system reads something that is reached. A system may also read what it writes, and
// the rows that it gets depend on which components are there.
func (r *Reach) touches(s *ecs.SystemInfo) bool {
	for _, id := range slices.Concat(s.Reads, s.Writes, s.OtherReads, s.OtherWrites) {
		if r.Components.Has(id) {
			return true
		}
	}
	return s.With.Or(s.Without).Overlaps(r.Components) ||
		slices.ContainsFunc(slices.Concat(s.SingleReads, s.SingleWrites), r.Singletons.Has)
}

// grow follows what is reached through the shared systems.
func (r *Reach) grow(systems []ecs.SystemInfo) {
	for more := true; more; {
		more = false
		for i := range systems {
			if s := &systems[i]; Shared(*s) && r.touches(s) && r.addSystem(s) {
				more = true
			}
		}
	}
}

// Looks lists what a shared system may read or write of other entities than its own rows.
type Looks struct {
	System int   // System is the index in the schedule.
	Others []int // Others has the registry indices of components of other entities.
	// Always is true if nothing shows whether the system looked: it has no rows, and uses singletons.
	Always bool
	Reach  // Reach is what depends on what the system looked at.
}

// looksFurther reports whether a shared system may look at other entities than its rows. A singleton is not an
// entity. It is the same on both ends, unless a system that wrote it looked at others, and what depends on that
// system covers that.
func looksFurther(s *ecs.SystemInfo) bool {
	n := len(s.OtherReads) + len(s.OtherWrites)
	if s.Once { // its queries find every entity
		n += len(s.Reads) + len(s.Writes) + len(s.Creates)
	}
	return n > 0 || s.Once && (s.Structural || len(s.SingleReads)+len(s.SingleWrites) == 0)
}

// FindFromOthers finds what shared systems compute from others than their own rows.
func (l *Layout) FindFromOthers(systems []ecs.SystemInfo) {
	l.FromOthers, l.Looks, l.ReadsOthers = Reach{}, nil, ecs.Mask{}
	for i := range systems {
		s := &systems[i]
		if !Shared(*s) || !looksFurther(s) {
			continue
		}
		l.FromOthers.addSystem(s)
		looks := Looks{System: i, Others: l.ReadOfOthers(systems[i : i+1])}
		if s.Once {
			looks.Others, looks.Always = l.ReadOfOthers(systems), len(s.SingleReads)+len(s.SingleWrites) > 0
		}
		looks.addSystem(s)
		looks.grow(systems)
		l.Looks = append(l.Looks, looks)
		for _, comp := range looks.Others {
			l.ReadsOthers.Set(l.Components[comp].ID)
		}
	}
	l.FromOthers.grow(systems)
}
