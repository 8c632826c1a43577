package foretick

import (
	"math"
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// wireRefs maps entity references to wire ids and back.
type wireRefs struct{ gs *ghosts }

// Net is the wire id of a local entity.
func (r wireRefs) Net(entity uint64) uint32 {
	if id := r.gs.p.identity.Find(r.gs.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity returns the local entity of a wire id.
func (r wireRefs) Entity(ref uint32) uint64 {
	if ref == 0 || ref > math.MaxUint16 {
		return 0
	}
	if g := r.gs.receiver.Find(schema.WireID(ref)); g != nil && g.Gone == 0 {
		return g.Data
	}
	return 0
}

// recordRefs names entities in records. An entity that this client spawned ahead of the
// server is named by its spawn's key, before and after the server gave it a wire id. So a
// reference to it compares equal throughout. All other entities are named by their wire
// ids.
type recordRefs struct{ tl *timeline }

// Net returns the name of a local entity, 0 for one that the server does not send.
func (r recordRefs) Net(entity uint64) uint32 {
	tl, e := r.tl, ecs.Entity(entity)
	id := tl.p.identity.Find(tl.world, e)
	switch {
	case id == nil:
		return 0
	case id.Net == 0 && id.origin != 0 && tl.world.Owner(e) == tl.view.Player:
		return id.origin
	}
	if g := tl.ghosts.receiver.Find(schema.WireID(id.Net)); g != nil {
		return tl.ghosts.nameOfGhost(g)
	}
	return id.Net
}

// Entity returns the local entity of a wire id, or of the key of a spawn.
func (r recordRefs) Entity(ref uint32) uint64 {
	if isKey(ref) {
		return uint64(r.tl.spawnOf(ref))
	}
	return wireRefs{r.tl.ghosts}.Entity(ref)
}

// nameOfGhost returns the name of a ghost in records.
func (gs *ghosts) nameOfGhost(g *snapshot.Ghost) uint32 {
	if id := gs.originOf(g); id != 0 {
		return id
	}
	return uint32(g.Wire)
}

// spawnOf returns the entity that was spawned here with a key, None if it is no longer
// known.
func (tl *timeline) spawnOf(key uint32) ecs.Entity {
	if s, _, ok := tl.spawning.waiting.Find(key); ok {
		return s.e
	}
	for i := range tl.ghosts.ours { // callers visit them in the same order in each frame
		k := (tl.spawning.next + i) % len(tl.ghosts.ours)
		if tl.ghosts.originOf(tl.ghosts.ours[k]) == key {
			tl.spawning.next = k
			return ecs.Entity(tl.ghosts.ours[k].Data)
		}
	}
	return ecs.None
}

// meant returns the server's words of a predicted component with references named as in
// records, for t, when ours was predicted. They are valid until the next call.
func (tl *timeline) meant(comp *layout.Component, words, ours []int32, t Tick) []int32 {
	return tl.named(comp, tl.known(comp, words), ours, t)
}

// named puts the names of records into the server's words. The server sends a reference as
// none until it knows that this client has the entity. Until then our reference stays if it
// names an entity that was spawned here.
func (tl *timeline) named(comp *layout.Component, words, ours []int32, t Tick) []int32 {
	if len(comp.Refs) == 0 || words == nil {
		return words
	}
	tl.scratch.naming = append(tl.scratch.naming[:0], words...)
	for _, i := range comp.Refs {
		was := uint32(0)
		if ours != nil {
			was = uint32(ours[i])
		}
		tl.scratch.naming[i] = int32(tl.nameOfRef(uint32(words[i]), was, t))
	}
	return tl.scratch.naming
}

func (tl *timeline) nameOfRef(ref, ours uint32, t Tick) uint32 {
	if ref == 0 {
		if isKey(ours) && tl.untold(ours, t) || ours != 0 && tl.unnamed(ours) {
			return ours
		}
		return 0
	}
	g := tl.ghosts.receiver.Find(schema.WireID(ref))
	switch {
	case g == nil:
		return ref
	case g.Data == 0 && ours == 0:
		return 0 // it is not drawn yet, and can be named once it is
	}
	return tl.ghosts.nameOfGhost(g)
}

// untold reports whether the server may have had a reference in t, without sending it, to
// the entity spawned here with a key.
func (tl *timeline) untold(key uint32, t Tick) bool {
	if _, k, ok := tl.spawning.waiting.Find(key); ok && !tl.matchedBy(key) {
		_, _, own := tl.ghosts.receiver.Complete(t)
		return !own || int32(k-t) > 0
	}
	for i := range tl.spawning.named {
		if n := &tl.spawning.named[i]; n.key == key {
			return !tl.knownSince(n.next)
		}
	}
	return false
}

// unnamed reports whether the server may have had a reference, without sending it, to the
// entity of a wire id, because it did not know yet that this client has the entity.
func (tl *timeline) unnamed(wire uint32) bool {
	for _, a := range tl.appeared {
		if uint32(a.wire) == wire && !tl.knownSince(a.next) {
			return true
		}
	}
	return false
}

// knownSince reports whether the server knew, at the newest snapshot, what this client had
// when it sent the packet next. The server then had that packet, or a later one. That it
// acknowledges a later command says less: the command's time may have passed without it.
func (tl *timeline) knownSince(next netcode.Seq) bool {
	return tl.input.hasHad && !precedes(tl.input.had, next)
}

// comparedSince reports whether t shows every reference to what this client has had since it
// sent the packet next, after it had predicted tick. Where snapshots never hold everything,
// that is so after the history.
func (tl *timeline) comparedSince(next netcode.Seq, tick, t Tick) bool {
	return tl.knownSince(next) && (tl.ghosts.whollyTold(t) || int32(t-tick) > int32(tl.cfg.History))
}

// matchedBy reports whether the server has confirmed the spawn with a key.
func (tl *timeline) matchedBy(key uint32) bool {
	for i := range tl.spawning.named {
		if tl.spawning.named[i].key == key {
			return true
		}
	}
	return false
}

// differsFrom returns the first of some unpredicted components of a ghost that had another value
// than known when t ran, or may have had another reference. It is −1 for none.
func (tl *timeline) differsFrom(g *snapshot.Ghost, known snapshot.State, t Tick, components []int) int {
	if i := changedIn(g, known, t, components); i >= 0 {
		return i
	}
	return tl.untoldRef(g, t, components)
}

// holdsBackRefs reports whether the server may send references as none because it does not know
// yet that this client has their entities.
func (tl *timeline) holdsBackRefs() bool {
	return slices.ContainsFunc(tl.appeared, func(a appeared) bool { return !a.known })
}

// untoldRef returns the first of some components of a ghost with a reference that the server
// sent as none in t, and may have held back. It is −1 for none.
func (tl *timeline) untoldRef(g *snapshot.Ghost, t Tick, components []int) int {
	if !tl.holdsBackRefs() {
		return -1
	}
	s, ok := g.At(t)
	if !ok {
		s = g.Newest()
	}
	for _, i := range components {
		words := s.Component(i)
		if words != nil && slices.ContainsFunc(tl.p.Components[i].Refs, func(at int) bool { return words[at] == 0 }) {
			return i
		}
	}
	return -1
}

// untoldAmong reports whether the server may have held back a reference of some components in t,
// of an entity that is not predicted here.
func (tl *timeline) untoldAmong(t Tick, components []int) bool {
	return tl.holdsBackRefs() && slices.ContainsFunc(tl.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
		return !tl.ghosts.ahead(g) && tl.untoldRef(g, t, components) >= 0
	})
}

// cameLater reports whether two values of a component differ only in references to entities
// that were not drawn here yet when t was predicted, or that the server sent as none until
// it knew that they are. That is corrected, but is no misprediction. Nor is a reference of
// ours that the server does not have, at the first comparison that can show it: it stayed
// while the server could not send it, maybe from ticks that were corrected since.
func (tl *timeline) cameLater(comp *layout.Component, ours, words []int32, t Tick) bool {
	if len(comp.Refs) == 0 || len(tl.appeared) == 0 && len(tl.spawning.named) == 0 {
		return false
	}
	tl.scratch.covered = append(tl.scratch.covered[:0], words...)
	for _, i := range comp.Refs {
		for _, a := range tl.appeared {
			if ours[i] == 0 && uint32(words[i]) == uint32(a.wire) || !a.known && words[i] == 0 && uint32(ours[i]) == uint32(a.wire) {
				tl.scratch.covered[i] = ours[i]
			}
		}
		for _, n := range tl.spawning.named { // the server's, of what was spawned here
			if ours[i] == 0 && uint32(words[i]) == n.key || !n.known && words[i] == 0 && uint32(ours[i]) == n.key {
				tl.scratch.covered[i] = ours[i]
			}
		}
	}
	return comp.Schema.FirstDifference(ours, tl.scratch.covered) < 0
}

// wentEarlier reports whether two values of a component differ only in references to
// entities that the server, in t, no longer had, and that were still drawn here.
func (tl *timeline) wentEarlier(comp *layout.Component, ours, words []int32, t Tick) bool {
	if len(comp.Refs) == 0 {
		return false
	}
	tl.scratch.covered = append(tl.scratch.covered[:0], words...)
	for _, i := range comp.Refs {
		if words[i] == 0 && slices.ContainsFunc(tl.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
			return int32(g.Wire) == ours[i] && !tl.ghosts.ahead(g) && g.Gone != 0 && int32(t-g.Gone) >= 0
		}) {
			tl.scratch.covered[i] = ours[i]
		}
	}
	return comp.Schema.FirstDifference(ours, tl.scratch.covered) < 0
}

// forgetAppeared drops the ghosts that every prediction still to be compared knows, or no
// longer does.
func (tl *timeline) forgetAppeared(t Tick) {
	live := tl.appeared[:0]
	for _, a := range tl.appeared {
		a.known = a.known || tl.comparedSince(a.next, a.tick, t)
		if int32(a.tick-t) >= 0 || !a.known {
			live = append(live, a)
		}
	}
	tl.appeared = live
	tl.undrawn = slices.DeleteFunc(tl.undrawn, func(d undrawn) bool { return int32(d.until-t) < 0 })
}

// parentIndex returns the index of the component that says whose child an entity is, −1 without
// Protocol.Hierarchy.
func (p *compiled) parentIndex() int {
	if !p.hierarchy {
		return -1
	}
	return p.Index(p.parent.ID())
}
