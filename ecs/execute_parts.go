package ecs

import "slices"

// partsRun is the scratch of ExecuteParts.
type partsRun struct {
	parts []*part // parts has the parts by owner, each once.
	rows  []Rows
}

// ExecuteParts runs the tick systems over the rows of the given owners only.
// Each system finishes all of them before the next begins. A client runs it to
// predict the [Common] part along with its own rows. The rows come in the order
// of [Schedule.Execute] (component set, then owner), whatever the order of the
// arguments. An owner named twice counts once; without owners only Once systems
// run. The cost is proportional to the rows of those owners. It allocates
// nothing once its scratch is large enough.
func (s *Schedule[C]) ExecuteParts(w *World, c C, owners ...Owner) {
	s.ExecutePartsWhere(w, c, nil, owners...)
}

// ExecutePartsWhere is ExecuteParts with a filter. A system runs over an
// owner's rows only if runs returns true for the system's index in
// [Schedule.Systems]. A nil runs accepts all.
func (s *Schedule[C]) ExecutePartsWhere(w *World, c C, runs func(system int, o Owner) bool, owners ...Owner) {
	s.mustBuilt(w)
	x := &s.parts
	x.parts = x.parts[:0]
	for _, o := range owners {
		x.parts = append(x.parts, w.partOf(o)) // create it now: a system may add rows for the next system
	}
	slices.SortFunc(x.parts, compareParts)
	x.parts = slices.Compact(x.parts)
	for i, sys := range s.systems {
		switch {
		case sys.render || sys.bits&^w.tags != 0:
		case sys.once:
			s.runSystem(i, sys, w, c, onceRows[:])
		default:
			s.runSystem(i, sys, w, c, x.match(w, sys.query, i, runs))
		}
	}
	clear(x.parts) // so that the schedule keeps no world in memory
	clear(x.rows)
}

// ExecutePartial runs the systems declared with [Partial] over the rows of one owner. No
// other system runs. A client calls it on a saved world to draw a part of the next tick,
// and restores the world afterwards. It allocates nothing.
func (s *Schedule[C]) ExecutePartial(w *World, c C, o Owner) {
	s.mustBuilt(w)
	p := w.partOf(o)
	for i, sys := range s.systems {
		if sys.partial && !sys.render && !sys.once && sys.bits&^w.tags == 0 {
			s.runSystem(i, sys, w, c, sys.query.ownedBy(w, p))
		}
	}
}

// match returns the rows that the query of system i matches in the accepted
// parts, in canonical order, valid until the next call.
func (x *partsRun) match(w *World, q *Query, i int, runs func(int, Owner) bool) []Rows {
	var only []Rows
	with := 0
	x.rows = x.rows[:0]
	for _, p := range x.parts {
		if runs != nil && !runs(i, p.owner) {
			continue
		}
		if rows := q.ownedBy(w, p); len(rows) > 0 {
			only = rows
			with++
			x.rows = append(x.rows, rows...)
		}
	}
	if with <= 1 {
		return only // already in order
	}
	slices.SortFunc(x.rows, compareRows)
	return x.rows
}

func compareRows(a, b Rows) int {
	if a.t.arch == b.t.arch {
		return compareParts(a.t.part, b.t.part)
	}
	return compareTables(a.t, b.t)
}

// ExecuteOwner runs the tick systems for which runs returns true and whose tags the world
// has, over the rows of one owner only. runs receives the index of a system in
// [Schedule.Systems]. A Once system belongs to the tick and not to an owner:
// runs should return false for it, or it runs too. It allocates nothing.
func (s *Schedule[C]) ExecuteOwner(w *World, c C, runs func(system int) bool, o Owner) {
	s.mustBuilt(w)
	p := w.partOf(o)
	for i, sys := range s.systems {
		switch {
		case sys.render || sys.bits&^w.tags != 0 || !runs(i):
		case sys.once:
			s.runSystem(i, sys, w, c, onceRows[:])
		default:
			s.runSystem(i, sys, w, c, sys.query.ownedBy(w, p))
		}
	}
}
