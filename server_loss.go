package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// lookForLosses looks for what rounding will lose in this tick.
func (s *Server) lookForLosses() {
	if !s.sim.losses.due(s.sim.frame.Tick) {
		return
	}
	for _, rows := range s.sim.entities.All(s.sim.world) {
		ids := s.p.identity.Slice(rows)
		for i := range s.p.Components {
			c := &s.p.Components[i]
			base := rows.Column(c.ID)
			if !c.Predicted || base == nil {
				continue
			}
			for k := range ids {
				if words := s.senders.source.OwnerWords(snapshot.NetID(ids[k].Net), i); words != nil {
					s.sim.losses.grid(rows.Entity(k), i, unsafe.Add(base, uintptr(k)*c.Size), words, s)
				}
			}
		}
	}
	s.sim.losses.looked()
}

// wordsBack is losses' view of the past: the state of this tick is captured later.
func (s *Server) wordsBack(e ecs.Entity, comp int, ticks Tick) []int32 {
	id := s.p.identity.Find(s.sim.world, e)
	if id == nil {
		return nil
	}
	return s.senders.source.OwnerWordsAt(snapshot.NetID(id.Net), comp, s.sim.frame.Tick-ticks)
}
