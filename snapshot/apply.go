package snapshot

import (
	"slices"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// applySnapshot applies a snapshot that was read without an error.
func (r *Receiver) applySnapshot(t schema.Tick) {
	r.count.Snapshots++
	if r.newest == 0 || after(t, r.newest) {
		r.newest = t
	} else {
		r.count.OutOfOrder++
	}
	if !r.complete {
		r.count.Incomplete++
	}
	if !r.ownWhole {
		r.count.OwnPostponed++
	}
	if e := &r.ring[int(t)&(len(r.ring)-1)]; e.tick == 0 || after(t, e.tick) {
		*e = receivedTick{t, r.complete, r.ownWhole, append(e.late[:0], r.spans...)}
	}
	if l := &r.lists[int(t)&(len(r.lists)-1)]; l.tick == 0 || after(t, l.tick) {
		l.tick, l.whole, l.wires = t, r.complete, l.wires[:0]
		for _, i := range r.order {
			l.wires = append(l.wires, r.records.recordAt(int(i)).wire)
		}
	}
	for _, g := range r.gone {
		r.applyGone(g)
	}
	for _, i := range r.order {
		r.applyRecord(r.records.recordAt(int(i)), t)
	}
	if r.wholes > 0 {
		r.applyRooms()
	}
	r.merge()
	if len(r.gone) > 0 || r.wholes > 0 {
		slices.SortStableFunc(r.changes, func(a, b Change) int { return int(a.Ghost.Wire) - int(b.Ghost.Wire) })
	}
}

func (r *Receiver) applyGone(x goneRecord) {
	s := r.openSlot(x.wire)
	if s.gone == 0 || after(x.tick, s.gone) {
		s.gone = x.tick
	}
	if len(r.rooms) > 0 {
		r.dropRooms(x.wire, x.tick)
	}
	g := s.ghost
	if g == nil || g.Gone != 0 || after(g.Born, x.tick) {
		return
	}
	g.Gone, g.Hid = x.tick, x.hidden
	what := Removed
	if x.hidden {
		what = Hidden
	}
	r.changes = append(r.changes, Change{Ghost: g, What: what})
}

func (r *Receiver) applyRecord(rec *record, t schema.Tick) {
	if rec.stale {
		return
	}
	r.count.Records++
	s := r.openSlot(rec.wire)
	g, fresh := s.ghost, false
	if g == nil || g.Born != rec.born {
		g, fresh = r.spawnGhost(s, rec), true
	}
	before := g.Newest()
	newest := g.putVersion(ghostVersion{tick: t, mask: rec.mask, owner: rec.owner, jumps: rec.jumps, aud: rec.aud}, rec.words)
	if !newest || g.Gone != 0 {
		return
	}
	g.Owner, g.Mine = rec.owner, rec.aud&quantise.ToOwner != 0
	switch {
	case fresh:
		r.changes = append(r.changes, Change{Ghost: g, What: Spawned})
	default:
		c := Change{Ghost: g, What: Updated, Transferred: before.Owner != rec.owner || before.Mine != g.Mine, Teleported: before.Jumps != rec.jumps}
		if !before.Mask.Equal(rec.mask) {
			c.What = Components
		}
		r.changes = append(r.changes, c)
	}
}

// spawnGhost makes the ghost for a new life of a wire id.
func (r *Receiver) spawnGhost(s *wireSlot, rec *record) *Ghost {
	if old := s.ghost; old != nil && old.released {
		r.pool = append(r.pool, old)
	}
	g := r.newGhost()
	g.Wire, g.Prefab, g.Born = rec.wire, int(rec.prefab), rec.born
	s.ghost = g
	r.spawned = append(r.spawned, g)
	return g
}

// merge inserts the new ghosts, which are in order, among the others.
func (r *Receiver) merge() {
	n := len(r.spawned)
	if n == 0 {
		return
	}
	old := len(r.ghosts)
	r.ghosts = append(r.ghosts, r.spawned...)
	for at := len(r.ghosts); n > 0; {
		at--
		if old > 0 && compareGhosts(r.ghosts[old-1], r.spawned[n-1]) > 0 {
			old--
			r.ghosts[at] = r.ghosts[old]
		} else {
			n--
			r.ghosts[at] = r.spawned[n]
		}
	}
	clear(r.spawned)
	r.spawned = r.spawned[:0]
}
