package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// grouping is an entity's group, until the tick's state is recorded.
type grouping struct {
	net   snapshot.NetID
	group uint32
}

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
	s.senders.grouped = append(s.senders.grouped, grouping{id, group})
}

// groupOf returns the group that an entity is in, or soon is.
func (s *Server) groupOf(id snapshot.NetID) uint32 {
	for _, g := range slices.Backward(s.senders.grouped) {
		if g.net == id {
			return g.group
		}
	}
	return s.senders.source.Group(id)
}

// group tells the snapshots of groups that were made since the last tick.
func (s *Server) group() {
	for _, g := range s.senders.grouped {
		s.senders.source.SetGroup(g.net, g.group) // one that is gone again needs none
	}
	s.senders.grouped = s.senders.grouped[:0]
}
