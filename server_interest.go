package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// serverInterest decides which entities each player receives.
type serverInterest struct {
	entityTeams map[ecs.Entity]uint8 // of those with their own team
	survey      *survey              // nil: every player receives everything
}

// survey is the server's side of the interest, refilled each tick.
type survey struct {
	area   *snapshot.Area
	asked  map[snapshot.NetID]ecs.Entity // of the prefabs that have a hook
	eyes   [][3]float32
	looker PlayerID
	ask    func(snapshot.NetID) Relevance
}

func newSurvey(m *simulation) *survey {
	if m.p.handlers.interest == nil {
		return nil
	}
	v := &survey{asked: map[snapshot.NetID]ecs.Entity{}}
	v.area, _ = snapshot.NewArea(m.p.handlers.interest.cfg) // was checked when it was declared
	v.ask = func(id snapshot.NetID) Relevance {
		e := v.asked[id]
		return m.p.handlers.relevant[m.p.identity.Get(m.world, e).Prefab](&m.frame, v.looker, e)
	}
	return v
}

// fill notes the position of every entity.
func (v *survey) fill(m *simulation) {
	v.area.Begin()
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
			x, y, z := it.at(unsafe.Add(base, uintptr(i)*size))
			v.area.Put(net, x, y, z, hooked)
		}
	}
}

// look updates the set of entities that a player receives.
func (v *survey) look(m *simulation, p *player) {
	it := m.p.handlers.interest
	id, size := m.p.Components[it.comp].ID, m.p.Components[it.comp].Size
	v.eyes, v.looker = v.eyes[:0], p.owner
	for _, rows := range m.entities.Owned(m.world, p.owner) {
		if base := rows.Column(id); base != nil {
			for i := range rows.Len() {
				x, y, z := it.at(unsafe.Add(base, uintptr(i)*size))
				v.eyes = append(v.eyes, [3]float32{x, y, z})
			}
		}
	}
	p.interest.near.Look(m.frame.Tick, v.eyes, v.ask, p.outbox.sender.SetRelevant)
}
