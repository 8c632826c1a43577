package ecs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// Query selects entities by their component sets. It belongs to Types and works
// for all their worlds; each world caches the matching tables. Create it once,
// next to the game's handles. Several goroutines may use it, each with its own
// world, and so may parallel systems; those allocate when rows have changed
// since the last use.
type Query struct {
	types    *Types
	index    uint32 // index counts from 1.
	with     Mask
	without  Mask
	optional Mask
}

// NewQuery returns a query that matches rows with all of the terms. It ignores
// stages, tags and the like. It panics with [UsageError] when a component is not
// registered with t, and for a term of foretick.OfPrefab.
func NewQuery(t *Types, terms ...Term) *Query {
	q, err := newQuery(t, terms)
	if err != nil {
		misuse.Panicf("ecs: query: %v", err)
	}
	return q
}

func newQuery(t *Types, terms []Term) (*Query, error) {
	q := &Query{types: t, index: t.queries.Add(1)}
	for _, term := range terms {
		if term == nil {
			return nil, errors.New("a nil term: use With, Without or Optional")
		}
		if _, ours := term.(Access); !ours {
			return nil, fmt.Errorf("a %T, which is for OnAppear and OnVanish alone: use With, Without or Optional", term)
		}
		a := term.access()
		var into *Mask
		switch a.kind {
		case accessRead, accessWrite, accessWith:
			into = &q.with
		case accessWithout:
			into = &q.without
		case accessOptional, accessOptionalWrite:
			into = &q.optional
		default:
			continue
		}
		for _, h := range a.hs {
			if err := t.checkRegistered(h); err != nil {
				return nil, err
			}
			if !h.single() {
				into.Set(h.ID())
			}
		}
	}
	if q.with.Overlaps(q.without) {
		return nil, fmt.Errorf("a component is both required and excluded")
	}
	return q, nil
}

// With returns the set of components that every row has.
func (q *Query) With() Mask {
	q.made()
	return q.with
}

// made panics for a query that NewQuery did not return.
func (q *Query) made() {
	if q == nil || q.types == nil {
		misuse.Panicf("ecs: a query is nil or zero: make it with NewQuery(types, terms...) where the game declares its components, and keep the pointer")
	}
}

// checkWorld panics for a query that is not for the world.
func (q *Query) checkWorld(w *World) {
	q.made()
	if w == nil {
		misuse.Panicf("ecs: query of a nil World, as that of a zero View: before a client's first Step use Client.View")
	}
	if q.types != w.types {
		misuse.Panicf("ecs: query of other Types than the world's: make one with NewQuery for each end's Types")
	}
}

func (q *Query) matches(m Mask) bool { return m.Contains(q.with) && !m.Overlaps(q.without) }

// queryCache is what one world has cached for one query.
type queryCache struct {
	layout uint64
	at     uint64 // at is the change of the world that rows belong to.
	tables []*table
	rows   []Rows
}

// ownedCache is what one part has cached for one query.
type ownedCache struct {
	layout uint64
	at     uint64
	tables []*table
	rows   []Rows
}

// All returns the matching rows, one run per table, in canonical order: by component set, then by owner. Rows
// of [Common] come right after [Nobody]'s, and those of a [Control.Partition] after its owner's. Tables without
// rows are left out. The slice is valid until the next structural change; do not write to it.
func (q *Query) All(w *World) []Rows {
	if q != nil && w != nil && q.types == w.types && int(q.index) < len(w.caches) {
		if c := w.caches[q.index]; c != nil && c.at == w.changed {
			return c.rows
		}
	}
	return q.refresh(w).rows
}

func (q *Query) cache(w *World) *queryCache {
	for int(q.index) >= len(w.caches) {
		w.caches = append(w.caches, nil)
	}
	c := w.caches[q.index]
	if c == nil {
		c = &queryCache{}
		w.caches[q.index] = c
	}
	return c
}

func (q *Query) refresh(w *World) *queryCache {
	q.checkWorld(w)
	var c *queryCache
	if w.parallel || w.blind != 0 {
		w.peek(w.blind != 0)
		c = &queryCache{} // while systems run in parallel, or rows are concealed, nothing is cached
	} else {
		c = q.cache(w)
	}
	if c.layout != w.layout {
		c.layout = w.layout
		c.tables = c.tables[:0]
		for _, t := range w.ordered {
			if q.matches(t.arch.mask) {
				c.tables = append(c.tables, t)
			}
		}
		c.rows = slices.Grow(c.rows[:0], len(c.tables))
	}
	c.at = w.changed
	c.rows = appendRows(c.rows[:0], c.tables)
	return c
}

func appendRows(rows []Rows, tables []*table) []Rows {
	for _, t := range tables {
		if t.n > 0 {
			rows = append(rows, Rows{t, 0, t.n})
		}
	}
	return rows
}

// Owned returns the matching rows of the owner, in canonical order; none for an
// owner that never had entities. Rows of other owners cost nothing. The slice
// is valid until the next structural change; do not write to it.
func (q *Query) Owned(w *World, o Owner) []Rows {
	if q == nil || w == nil || q.types != w.types {
		q.checkWorld(w)
	}
	p := w.findPart(o)
	if p == nil {
		w.peek(w.blind != 0)
		return nil
	}
	w.peek(p.concealed)
	return q.ownedBy(w, p)
}

// FirstOwned returns the first entity of Owned, [None] if there is none. It is enough where
// an owner has one such entity at most: the body of a player, for example.
func (q *Query) FirstOwned(w *World, o Owner) Entity {
	for _, rows := range q.Owned(w, o) {
		return rows.Entity(0)
	}
	return None
}

func (q *Query) ownedBy(w *World, p *part) []Rows {
	if rows := q.cached(p); rows != nil {
		return rows
	}
	return q.refreshOwned(w, p)
}

// cached returns the part's rows if they are current and not empty. It is small
// enough to inline.
func (q *Query) cached(p *part) []Rows {
	if i := uint(q.index); i < uint(len(p.caches)) && p.caches[i].at == p.changed {
		return p.caches[i].rows
	}
	return nil
}

func (q *Query) refreshOwned(w *World, p *part) []Rows {
	oc := &ownedCache{} // not cached while systems run in parallel, as in refresh
	if !w.parallel {
		for int(q.index) >= len(p.caches) {
			p.caches = append(p.caches, ownedCache{})
		}
		oc = &p.caches[q.index]
	}
	if n := uint64(len(p.tables)); oc.layout != n {
		oc.layout = n
		oc.tables = oc.tables[:0]
		for _, t := range p.tables {
			if q.matches(t.arch.mask) {
				oc.tables = append(oc.tables, t)
			}
		}
		oc.rows = slices.Grow(oc.rows[:0], len(oc.tables))
	}
	oc.at = p.changed
	oc.rows = appendRows(oc.rows[:0], oc.tables)
	return oc.rows
}

// Count returns the number of matching entities.
func (q *Query) Count(w *World) int {
	n := 0
	for _, r := range q.All(w) {
		n += r.Len()
	}
	return n
}
