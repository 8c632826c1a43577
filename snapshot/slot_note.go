package snapshot

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

type slotNote struct {
	id       NetID
	wire     schema.WireID
	hidden   bool
	relevant bool
	groups   quantise.Audience // groups are the game-defined audiences that the viewer is in for this entity.
}

// unbornNote has the settings of an entity that was not put yet.
type unbornNote struct {
	slotNote
	seq uint32 // seq is the source's tick count when the settings last changed.
}

// unbornTicks is the number of ticks that settings of an entity wait for its first Put.
// An entity destroyed in the tick of its creation is never put.
const unbornTicks = 256

// forgetUnborn drops settings that waited too long.
func (s *Sender) forgetUnborn() {
	if len(s.unborn) == 0 || s.src.seq-s.swept < unbornTicks {
		return
	}
	s.swept = s.src.seq
	for id, n := range s.unborn {
		if s.src.seq-n.seq >= unbornTicks {
			delete(s.unborn, id)
		}
	}
}

// change changes an entity's settings, before or after it was first put. They are
// passed by value, so that nothing is allocated.
func (s *Sender) change(id NetID, fn func(slotNote) slotNote) {
	if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) && s.bySlot[e.slot].id == id {
		s.bySlot[e.slot] = fn(s.bySlot[e.slot])
		return
	}
	s.forgetUnborn()
	n := fn(s.unborn[id].slotNote)
	if n == (slotNote{}) {
		delete(s.unborn, id)
	} else {
		s.unborn[id] = unbornNote{n, s.src.seq}
	}
}
