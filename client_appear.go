package foretick

import "github.com/foretick/foretick/ecs"

// stage tells a client's game what came to the screen and what left it.
type stage struct {
	*clientBase
	shown []map[ecs.Entity]bool // by hook: entities that it concerns
}

func newStage(b *clientBase) stage {
	s := stage{clientBase: b}
	for range b.cfg.Protocol.compiled.handlers.appearances {
		s.shown = append(s.shown, map[ecs.Entity]bool{})
	}
	return s
}

// tell calls the hooks, those of what left first. It is called once a frame, when the world
// holds what is shown.
func (s *stage) tell() {
	for _, vanished := range [...]bool{true, false} {
		for i := range s.cfg.Protocol.compiled.handlers.appearances {
			if a := &s.cfg.Protocol.compiled.handlers.appearances[i]; a.vanished == vanished {
				s.poll(a, s.shown[i])
			}
		}
	}
}

func (s *stage) poll(a *appearance, shown map[ecs.Entity]bool) {
	entered, left := a.watch.Poll(s.world)
	for _, e := range left {
		if shown[e] {
			delete(shown, e)
			if a.vanished {
				a.fn(&s.frame, e)
			}
		}
	}
	for _, e := range entered {
		if s.concerns(a, e) {
			shown[e] = true
			if !a.vanished {
				a.fn(&s.frame, e)
			}
		}
	}
}

// concerns reports whether an entity is of a hook's prefab. The one that carries the state
// of the match is no entity of the game's.
func (s *stage) concerns(a *appearance, e ecs.Entity) bool {
	k := s.ownPrefab(s.p.identity.Find(s.world, e))
	return k != nil && k.ECS != &s.cfg.Protocol.compiled.singletonRow && (a.prefab == nil || *k.ECS == *a.prefab)
}
