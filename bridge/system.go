package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// system is one of the game's own systems.
type system[E comparable] struct {
	run    func(f *foretick.Frame, active []E)
	query  *ecs.Query   // matches the active entities
	ins    []carrier[E] // copied in before the system, for active entities
	insAll []carrier[E] // copied in before the system, for all entities
	outs   []carrier[E] // copied out after the system, for active entities
	outAll []carrier[E] // copied out after the system, for all simulated entities
	news   []carrier[E] // copied in and out for entities that the system spawns
	order  []ordered
	active []E
}

// ordered is the slot of an active entity, with the entity's id for sorting.
type ordered struct {
	id uint64
	at uint32
}

// System declares one of the game's systems as a shared one: both ends run it, as
// foretick.Protocol.Shared says. With ecs.Tags(foretick.TagServer) only the server runs it. run
// gets the active own entities, and must loop over them; the slice is valid during the call.
// access declares what run reads and writes, as for Shared. The package's documentation says
// what is copied for which access.
//
// Declare ecs.WriteOther for components of unowned entities that every client should predict,
// such as a crate that players push. Declare ecs.ReadOther for components that the system reads
// on entities that this end does not simulate.
//
// Protocol.Err reports the faults of the bridge and of the system. It is a fault if a system
// writes a component that is not bound, because the values would not be copied out.
func (b *Bridge[E]) System(p *foretick.Protocol, name string, run func(f *foretick.Frame, active []E), access ...ecs.Access) {
	if !b.joinProtocol(p, fmt.Sprintf("System %q", name)) {
		return
	}
	s, err := b.newSystem(p.Types(), name, run, access)
	p.Fail(err)
	all := append(access[:len(access):len(access)], ecs.Once())
	if b.ids != nil {
		all = append(all, ecs.Read(b.ids))
	}
	p.Shared(name, func(f *foretick.Frame, _ ecs.Rows) { b.execute(f, s) }, all...)
}

func (b *Bridge[E]) newSystem(types *ecs.Types, name string, run func(*foretick.Frame, []E), access []ecs.Access) (*system[E], error) {
	var errs []error
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("bridge: system %q "+format, append([]any{name}, args...)...))
	}
	if run == nil {
		fault("has no function: give it one, or leave the call out")
	}
	alone := ecs.NewSchedule[int](types) // a schedule interprets the declarations
	alone.Add(name, func(int, ecs.Rows) {}, access...)
	info := alone.Systems()[0]
	switch {
	case info.Render:
		fault("is declared with ecs.Render: drawn values are copied in before every frame, so declare it with Protocol.Render")
	case info.Partial:
		fault("is declared with ecs.Partial: it gets no rows of a part of a tick; move what must be drawn so early into Protocol.Shared")
	}
	s := &system[E]{run: run}
	s.ins, s.insAll = b.those(info.Reads, info.Writes), b.those(info.OtherReads, info.OtherWrites)
	s.outs, s.outAll = b.those(info.Writes), b.those(info.OtherWrites)
	s.news = b.those(info.Creates, info.Writes, info.OtherWrites)
	for _, id := range slices.Concat(info.Writes, info.OtherWrites) {
		if !b.mask.Has(id) {
			fault("writes %s, which is not bound: bind it with Component, or write it in a system of Protocol.Shared", types.Info(id).Name)
		}
	}
	if len(s.ins)+len(s.insAll) == 0 {
		fault("reads and writes nothing that is bound: declare what it touches with ecs.Read and ecs.Write")
	}
	s.ins = slices.DeleteFunc(s.ins, func(c carrier[E]) bool { return slices.Contains(s.insAll, c) })
	s.outs = slices.DeleteFunc(s.outs, func(c carrier[E]) bool { return slices.Contains(s.outAll, c) })
	s.query = query(types, access)
	return s, errors.Join(errs...)
}

// query returns the query for a system's declarations. It returns nil if they name something
// that is not a component, which Protocol.Err reports.
func query(types *ecs.Types, access []ecs.Access) (q *ecs.Query) {
	defer func() {
		if v := recover(); v != nil {
			if _, usage := v.(ecs.UsageError); !usage {
				panic(v)
			}
		}
	}()
	terms := make([]ecs.Term, 0, len(access))
	for _, a := range access {
		terms = append(terms, a)
	}
	return ecs.NewQuery(types, terms...)
}

// those returns the bound components whose ids are in one of the lists.
func (b *Bridge[E]) those(ids ...[]ecs.ID) (found []carrier[E]) {
	for _, c := range b.bound {
		if slices.ContainsFunc(ids, func(list []ecs.ID) bool { return slices.Contains(list, c.componentHandle().ID()) }) {
			found = append(found, c)
		}
	}
	return found
}

// execute runs a system in a tick.
func (b *Bridge[E]) execute(f *foretick.Frame, s *system[E]) {
	ps := &b.pairs
	b.sync(f, false)
	rows := s.query.All(f.World)
	s.activate(b, f.World, rows)
	for _, c := range s.ins {
		for _, r := range rows {
			c.inRows(r, ps)
		}
	}
	for _, c := range s.insAll {
		c.inAll(f.World, ps)
	}
	ps.running, ps.spawned = s, ps.spawned[:0]
	s.run(f, s.active)
	ps.running = nil
	rows = s.query.All(f.World)
	for _, c := range s.outs {
		for _, r := range rows {
			c.outRows(r, ps)
		}
	}
	for _, c := range s.outAll {
		c.outAll(f.World, ps)
	}
	for _, at := range ps.spawned {
		for _, c := range s.news {
			c.outOne(f.World, ps.slots[at].entity, ps.slots[at].own)
		}
	}
}

// activate lists the active own entities, in the order of Order.
func (s *system[E]) activate(b *Bridge[E], w *ecs.World, rows []ecs.Rows) {
	s.order, s.active = s.order[:0], s.active[:0]
	for _, r := range rows {
		if !r.Mask().Overlaps(b.mask) {
			continue
		}
		for _, e := range r.Entities() {
			at, ok := b.pairs.slotOfEntity(e)
			if !ok || !b.pairs.slots[at].simulated {
				continue
			}
			id := uint64(0)
			if b.id != nil {
				id = b.id(w, e)
			}
			s.order = append(s.order, ordered{id, at})
		}
	}
	if b.id != nil {
		slices.SortStableFunc(s.order, func(x, y ordered) int { return cmp.Compare(x.id, y.id) })
	}
	for _, o := range s.order {
		s.active = append(s.active, b.pairs.slots[o.at].own)
	}
}
