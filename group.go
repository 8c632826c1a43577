package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// grouping is an entity's group, until the tick's state is recorded.
type grouping struct {
	net   snapshot.NetID
	group uint32
}

// SetGroup has an entity travel with another: what changed of both, and of all that
// travel with the same, comes to a player in one snapshot, or none of it does: a
// rider and his horse are never apart on a screen. With [ecs.None] it travels alone
// again. What a player predicts is a group in any case. False on a client, and for
// entities that are not there.
func (f *Frame) SetGroup(e, with ecs.Entity) bool {
	if f.server == nil {
		return false
	}
	s := f.server
	id, leader := s.netOf(e), s.netOf(with)
	if id == 0 || with != ecs.None && leader == 0 {
		return false
	}
	s.grouped = append(s.grouped, grouping{id, uint32(leader)})
	if leader != 0 {
		s.grouped = append(s.grouped, grouping{leader, uint32(leader)})
	}
	return true
}

// group tells the snapshots of groups that were made since the last tick.
func (s *Server) group() {
	for _, g := range s.grouped {
		s.source.SetGroup(g.net, g.group) // one that is gone again needs none
	}
	s.grouped = s.grouped[:0]
}
