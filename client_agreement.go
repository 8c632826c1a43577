package foretick

import (
	"slices"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// agreement is what is known of the ticks on which both ends agree.
type agreement struct {
	newest Tick // newest tick on which both ends agree
	all    Tick // … also on what is predicted of remote players
	unsure bool // a snapshot since has left something out
	// standIns is the newest snapshot by whose note all that the server ran in place of the
	// client's commands was equal to them. Later notes tell less of the same ticks.
	standIns Tick
	// parts has an entry for each ghost that is predicted here, while snapshots leave some out.
	// It has the order of wire ids.
	parts, spare []agreedPart
}

// agreedPart is a ghost and the last ticks in which snapshots told of it, so that the ends
// agreed on it once they were compared.
type agreedPart struct {
	wire   schema.WireID
	born   Tick
	newest Tick   // 0: none yet
	before uint64 // bit i: i+1 ticks before newest
}

func (a *agreedPart) add(t Tick) {
	if d := t - a.newest; a.newest == 0 || d > 64 {
		a.before = 0
	} else {
		a.before = a.before<<d | 1<<(d-1)
	}
	a.newest = t
}

func (a *agreedPart) has(t Tick) bool {
	d := a.newest - t
	return a.newest != 0 && (d == 0 || d <= 64 && a.before>>(d-1)&1 != 0)
}

func (a *agreement) clear() { a.newest, a.all, a.unsure, a.parts = 0, 0, false, a.parts[:0] }

// noteParts notes which ghosts the snapshot of t told of. Those that it left out may be told
// later what they had.
func (a *agreement) noteParts(ours []*snapshot.Ghost, t Tick) {
	next, i := a.spare[:0], 0
	for _, g := range ours {
		for i < len(a.parts) && (a.parts[i].wire < g.Wire || a.parts[i].wire == g.Wire && int32(a.parts[i].born-g.Born) < 0) {
			i++
		}
		part := agreedPart{wire: g.Wire, born: g.Born}
		if i < len(a.parts) && a.parts[i].wire == g.Wire && a.parts[i].born == g.Born {
			part = a.parts[i]
		}
		if _, ok := g.At(t); ok {
			part.add(t)
		}
		next = append(next, part)
	}
	a.parts, a.spare = next, a.parts
}

// told reports whether the snapshot of t told of a ghost, when it came.
func (a *agreement) told(g *snapshot.Ghost, t Tick) bool {
	return slices.ContainsFunc(a.parts, func(p agreedPart) bool { return p.wire == g.Wire && p.born == g.Born && p.has(t) })
}

// agree notes that both ends agree on t. Entities that the snapshot left out may still
// differ, from an unknown tick on. Nothing may be known yet about a remote player that just
// came.
func (tl *timeline) agree(t Tick) {
	_, all, _ := tl.ghosts.receiver.Complete(t)
	tl.agreed.unsure = !all
	switch {
	case all:
		tl.agreed.newest, tl.agreed.all = t, t
	case tl.ghosts.whollyTold(t):
		tl.agreed.newest = t
	default:
		if !tl.ghosts.receiver.PostponedUnknown(t) {
			tl.agreed.noteParts(tl.ghosts.ours, t)
		}
		return
	}
	tl.agreed.parts = tl.agreed.parts[:0]
}

// agreedOnWrong returns the newest tick before t on which both ends agree on all that what
// differs in t can come from. An entity that is longer than a packet is told seldom. Others of
// the player's may be told in each snapshot, and be computed from themselves alone.
func (tl *timeline) agreedOnWrong(t Tick) Tick {
	agreed, w := tl.agreed.newest, &tl.found.wrong
	if len(tl.agreed.parts) == 0 || tl.p.OtherBuild || tl.p.FromOthers.Names(&tl.p.Layout, w.Component) {
		return agreed
	}
	i := slices.IndexFunc(tl.ghosts.ours, func(g *snapshot.Ghost) bool { return g.Data == w.Entity })
	if i < 0 || tl.spawnsLike(tl.ghosts.ours[i]) {
		return agreed
	}
	for k := t - 1; int32(k-agreed) > 0 && t-k <= 64; k-- {
		if tl.toldApart(tl.ghosts.ours[i], k) {
			return k
		}
	}
	return agreed
}

// spawnsLike reports whether a spawn of a ghost's prefab is not confirmed yet.
func (tl *timeline) spawnsLike(g *snapshot.Ghost) (any bool) {
	tl.spawning.waiting.Open(func(_ Tick, s spawned) bool {
		any = any || s.kind == g.Prefab
		return !any
	})
	return any
}

// toldApart reports whether the snapshot of k told of an entity, and left out none of the
// player's that systems may have visited together with it: they visit rows of one owner and
// one component set at a time. Singletons are for all of them.
func (tl *timeline) toldApart(g *snapshot.Ghost, k Tick) bool {
	if !tl.agreed.told(g, k) {
		return false
	}
	mask := g.Newest().Mask
	return !slices.ContainsFunc(tl.ghosts.ours, func(o *snapshot.Ghost) bool {
		if tl.agreed.told(o, k) || tl.ghosts.remotePredicted(o) || int32(k-o.Born) < 0 || o.Gone != 0 && int32(k-o.Gone) >= 0 {
			return false
		}
		return o.Prefab == g.Prefab || o.Newest().Mask.Equal(mask) || tl.p.Prefabs[o.Prefab].ECS == &tl.cfg.Protocol.compiled.singletonRow
	})
}
