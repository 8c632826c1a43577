package foretick

import (
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// lateFadeTime is the time in which a late correction fades on other players' screens, at an
// even speed: for twice as long as a body can have walked unseen. One that ran at 6 m/s then
// moves by 0.1 m a tick of a thirtieth second more than it does.
func (s *Server) lateFadeTime() time.Duration {
	return max(400*time.Millisecond, 2*s.cfg.LateInputs)
}

// lateFades hides from other players that a late command moved a body. The bodies are told
// with offsets that fade, and shots are judged by what was told. Owners are told the truth.
type lateFades struct {
	items []lateFade
	first map[ecs.Entity]int // of an entity's items
	cut   []ecs.Entity       // that teleported in this tick, or in one that ran again in it
	a, b  []int32
}

// lateFade is the offset of an interpolated field.
type lateFade struct {
	fadeItem
	owner PlayerID
	life  uint32 // see LifeID
	left  int    // ticks until it is gone
	next  int    // of the entity, −1: none
}

// noteJumps adds what has changed in a player's part since a save of it.
func (l *lateInputs) noteJumps(p *player, slot int) {
	for i := range l.s.p.Components {
		c := &l.s.p.Components[i]
		if !c.Lerped || len(l.fields[i]) == 0 {
			continue
		}
		p.late.history.Diff(slot, c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if e := r.Entity(k); was != nil && !slices.Contains(l.fades.cut, e) {
				l.fades.add(l.s, e, i, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// add keeps a component told as it was, and lets the difference fade from there.
func (f *lateFades) add(s *Server, e ecs.Entity, comp int, was, is unsafe.Pointer) {
	described := s.p.Components[comp].Schema
	n := described.Words()
	f.a, f.b = slices.Grow(f.a[:0], n)[:n], slices.Grow(f.b[:0], n)[:n]
	described.Quantise(is, schema.GridSim, nil, f.b)
	for i, info := range described.Fields() {
		if !info.Lerp {
			continue
		}
		described.Quantise(was, schema.GridSim, nil, f.a) // again: the item before may have moved it
		if !described.Has(i, f.a) || !described.Has(i, f.b) || described.Offset(i, f.a, f.b) == (schema.Offset{}) {
			continue
		}
		at := f.find(e, comp, i)
		if at < 0 {
			at = f.insert(lateFade{fadeItem: fadeItem{e: e, comp: comp, field: i}, owner: s.sim.world.Owner(e), life: s.lifeOf(e)})
		}
		it := &f.items[at]
		if it.offset != (schema.Offset{}) {
			described.Displace(i, f.a, it.offset)
		}
		it.offset, it.least = described.Offset(i, f.a, f.b), float32(info.Sim)/2
		it.left = int((s.lateFadeTime() + s.clock.interval - 1) / s.clock.interval)
	}
}

// hasCut reports whether an entity teleported in this tick, or in one that ran again in it.
func (f *lateFades) hasCut(e ecs.Entity) bool { return slices.Contains(f.cut, e) }

func (f *lateFades) find(e ecs.Entity, comp, field int) int {
	at, ok := f.first[e]
	if !ok {
		return -1
	}
	for ; at >= 0; at = f.items[at].next {
		if it := &f.items[at]; it.comp == comp && it.field == field {
			return at
		}
	}
	return -1
}

func (f *lateFades) insert(it lateFade) int {
	it.next = -1
	if at, ok := f.first[it.e]; ok {
		it.next = at
	}
	f.items = append(f.items, it)
	f.first[it.e] = len(f.items) - 1
	return len(f.items) - 1
}

// age fades the offsets by a tick, and drops those that are gone or no longer make sense.
func (f *lateFades) age(s *Server) {
	if len(f.items) == 0 {
		f.cut = f.cut[:0]
		return
	}
	all := f.items
	clear(f.first)
	f.items = f.items[:0]
	for _, it := range all {
		it.left--
		for i := range it.offset {
			it.offset[i] *= float32(it.left) / float32(it.left+1)
		}
		if size := it.offset.Size(); !(size > it.least) || !s.sim.world.Alive(it.e) || s.sim.world.Owner(it.e) != it.owner || s.lifeOf(it.e) != it.life || slices.Contains(f.cut, it.e) {
			continue
		}
		f.insert(it)
	}
	f.cut = f.cut[:0]
}

// displace lets the next Put of an entity tell others of it with its offsets.
func (f *lateFades) displace(source *snapshot.Source, e ecs.Entity) {
	if len(f.items) == 0 {
		return
	}
	at, ok := f.first[e]
	for ok && at >= 0 {
		it := &f.items[at]
		source.Displace(it.comp, it.field, it.offset)
		at = it.next
	}
}

// lifeOf returns the number of an entity's life, 0 where the game does not count them.
func (s *Server) lifeOf(e ecs.Entity) (n uint32) {
	for _, l := range s.p.Lives {
		if at := s.sim.world.Pointer(e, s.p.Components[l.Component].ID); at != nil {
			n = n*31 + s.p.handlers.lives[l.Own](at)
		}
	}
	return n
}
