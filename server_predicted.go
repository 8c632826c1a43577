package foretick

import "github.com/foretick/foretick/ecs"

func (s *Server) setPredicted(e ecs.Entity, on bool) bool {
	id := s.p.identity.Find(s.sim.world, e)
	if id == nil {
		return false
	}
	if k := &s.p.Prefabs[id.Prefab]; !k.Interpolated {
		misuse("SetPredicted of an entity of prefab %q: declare the prefab with Protocol.Interpolated", k.ECS.Name())
	}
	id.ahead = on
	return true
}
