package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// scenes remembers which ghosts were drawn for the first time not long ago, and which are no longer
// drawn.
type scenes struct {
	*base
	input     *input
	ghosts    *ghosts
	predictor *prediction.Predictor

	appeared []appeared
	undrawn  []undrawn
	count    uint64 // counts the ghosts that appeared, and those that are no longer drawn
}

// appeared is a ghost that was drawn for the first time.
type appeared struct {
	wire  schema.WireID
	tick  foretick.Tick // the newest tick that was predicted without it
	next  netcode.Seq   // the first packet sent afterwards
	scene uint64
	known bool // ticks were compared for which the server sent references to it
}

// undrawn is a ghost, of another player or without an owner, that is no longer drawn.
type undrawn struct {
	owner uint16
	had   [4]uint64     // the components that shared systems read of others, a bit for each
	gone  foretick.Tick // the server's first tick without it
	until foretick.Tick // the newest tick that was predicted with it
	scene uint64
}

// noteAppeared remembers for a while that a ghost has an entity only from now on, if references or
// systems may concern it.
func (sn *scenes) noteAppeared(g *snapshot.Ghost) {
	if sn.p.PredictedRefs || sn.p.Unpredicted.Refs || len(sn.ghosts.others) > 0 {
		sn.count++
		sn.appeared = append(sn.appeared, appeared{wire: g.Wire, tick: sn.input.sampled, next: sn.input.sent + 1, scene: sn.count})
	}
}

// noteUndrawn remembers for a while that a ghost was drawn longer than the server had it. Systems may
// have read it here in those ticks.
func (sn *scenes) noteUndrawn(g *snapshot.Ghost) {
	if len(sn.ghosts.others) > 0 {
		sn.count++
		d := undrawn{owner: g.Owner, gone: g.Gone, until: sn.predictor.Tick(), scene: sn.count}
		for k, i := range sn.ghosts.others {
			if sn.ghosts.hadComponents(g, g.Gone, sn.ghosts.others[k:k+1]) {
				d.had[i/64] |= 1 << (i % 64)
			}
		}
		sn.undrawn = append(sn.undrawn, d)
	}
}

// drawnOtherwise finds a ghost with one of some components that was drawn differently while tick t was
// predicted, as r: it was drawn and the server no longer had it, or it was not drawn yet.
func (sn *scenes) drawnOtherwise(t foretick.Tick, r *record, components []int) (owner uint16, ok bool) {
	for _, d := range sn.undrawn {
		if int32(d.gone-t) <= 0 && d.scene > r.scene && slices.ContainsFunc(components, func(i int) bool { return d.had[i/64]>>(i%64)&1 != 0 }) {
			return d.owner, true
		}
	}
	for _, a := range sn.appeared {
		if g := sn.ghosts.receiver.Find(a.wire); g != nil && a.scene > r.scene && int32(g.Born-t) <= 0 && !sn.ghosts.ahead(g) && sn.ghosts.hadComponents(g, t, components) {
			return g.Owner, true
		}
	}
	return 0, false
}

// unnamed reports whether the server may have had a reference to the entity of a wire id without
// sending it, because it did not know yet that this client has the entity.
func (sn *scenes) unnamed(wire uint32) bool {
	for _, a := range sn.appeared {
		if uint32(a.wire) == wire && !sn.input.knownSince(a.next) {
			return true
		}
	}
	return false
}

// comparedSince reports whether t shows every reference to an entity that this client had when it sent
// the packet next, after it had predicted tick. If no snapshot ever has everything, this is true once
// the history is over.
func (sn *scenes) comparedSince(next netcode.Seq, tick, t foretick.Tick) bool {
	return sn.input.knownSince(next) && (sn.ghosts.whollyTold(t) || int32(t-tick) > int32(sn.cfg.History))
}

// holdsBackRefs reports whether the server may send references as none because it does not know yet
// that this client has their entities.
func (sn *scenes) holdsBackRefs() bool {
	return slices.ContainsFunc(sn.appeared, func(a appeared) bool { return !a.known })
}

// forgetScenes forgets the ghosts that all predictions which are still to be compared know, or no
// longer know.
func (sn *scenes) forgetScenes(t foretick.Tick) {
	live := sn.appeared[:0]
	for _, a := range sn.appeared {
		a.known = a.known || sn.comparedSince(a.next, a.tick, t)
		if int32(a.tick-t) >= 0 || !a.known {
			live = append(live, a)
		}
	}
	sn.appeared = live
	sn.undrawn = slices.DeleteFunc(sn.undrawn, func(d undrawn) bool { return int32(d.until-t) < 0 })
}

// differedIn finds an entity that is not predicted here and that had another value of some components
// in tick k, or appeared or disappeared.
func (sn *scenes) differedIn(k foretick.Tick, r *record, components []int) (owner uint16, component string, ok bool) {
	if r == nil {
		return 0, "", false
	}
	for _, g := range sn.ghosts.receiver.Ghosts() {
		if sn.ghosts.ahead(g) {
			continue
		}
		if i, ok := sn.ghosts.differed(g, k, r, components); ok {
			return g.Owner, componentName(sn.p, i), true
		}
	}
	owner, ok = sn.drawnOtherwise(k, r, components)
	return owner, "", ok
}
