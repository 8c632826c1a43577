package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// InterestConfig says what is near enough to matter; see [Interest].
type InterestConfig = snapshot.AreaConfig

// Relevance is what a game says of an entity, for one player; see
// [Protocol.Relevant].
type Relevance = snapshot.Relevance

// What a Relevant hook answers.
const (
	ByDistance = snapshot.ByDistance
	Always     = snapshot.Always
	Never      = snapshot.Never
)

// interest is how a protocol's entities come to matter.
type interest struct {
	comp int
	cfg  InterestConfig
	at   func(p unsafe.Pointer) (x, y, z float32)
}

// Interest has players receive only what is near to what they own: entities that
// have the component, within cfg's distances, nearest first where not all fits.
// Entities without it matter to everybody, and what a player owns always does. at
// gives the place; a game on a plane leaves z at 0. A player who owns nothing with
// a place sees nothing that has one. One component of a protocol has the places:
// give it to every prefab that is to matter by distance. See [Protocol.Relevant] for
// exceptions.
func Interest[T any](p *Protocol, c *ecs.Component[T], cfg InterestConfig, at func(*T) (x, y, z float32)) {
	if !p.able("Interest", at != nil) {
		return
	}
	i := p.replicated("Interest", c)
	if i < 0 {
		return
	}
	if p.interest != nil {
		p.faultf("Interest was declared twice, by %s and %s: one component has the place of everything; let all prefabs carry it that are to matter by distance", p.components[p.interest.comp].name, p.components[i].name)
		return
	}
	if _, err := snapshot.NewArea(cfg); err != nil {
		p.fault(err)
		return
	}
	p.interest = &interest{i, cfg, func(at2 unsafe.Pointer) (x, y, z float32) { return at((*T)(at2)) }}
}

// Relevant asks fn of each entity of the prefabs, for each player and tick, whether it
// matters whatever its distance: a flag that all follow, a ghost that only some may
// see. It needs [Interest].
func (p *Protocol) Relevant(fn func(f *Frame, player PlayerID, e ecs.Entity) Relevance, prefabs ...*ecs.Prefab) {
	if p.late("Relevant") {
		return
	}
	if fn == nil || len(prefabs) == 0 {
		p.faultf("Relevant needs a function and the prefabs that it is asked of")
		return
	}
	for _, k := range prefabs {
		p.relevant = append(p.relevant, relevantHook{k, fn})
	}
}

type relevantHook struct {
	prefab *ecs.Prefab
	fn     func(*Frame, PlayerID, ecs.Entity) Relevance
}

// checkInterest finds the prefabs of the hooks, once all are declared.
func (p *Protocol) checkInterest() {
	if len(p.relevant) > 0 && p.interest == nil {
		p.faultf("Relevant needs Interest: declare what is near first")
	}
	for _, h := range p.relevant {
		i := p.prefabOf(h.prefab)
		if i < 0 {
			p.faultf("Relevant is given a prefab that is not declared with Protocol.Prefab")
			continue
		}
		p.prefabs[i].relevant = h.fn
	}
}

// survey is the server's side of the interest, refilled each tick.
type survey struct {
	area   *snapshot.Area
	asked  map[snapshot.NetID]ecs.Entity // of the prefabs that have a hook
	eyes   [][3]float32
	looker PlayerID
	ask    func(snapshot.NetID) Relevance
}

func newSurvey(s *Server) *survey {
	if s.p.interest == nil {
		return nil
	}
	v := &survey{asked: map[snapshot.NetID]ecs.Entity{}}
	v.area, _ = snapshot.NewArea(s.p.interest.cfg) // was checked when it was declared
	v.ask = func(id snapshot.NetID) Relevance {
		e := v.asked[id]
		return s.p.prefabs[s.p.identity.Get(s.world, e).Prefab].relevant(&s.frame, v.looker, e)
	}
	return v
}

// fill notes where everything is.
func (v *survey) fill(s *Server) {
	v.area.Begin()
	clear(v.asked)
	it := s.p.interest
	id := s.p.components[it.comp].id
	size := s.p.components[it.comp].size
	for _, rows := range s.entities.All(s.world) {
		base := rows.Column(id)
		for i, ident := range s.p.identity.Slice(rows) {
			net := snapshot.NetID(ident.Net)
			hooked := s.p.prefabs[ident.Prefab].relevant != nil
			if hooked {
				v.asked[net] = rows.Entity(i)
			}
			if base == nil {
				v.area.PutAlways(net, hooked)
				continue
			}
			x, y, z := it.at(unsafe.Add(base, uintptr(i)*size))
			v.area.Put(net, x, y, z, hooked)
		}
	}
}

// look brings up to date what matters to a player.
func (v *survey) look(s *Server, p *player) {
	it := s.p.interest
	id, size := s.p.components[it.comp].id, s.p.components[it.comp].size
	v.eyes, v.looker = v.eyes[:0], p.owner
	for _, rows := range s.entities.Owned(s.world, p.owner) {
		if base := rows.Column(id); base != nil {
			for i := range rows.Len() {
				x, y, z := it.at(unsafe.Add(base, uintptr(i)*size))
				v.eyes = append(v.eyes, [3]float32{x, y, z})
			}
		}
	}
	p.near.Look(s.frame.Tick, v.eyes, v.ask, p.sender.SetRelevant)
}
