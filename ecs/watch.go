package ecs

import (
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// Watch reports the entities that start or stop matching a query, each once.
// The reported entities are saved, restored and rolled back with the world, and
// with an owner's part of it, so a tick that runs again gets its reports again.
// Polling outside the ticks is different: see [Control.WatchOutside]. A Watch
// belongs to Types and works for all their worlds. Create it next to the game's
// handles, before the first world.
type Watch struct {
	query *Query
	index int
}

// NewWatch returns a watch for entities that the terms match. It panics with
// [UsageError] when a component is not registered with t, or once a world
// exists.
func NewWatch(t *Types, terms ...Term) *Watch {
	if t.frozen {
		misuse.Panicf("ecs: NewWatch: the types are frozen by the first NewWorld: make watches before")
	}
	v := &Watch{query: NewQuery(t, terms...), index: len(t.watches)}
	t.watches = append(t.watches, v)
	return v
}

// WatchOutside switches whether watches are polled from outside the ticks, for
// example by rendering code, and returns the previous setting. Outside, watches
// keep a separate record of reported entities. No restore touches it, so ticks
// that run again cause no second report.
func (c *Control) WatchOutside(on bool) (was bool) {
	was, c.lasting = c.lasting, on
	if on && c.onlookers == nil {
		c.onlookers = make([]watchState, len(c.types.watches))
	}
	return was
}

// watchState is the state of one watch in one world.
type watchState struct {
	seen   []members // seen has the reported entities by part.
	enter  []Entity
	leave  []Entity
	marked []Entity
}

// members are the entities of one part that a watch has reported.
type members struct {
	version uint64 // version identifies the content. 0 means that there is none.
	at      uint64 // at is the part's change that the list belongs to.
	list    []Entity
}

// Poll returns the changes since the last Poll. entered lists the entities that
// newly match, in the order of queries by owner. left lists those that no
// longer match, which may be destroyed, in the order of their report. Both are
// valid until the next Poll. Parts without structural changes cost nothing.
func (v *Watch) Poll(w *World) (entered, left []Entity) { return v.poll(w, w.sorted, true) }

// PollOwner is Poll for the entities of one owner. A transferred entity leaves
// one owner and enters the other. Poll a watch either with Poll or with
// PollOwner, not both.
func (v *Watch) PollOwner(w *World, o Owner) (entered, left []Entity) {
	p := w.findPart(o)
	if p == nil {
		return nil, nil
	}
	one := [1]*part{p}
	return v.poll(w, one[:], false)
}

func (v *Watch) poll(w *World, parts []*part, all bool) (entered, left []Entity) {
	if v.query.types != w.types {
		misuse.Panicf("ecs: watch of other Types than the world's")
	}
	w.peek(w.blind != 0)
	s := &w.watches[v.index]
	if w.lasting {
		s = &w.onlookers[v.index]
	}
	for len(s.seen) < len(w.parts) {
		s.seen = append(s.seen, members{})
	}
	s.enter, s.leave, s.marked = s.enter[:0], s.leave[:0], s.marked[:0]
	if len(w.marks) < len(w.rec) {
		w.marks = make([]Entity, len(w.rec))
	}
	for _, p := range parts {
		if m := &s.seen[p.index]; m.at != p.changed {
			s.markReported(w, m.list)
		}
	}
	for _, p := range parts {
		if m := &s.seen[p.index]; m.at != p.changed {
			v.scan(w, s, p, m)
		}
	}
	for _, e := range s.marked { // entities that are still marked were not found again
		if w.marks[e.index()] != e {
			continue
		}
		w.marks[e.index()] = None
		if all && v.query.matches(w.mask(e)) && w.Alive(e) {
			continue // it was reported under its new owner, and a restore of the old owner's part lost that
		}
		s.leave = append(s.leave, e)
	}
	return s.enter, s.leave
}

// markReported marks the reported entities by index. Of two handles with one index, the
// older is gone.
func (s *watchState) markReported(w *World, list []Entity) {
	for _, e := range list {
		at := &w.marks[e.index()]
		if old := *at; old != None && !w.Alive(old) {
			s.leave = append(s.leave, old)
		} else if old != None && !w.Alive(e) {
			s.leave = append(s.leave, e)
			continue
		}
		*at = e
	}
	s.marked = append(s.marked, list...)
}

// scan lists the matching entities of one part, and records the new ones.
func (v *Watch) scan(w *World, s *watchState, p *part, m *members) {
	w.version++
	m.at, m.version = p.changed, w.version
	m.list = m.list[:0]
	for _, t := range p.tables {
		if t.n == 0 || !v.query.matches(t.arch.mask) {
			continue
		}
		m.list = append(m.list, t.ids[:t.n]...)
		for _, e := range t.ids[:t.n] {
			if w.marks[e.index()] == e {
				w.marks[e.index()] = None
			} else {
				s.enter = append(s.enter, e)
			}
		}
	}
}

// savedWatch is the save of one watch: a part's members, or all.
type savedWatch struct{ seen []members }

func (h *History) saveWatches(s *slot) {
	for len(s.watches) < len(h.w.watches) {
		s.watches = append(s.watches, savedWatch{})
	}
	for i := range h.w.watches {
		seen := h.w.watches[i].seen
		if h.part != nil {
			seen = seen[min(int(h.part.index), len(seen)):min(int(h.part.index)+1, len(seen))]
		}
		to := &s.watches[i]
		for len(to.seen) < max(1, len(seen)) {
			to.seen = append(to.seen, members{})
		}
		for k := range to.seen {
			var from members
			if k < len(seen) {
				from = seen[k]
			}
			to.seen[k].copyFrom(&from)
		}
	}
}

func (h *History) restoreWatches(s *slot) {
	var none members
	for i := range s.watches {
		seen, from := h.w.watches[i].seen, s.watches[i].seen
		if h.part != nil {
			seen = seen[min(int(h.part.index), len(seen)):min(int(h.part.index)+1, len(seen))]
		}
		for k := range seen {
			if k < len(from) {
				seen[k].copyFrom(&from[k])
			} else {
				seen[k].copyFrom(&none)
			}
		}
	}
}

func (m *members) copyFrom(from *members) {
	m.at = from.at
	if m.version != from.version {
		m.version = from.version
		m.list = append(m.list[:0], from.list...)
	}
}

// hashWatches folds the reported entities into h, by their keys.
func (w *World) hashWatches(h uint64, order func(r Rows, i int) uint64) uint64 {
	for i := range w.watches {
		keys := w.scratch.rows[:0]
		for k := range w.watches[i].seen {
			for _, e := range w.watches[i].seen[k].list {
				if key := w.keyOf(e, order); key != SkipRow {
					keys = append(keys, key)
				}
			}
		}
		slices.Sort(keys)
		h = mix(h, uint64(len(keys)))
		for _, k := range keys {
			h = mix(h, k)
		}
		w.scratch.rows = keys
	}
	return h
}

func (w *World) keyOf(e Entity, order func(r Rows, i int) uint64) uint64 {
	r, ok := w.row(e)
	switch {
	case !ok:
		return SkipRow
	case order == nil:
		return uint64(e)
	}
	return order(r, 0)
}
