package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// SetTeam sets the viewer's team, for the audiences [schema.ToAllies] and
// [schema.ToEnemies]. Team 0, the default, is no team. See [Source.SetTeam].
func (s *Sender) SetTeam(team uint8) {
	s.regroup = s.regroup || s.team != team
	s.team = team
}

// SetAudience sets whether the viewer is in a game-defined audience, as seen from one
// entity, or for id 0 from all. By default it is in none. Like SetVisible it may be
// called before the entity is first put. Entities whose audience changes are sent again
// in full.
func (s *Sender) SetAudience(id NetID, to schema.Audience, member bool) {
	a := quantise.Audience(to)
	set := func(g quantise.Audience) quantise.Audience {
		if g |= a &^ (quantise.FirstOwn - 1); !member {
			g &^= a
		}
		return g
	}
	s.regroup = true
	if id == 0 {
		s.groups = set(s.groups)
		return
	}
	s.change(id, func(n slotNote) slotNote { n.groups = set(n.groups); return n })
}

// Audience returns the viewer's classes as seen from an entity, as of the last Append.
// It has only classes that make a difference in this registry. It returns 0 for an
// entity that the viewer is not shown.
func (s *Sender) Audience(id NetID) schema.Audience {
	if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) {
		if n := s.bySlot[e.slot]; n.id == id && n.wire != 0 {
			return schema.Audience(s.auds[n.wire])
		}
	}
	return 0
}

// ownAudience returns ToOwner if the viewer receives what an owner does, and else 0.
func (s *Sender) ownAudience(owner uint16) quantise.Audience {
	if s.cfg.Everything || s.viewerOwns(owner) {
		return quantise.ToOwner
	}
	return 0
}

// viewerOwns reports whether an entity with this owner is the viewer's own.
func (s *Sender) viewerOwns(owner uint16) bool {
	return owner != 0 && (owner == s.viewer || owner == Everyone)
}

// relation returns the viewer's classes as seen from an entity with an owner, limited
// to classes that make a difference. Owning it always does.
func (s *Sender) relation(slot int32, owner uint16) quantise.Audience {
	if s.cfg.Everything {
		return s.src.reg.Classes | quantise.ToOwner
	}
	a := s.ownAudience(owner)
	if reg := s.src.reg; reg.Shared() {
		switch team := s.src.hot[slot].team; {
		case a != 0 || team != 0 && team == s.team:
			a |= quantise.ToAllies
		case team != 0 && s.team != 0:
			a |= quantise.ToEnemies
		}
		a = (a | s.groups | s.bySlot[slot].groups) & (reg.Classes | quantise.ToOwner)
	}
	return a
}

// relate applies a change of an entity's audience. If a class other than the owner changed, values sent before
// are no baselines. A change of the owner alone is visible in the entity's versions.
func (s *Sender) relate(w schema.WireID, a quantise.Audience, changed wireSet) {
	if s.cfg.Everything { // only the ownership can change
		s.own.put(w, s.viewerOwns(s.src.hot[s.slots[w]].owner))
		return
	}
	was := s.auds[w]
	if was == a {
		return
	}
	s.auds[w] = a
	s.own.put(w, a&quantise.ToOwner != 0)
	if (was^a)&^quantise.ToOwner != 0 && s.told.has(w) {
		s.from[w], s.related = s.src.tick, s.src.tick
		changed.add(w)
		s.dirty.add(w)
	}
}

// relateAll calls relate for all entities shown.
func (s *Sender) relateAll(changed wireSet) {
	s.regroup = false
	for i, m := range s.live {
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			s.relate(w, s.relation(s.slots[w], s.src.hot[s.slots[w]].owner), changed)
		}
	}
}
