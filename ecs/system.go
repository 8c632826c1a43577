package ecs

import (
	"errors"
	"fmt"
)

// system is one entry of a schedule.
type system[C any] struct {
	name       string
	run        func(C, Rows)
	query      *Query
	next       *system[C] // next is the next tick system of a built schedule.
	place      int32      // place is 1 + the index in running order, once built.
	stage      string
	tags       []string
	bits       uint64
	before     []string
	after      []string
	render     bool
	once       bool
	structural bool
	partial    bool
	sets       accessSets
	singles    accessSets
}

// accessSets holds the components that a system touches, by kind of access.
type accessSets struct {
	reads, writes, creates, otherReads, otherWrites Mask

	foreign Mask // foreign has the components of otherReads that may be read of any owner's entities.
}

func (a *accessSets) wrote() Mask { return a.writes.Or(a.otherWrites) }

// ownReads returns the components that are read of entities with the owner of the rows alone.
func (a *accessSets) ownReads() (ids []ID) {
	for _, id := range a.otherReads.IDs() {
		if a.own(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (a *accessSets) own(id ID) bool {
	return a.otherReads.Has(id) && !a.foreign.Or(a.otherWrites).Or(a.creates).Has(id)
}

func (a *accessSets) touched() Mask {
	return a.reads.Or(a.writes).Or(a.otherReads).Or(a.otherWrites)
}

func (s *system[C]) declare(t *Types, acc []Access) (errs []error) {
	terms := make([]Term, len(acc))
	for i, a := range acc {
		terms[i] = a
		errs = append(errs, s.declare1(t, a)...)
	}
	if s.once && s.sets.ownReads() != nil {
		errs = append(errs, errors.New("ReadOwn in a Once system, which has no rows and so no owner: use ReadOther"))
	}
	if len(errs) > 0 || s.once {
		return errs
	}
	q, err := newQuery(t, terms)
	if err != nil {
		return []error{err}
	}
	s.query = q
	return nil
}

func (s *system[C]) declare1(t *Types, a Access) (errs []error) {
	switch a.kind {
	case accessStage:
		s.stage = a.names[0]
	case accessBefore:
		s.before = append(s.before, a.names...)
	case accessAfter:
		s.after = append(s.after, a.names...)
	case accessTags:
		s.tags = append(s.tags, a.names...)
	case accessRender:
		s.render = true
	case accessOnce:
		s.once = true
	case accessStructural:
		s.structural = true
	case accessPartial:
		s.partial = true
	}
	for _, h := range a.hs {
		if err := t.checkRegistered(h); err != nil {
			errs = append(errs, err)
			continue
		}
		sets := &s.sets
		if h.single() {
			sets = &s.singles
		}
		switch a.kind {
		case accessRead, accessOptional:
			sets.reads.Set(h.ID())
		case accessWrite, accessOptionalWrite:
			sets.writes.Set(h.ID())
		case accessReadOther:
			sets.otherReads.Set(h.ID())
			sets.foreign.Set(h.ID())
		case accessReadOwn:
			sets.otherReads.Set(h.ID())
		case accessWriteOther:
			sets.otherWrites.Set(h.ID())
		}
		if a.kind == accessCreate {
			sets.creates.Set(h.ID())
			s.structural = true
		}
		if h.single() && (a.kind == accessWith || a.kind == accessWithout || a.kind == accessCreate || a.kind == accessReadOwn) {
			errs = append(errs, fmt.Errorf("singleton %v: every world has it: use Read or Write", h.Type()))
		}
	}
	return errs
}

// conflicts reports whether running both systems at once could change the
// result.
func (s *system[C]) conflicts(o *system[C]) bool {
	return s.structural || o.structural || clash(&s.sets, &o.sets) || clash(&s.singles, &o.singles)
}

func clash(a, b *accessSets) bool {
	return a.wrote().Overlaps(b.touched()) || b.wrote().Overlaps(a.touched())
}

// SystemInfo describes a system's declaration. Each list holds the IDs of component
// types, in ascending order.
type SystemInfo struct {
	Name        string
	Stage       string
	Tags        []string
	Reads       []ID // components of its rows that the system reads
	Writes      []ID // components of its rows that the system writes
	Creates     []ID // components of entities that the system spawns, or that it adds
	OtherReads  []ID // components that the system reads of entities reached through the world
	OwnReads    []ID // components in OtherReads that the system reads only of entities with the owner of its rows
	OtherWrites []ID // components that the system writes of entities reached through the world
	With        Mask // components that its rows have; empty for a Once system
	Without     Mask // components that its rows lack
	// SingleReads and SingleWrites hold the IDs of singletons, in ascending order.
	SingleReads, SingleWrites []ID
	Render, Once, Structural  bool
	Partial                   bool
}

func (s *system[C]) info() SystemInfo {
	i := SystemInfo{Name: s.name, Stage: s.stage, Tags: s.tags,
		Reads: s.sets.reads.IDs(), Writes: s.sets.writes.IDs(), Creates: s.sets.creates.IDs(),
		OtherReads: s.sets.otherReads.IDs(), OwnReads: s.sets.ownReads(), OtherWrites: s.sets.otherWrites.IDs(),
		SingleReads:  s.singles.reads.Or(s.singles.otherReads).IDs(),
		SingleWrites: s.singles.wrote().IDs(),
		Render:       s.render, Once: s.once, Structural: s.structural, Partial: s.partial}
	if s.query != nil {
		i.With, i.Without = s.query.with, s.query.without
	}
	return i
}
