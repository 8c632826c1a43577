package foretick

import (
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// serverInterest decides which entities each player receives.
type serverInterest struct {
	entityTeams map[ecs.Entity]uint8 // of those with their own team
	swept       Tick                 // when entityTeams was
	dead        map[ecs.Entity]Tick  // with late inputs: when a sweep found that they are gone
	survey      *survey              // nil: every player receives everything
}

// survey is the server's side of the interest, refilled each tick.
type survey struct {
	area       *snapshot.Area
	asked      map[snapshot.NetID]ecs.Entity // of the prefabs that have a hook
	eyes       [][3]float32
	looker     PlayerID
	everything bool // that is granted: Never does not count
	ask        func(snapshot.NetID) snapshot.Relevance
	looks      []observerLook // of this tick
	failed     []placeFailure // of this tick
}

// placeFailure is an entity whose position the game's function did not return.
type placeFailure struct {
	owner PlayerID
	value any // of the panic
}

// observerLook is how an observer looked. Others that look the same way share its view.
type observerLook struct {
	looker     PlayerID
	everything bool
	eyes       [][3]float32
	view       *snapshot.AreaView
}

// maxLooks bounds the looks of a tick that others are compared with.
const maxLooks = 16

func newSurvey(m *simulation) *survey {
	if m.p.handlers.interest == nil {
		return nil
	}
	v := &survey{asked: map[snapshot.NetID]ecs.Entity{}}
	v.area, _ = snapshot.NewArea(m.p.handlers.interest.cfg) // was checked when it was declared
	v.ask = func(id snapshot.NetID) snapshot.Relevance {
		e := v.asked[id]
		r := m.p.handlers.relevant[m.p.identity.Get(m.world, e).Prefab](&m.frame, v.looker, e)
		if v.everything && r == snapshot.Never {
			return snapshot.ByDistance
		}
		return r
	}
	return v
}

// fill notes the position of every entity.
func (v *survey) fill(m *simulation) {
	v.area.Begin()
	for i := range v.looks {
		v.looks[i].view = nil // it must not keep observers who leave
	}
	v.looks = v.looks[:0]
	clear(v.asked)
	it := m.p.handlers.interest
	id := m.p.Components[it.comp].ID
	size := m.p.Components[it.comp].Size
	for _, rows := range m.entities.All(m.world) {
		base := rows.Column(id)
		for i, ident := range m.p.identity.Slice(rows) {
			net := snapshot.NetID(ident.Net)
			hooked := m.p.handlers.relevant[ident.Prefab] != nil
			if hooked {
				v.asked[net] = rows.Entity(i)
			}
			if base == nil {
				v.area.PutAlways(net, hooked)
				continue
			}
			x, y, z, ok := v.place(it.at, unsafe.Add(base, uintptr(i)*size), rows.Owner())
			if !ok {
				v.area.PutAlways(net, hooked)
				continue
			}
			v.area.Put(net, x, y, z, hooked)
		}
	}
}

// sees updates the set of entities that a player or an observer receives. If a function of the game
// panics in it, that one is dropped, and sees returns false.
func (s *Server) sees(p *player) (looked bool) {
	defer func() {
		if !looked {
			s.containLook(p, recover())
		}
	}()
	s.interest.survey.look(&s.sim, &s.sessions, p)
	return true
}

// containLook drops whoever an interest function panicked for.
func (s *Server) containLook(p *player, v any) {
	s.reportPanic(p.owner, p, "Relevant or Interest", contain.Recovered(v), debug.Stack())
	s.sessions.kick(p, transport.Kicked, failedText)
}

// fillSurvey notes the position of every entity. Where the game's function panics, the entity's
// player is dropped.
func (s *Server) fillSurvey() {
	v := s.interest.survey
	v.fill(&s.sim)
	for _, f := range v.failed {
		if p := s.sessions.player(f.owner); p != nil {
			s.containLook(p, f.value)
		} else {
			s.reportPanic(ecs.Nobody, nil, "Interest", f.value, nil)
		}
	}
	v.failed = v.failed[:0]
}

// place calls the game's function for an entity's position. If it panics, the entity has none.
func (v *survey) place(at func(unsafe.Pointer) (x, y, z float32), c unsafe.Pointer, owner PlayerID) (x, y, z float32, ok bool) {
	defer func() {
		if !ok {
			v.failed = append(v.failed, placeFailure{owner, contain.Recovered(recover())})
		}
	}()
	x, y, z = at(c)
	return x, y, z, true
}

// look updates the set of entities that a player or an observer receives.
func (v *survey) look(m *simulation, in *sessions, p *player) {
	v.eyes, v.looker, v.everything = v.eyes[:0], p.views(), false
	switch o := p.observing; {
	case o == nil:
		v.addEyes(m, p, nil)
	case o.grant.Everything && o.eye == (netcode.Eye{}):
		p.interest.near.LookEverywhere(p.outbox.sender.SetRelevant)
		return
	default:
		v.everything = o.grant.Everything
		v.addObserverEyes(m, in, o)
		if with := v.looksLike(p.interest.near); with != nil {
			p.interest.near.LookAs(with, v.eyes, v.ask, p.outbox.sender.SetRelevant)
			return
		}
	}
	p.interest.near.Look(v.eyes, v.ask, p.outbox.sender.SetRelevant)
}

// looksLike returns the view of an observer that looked in the same way in this tick. If there
// is none, it notes the look for others and returns nil.
func (v *survey) looksLike(near *snapshot.AreaView) *snapshot.AreaView {
	for i := range v.looks {
		l := &v.looks[i]
		if l.looker == v.looker && l.everything == v.everything && slices.Equal(l.eyes, v.eyes) {
			return l.view
		}
	}
	if n := len(v.looks); n < maxLooks {
		v.looks = slices.Grow(v.looks, 1)[:n+1]
		l := &v.looks[n]
		l.looker, l.everything, l.view = v.looker, v.everything, near
		l.eyes = append(l.eyes[:0], v.eyes...)
	}
	return nil
}

// addObserverEyes adds where an observer looks from.
func (v *survey) addObserverEyes(m *simulation, in *sessions, o *observing) {
	of := in.player(o.grant.Player)
	if o.grant.Player == ecs.Nobody {
		if o.eye.Has && !o.grant.FollowOnly {
			v.eyes = append(v.eyes, [3]float32{o.eye.X, o.eye.Y, o.eye.Z})
		}
		of = in.player(PlayerID(o.eye.Player))
		if of != nil && o.grant.FollowOnly && o.grant.Team != 0 && o.grant.Team != of.interest.team {
			of = nil
		}
	}
	switch {
	case of == nil:
	case o.grant.Player == of.owner: // it sees what the player sees
		v.addEyes(m, of, nil)
	default:
		v.addEyes(m, of, func(e ecs.Entity) bool { return in.hidesFrom(&o.grant, e) })
	}
}

// addEyes adds where a player looks from: the eye that the game set, or its own entities.
// What is around an entity tells where that is, so one that is hidden is no eye, and of a
// player with a hidden entity the game's eye is not used. hides may be nil.
func (v *survey) addEyes(m *simulation, p *player, hides func(e ecs.Entity) bool) {
	if p.interest.hasEye && (hides == nil || !v.hidesPlace(m, p, hides)) {
		v.eyes = append(v.eyes, p.interest.eye)
		return
	}
	it := m.p.handlers.interest
	id, size := m.p.Components[it.comp].ID, m.p.Components[it.comp].Size
	for _, rows := range m.entities.Owned(m.world, p.owner) {
		if base := rows.Column(id); base != nil {
			for i := range rows.Len() {
				if hides != nil && hides(rows.Entity(i)) {
					continue
				}
				x, y, z := it.at(unsafe.Add(base, uintptr(i)*size))
				v.eyes = append(v.eyes, [3]float32{x, y, z})
			}
		}
	}
}

// hidesPlace reports whether an entity with a place of a player's is hidden.
func (v *survey) hidesPlace(m *simulation, p *player, hides func(e ecs.Entity) bool) bool {
	id := m.p.Components[m.p.handlers.interest.comp].ID
	for _, rows := range m.entities.Owned(m.world, p.owner) {
		if rows.Has(id) && slices.ContainsFunc(rows.Entities(), hides) {
			return true
		}
	}
	return false
}
