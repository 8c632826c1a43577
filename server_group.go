package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

func (s *Server) setGroup(e, with ecs.Entity) bool {
	id, leader := s.sim.net(e), s.sim.net(with)
	if id == 0 || with != ecs.None && leader == 0 {
		return false
	}
	s.joinGroup(e, id, uint32(leader))
	if leader != 0 {
		s.joinGroup(with, leader, uint32(leader))
	}
	return true
}

func (s *Server) joinGroup(e ecs.Entity, id snapshot.NetID, group uint32) {
	s.late.world.noteGroup(e, s.groupOf(id))
	if s.senders.grouped == nil {
		s.senders.grouped = map[snapshot.NetID]uint32{}
	}
	s.senders.grouped[id] = group
}

// groupOf returns the group that an entity is in, or is in from the end of the tick on.
func (s *Server) groupOf(id snapshot.NetID) uint32 {
	if group, ok := s.senders.grouped[id]; ok {
		return group
	}
	return s.senders.source.Group(id)
}

// group tells the snapshots of groups that were made since the last tick. Each is of another
// entity, so their order does not matter.
func (s *Server) group() {
	for id, group := range s.senders.grouped {
		s.senders.source.SetGroup(id, group) // one that is gone again needs none
	}
	clear(s.senders.grouped)
}
