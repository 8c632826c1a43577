package client

import (
	"math"
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// wireRefs maps entity references to wire ids and back.
type wireRefs struct{ gs *ghosts }

// Net returns the wire id of a local entity.
func (r wireRefs) Net(entity uint64) uint32 {
	if id := r.gs.p.Identity.Find(r.gs.world, ecs.Entity(entity)); id != nil {
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

// recordNames names entities in records. An entity that this client spawned before the server did has
// its spawn's key as its name, before and after the server gave it a wire id. So a reference to it
// always compares equal. All other entities have their wire ids as names.
type recordNames struct {
	*base
	input    *input
	ghosts   *ghosts
	spawning *spawning
	scenes   *scenes

	// The memory below is reused: a slice of it that a method returned is valid until its next call.
	covered []int32
	naming  []int32
	words   []int32
}

// Net returns the name of a local entity. It is 0 if the server does not send the entity.
func (ns *recordNames) Net(entity uint64) uint32 {
	e := ecs.Entity(entity)
	id := ns.p.Identity.Find(ns.world, e)
	switch {
	case id == nil:
		return 0
	case id.Net == 0 && id.Origin != 0 && ns.world.Owner(e) == ns.view.Player:
		return id.Origin
	}
	if g := ns.ghosts.receiver.Find(schema.WireID(id.Net)); g != nil {
		return ns.ghosts.nameOfGhost(g)
	}
	return id.Net
}

// Entity returns the local entity of a wire id, or of the key of a spawn.
func (ns *recordNames) Entity(ref uint32) uint64 {
	if game.IsKey(ref) {
		return uint64(ns.spawning.spawnOf(ref))
	}
	return wireRefs{ns.ghosts}.Entity(ref)
}

// nameOfGhost returns the name of a ghost in records.
func (gs *ghosts) nameOfGhost(g *snapshot.Ghost) uint32 {
	if id := gs.originOf(g); id != 0 {
		return id
	}
	return uint32(g.Wire)
}

// meant returns the server's words of a predicted component for t, with references named as in records.
// ours was predicted. The words are valid until the next call.
func (ns *recordNames) meant(comp *layout.Component, words, ours []int32, t foretick.Tick) []int32 {
	return ns.named(comp, ns.known(comp, words), ours, t)
}

// named puts the names of records into the server's words. The server sends a reference as none until
// it knows that this client has the entity. Until then the predicted reference stays if it names an
// entity that was spawned here.
func (ns *recordNames) named(comp *layout.Component, words, ours []int32, t foretick.Tick) []int32 {
	if len(comp.Refs) == 0 || words == nil {
		return words
	}
	ns.naming = append(ns.naming[:0], words...)
	for _, i := range comp.Refs {
		was := uint32(0)
		if ours != nil {
			was = uint32(ours[i])
		}
		ns.naming[i] = int32(ns.nameOfRef(uint32(words[i]), was, t))
	}
	return ns.naming
}

func (ns *recordNames) nameOfRef(ref, ours uint32, t foretick.Tick) uint32 {
	if ref == 0 {
		if game.IsKey(ours) && ns.spawning.untoldSpawn(ours, t) || ours != 0 && ns.scenes.unnamed(ours) {
			return ours
		}
		return 0
	}
	g := ns.ghosts.receiver.Find(schema.WireID(ref))
	switch {
	case g == nil:
		return ref
	case g.Data == 0 && ours == 0:
		return 0 // it is not drawn yet, and has a name once it is
	}
	return ns.ghosts.nameOfGhost(g)
}

// differsFrom returns the first of some unpredicted components of a ghost that had another value than
// known when t ran, or may have had another reference. It is −1 if there is none.
func (ns *recordNames) differsFrom(g *snapshot.Ghost, known snapshot.State, t foretick.Tick, components []int) int {
	if i := changedIn(g, known, t, components); i >= 0 {
		return i
	}
	return ns.untoldRef(g, t, components)
}

// untoldRef returns the first of some components of a ghost that has a reference which the server sent
// as none in t, and may have held back. It is −1 if there is none.
func (ns *recordNames) untoldRef(g *snapshot.Ghost, t foretick.Tick, components []int) int {
	if !ns.scenes.holdsBackRefs() {
		return -1
	}
	s, ok := g.At(t)
	if !ok {
		s = g.Newest()
	}
	for _, i := range components {
		words := s.Component(i)
		if words != nil && slices.ContainsFunc(ns.p.Components[i].Refs, func(at int) bool { return words[at] == 0 }) {
			return i
		}
	}
	return -1
}

// untoldAmong reports whether the server may have held back a reference of some components in t, in an
// entity that is not predicted here.
func (ns *recordNames) untoldAmong(t foretick.Tick, components []int) bool {
	return ns.scenes.holdsBackRefs() && slices.ContainsFunc(ns.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
		return !ns.ghosts.ahead(g) && ns.untoldRef(g, t, components) >= 0
	})
}

// cameLater reports whether two values of a component differ only in references to entities that were
// not drawn here yet when t was predicted, or that the server sent as none until it knew that they
// were. Such a difference is corrected, but is no misprediction. The same is true for a predicted
// reference that the server does not have, at the first comparison that can show it. It stayed while
// the server could not send it, maybe from ticks that were corrected later.
func (ns *recordNames) cameLater(comp *layout.Component, ours, words []int32, t foretick.Tick) bool {
	if len(comp.Refs) == 0 || len(ns.scenes.appeared) == 0 && len(ns.spawning.named) == 0 {
		return false
	}
	ns.covered = append(ns.covered[:0], words...)
	for _, i := range comp.Refs {
		for _, a := range ns.scenes.appeared {
			if ours[i] == 0 && uint32(words[i]) == uint32(a.wire) || !a.known && words[i] == 0 && uint32(ours[i]) == uint32(a.wire) {
				ns.covered[i] = ours[i]
			}
		}
		for _, n := range ns.spawning.named { // the server's references to entities that were spawned here
			if ours[i] == 0 && uint32(words[i]) == n.key || !n.known && words[i] == 0 && uint32(ours[i]) == n.key {
				ns.covered[i] = ours[i]
			}
		}
	}
	return comp.Schema.FirstDifference(ours, ns.covered) < 0
}

// wentEarlier reports whether two values of a component differ only in references to entities that the
// server no longer had in t, and that were still drawn here.
func (ns *recordNames) wentEarlier(comp *layout.Component, ours, words []int32, t foretick.Tick) bool {
	if len(comp.Refs) == 0 {
		return false
	}
	ns.covered = append(ns.covered[:0], words...)
	for _, i := range comp.Refs {
		if words[i] == 0 && slices.ContainsFunc(ns.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
			return int32(g.Wire) == ours[i] && !ns.ghosts.ahead(g) && g.Gone != 0 && int32(t-g.Gone) >= 0
		}) {
			ns.covered[i] = ours[i]
		}
	}
	return comp.Schema.FirstDifference(ours, ns.covered) < 0
}

// known returns the part of a predicted component's words that this build knows. It is valid until the
// next call.
func (ns *recordNames) known(comp *layout.Component, words []int32) []int32 {
	if !ns.p.OtherBuild || len(words) == 0 {
		return words
	}
	out := ns.zeroes(comp.Schema.Words())
	comp.Schema.Known(words, schema.GridSim, out)
	return out
}

func (ns *recordNames) zeroes(n int) []int32 {
	for len(ns.words) < n {
		ns.words = append(ns.words, 0)
	}
	clear(ns.words[:n])
	return ns.words[:n]
}

// stated returns a snapshot's value of a component that is predicted here, for t. Fields that this
// player never received have the values of ours. The result is valid until the next call.
func (ns *recordNames) stated(g *snapshot.Ghost, s snapshot.State, i int, ours []int32, t foretick.Tick) []int32 {
	words, schema := s.Component(i), ns.p.Components[i].Schema
	if words != nil && ours != nil && ns.ghosts.remotePredicted(g) {
		ns.covered = append(ns.covered[:0], ns.ghosts.withDefaults(g, s, i)...)
		schema.Cover(s.Ever, ns.covered, ours)
		words = ns.covered
	}
	return ns.meant(&ns.p.Components[i], words, ours, t)
}
