package foretick

import (
	"fmt"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// Simulates reports whether the shared systems of this tick compute an entity on this end:
// on a server any, on a client those that it predicts. A system that hands the world to a
// physics engine moves the bodies for which it is true, and gives the others to the engine as
// bodies that nothing moves. In a frame that is drawn it is of no use. It returns false for
// an entity that is gone.
func (f *Frame) Simulates(e ecs.Entity) bool { return f.end().simulates(e) }

// PrefabOf returns the prefab that an entity was spawned from, as the game declared it. It
// returns nil for an entity that is gone, or was not spawned from a prefab of the protocol.
func (f *Frame) PrefabOf(e ecs.Entity) *ecs.Prefab { return f.end().prefabOf(e) }

// sharedSystem is a system that both ends run, as a frame knows it.
type sharedSystem struct {
	name     string
	compared bool // what it does is compared: it is not for a ClientOnly prefab
}

// String returns the system's name for messages.
func (s *sharedSystem) String() string {
	if s == nil {
		return "a shared system"
	}
	return fmt.Sprintf("shared system %q", s.name)
}

// running lets frames know that the system runs.
func (s *sharedSystem) running(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		f.shared = s
		run(f, rows)
		f.shared = nil
	}
}

// refuseView refuses views of what players saw in a system whose results both ends must
// agree on. s is nil where none runs.
func (s *sharedSystem) refuseView() {
	if s != nil && s.compared {
		misuse("shared system %q asks what a player saw, which differs between the ends: raise an Event and ask in its OnServer handler, or declare the system with Server", s.name)
	}
}

// findCompared marks the systems whose results both ends must agree on.
func (p *Protocol) findCompared() {
	at := map[string]*sharedSystem{}
	for _, s := range p.shared {
		at[s.name] = s
	}
	for _, info := range p.compiled.schedule.Systems() {
		if s := at[info.Name]; s != nil {
			s.compared = layout.Shared(info) && !p.compiled.forClientOnly(info)
		}
	}
}
