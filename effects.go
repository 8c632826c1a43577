package foretick

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// effects notices which player's predicted state a server-only system changed,
// so that the client can be told why its prediction was wrong. It looks at
// those systems alone that declare such a write, by comparing the columns.
type effects struct {
	s       *Server
	both    []bool               // by system: both ends run it
	watched [][]watchedComponent // by system
	running int                  // the server-only system that runs, −1 for none

	tables []watchedTable
	bytes  []byte
}

type watchedComponent struct {
	comp  *component
	query *ecs.Query
}

type watchedTable struct {
	rows ecs.Rows
	comp *component
	off  int
	size int
}

// effectOutside is the index that stands for what no system did: a join, a
// leave, the program around the server.
const effectOutside = 0

func newEffects(s *Server) *effects {
	e := &effects{s: s, running: -1}
	for _, sys := range s.p.schedule.Systems() {
		e.both = append(e.both, shared(sys))
		var ws []watchedComponent
		if !shared(sys) && !sys.Render {
			for _, id := range append(append([]ecs.ID{}, sys.Writes...), sys.OtherWrites...) {
				if i := s.p.index(id); i >= 0 && s.p.components[i].predicted {
					c := &s.p.components[i]
					ws = append(ws, watchedComponent{c, ecs.NewQuery(s.p.types, ecs.With(c.handle))})
				}
			}
		}
		e.watched = append(e.watched, ws)
	}
	return e
}

// before remembers what the system may change.
func (e *effects) before(i int) {
	e.running = i
	e.tables, e.bytes = e.tables[:0], e.bytes[:0]
	for _, w := range e.watched[i] {
		for _, rows := range w.query.All(e.s.world) {
			if rows.Owner() == ecs.Nobody && !e.s.p.island {
				continue
			}
			size := rows.Len() * int(w.comp.size)
			e.tables = append(e.tables, watchedTable{rows, w.comp, len(e.bytes), size})
			e.bytes = append(e.bytes, unsafe.Slice((*byte)(rows.Column(w.comp.id)), size)...)
		}
	}
}

// after notes whose predicted state changed.
func (e *effects) after(i int) {
	for _, t := range e.tables {
		now := unsafe.Slice((*byte)(t.rows.Column(t.comp.id)), t.size)
		if !bytes.Equal(now, e.bytes[t.off:t.off+t.size]) {
			e.mark(t.rows.Owner(), i+1)
		}
	}
	e.running = -1
}

func (e *effects) end() { e.running = -1 }

// structural notes that an entity of owner's was made or removed by something
// that only the server runs.
func (e *effects) structural(owner ecs.Owner) {
	if e.running < 0 || !e.both[e.running] {
		e.mark(owner, e.running+1)
	}
}

// mark records the effect; by is a system's index plus one. What nobody owns is
// of the island, and everybody's prediction.
func (e *effects) mark(owner ecs.Owner, by int) {
	if owner == ecs.Nobody && e.s.p.island {
		for _, p := range e.s.players {
			p.effect, p.effectBy = e.s.frame.Tick, by
		}
		return
	}
	if p := e.s.player(owner); p != nil {
		p.effect, p.effectBy = e.s.frame.Tick, by
	}
}

// frameHook passes each system's beginning and end to the world's own server:
// a schedule is shared by every world of its protocol.
type frameHook struct{}

// Before is called ahead of each system.
func (frameHook) Before(f *Frame, system int) {
	if f.server != nil {
		f.server.effects.before(system)
		return
	}
	if f.client.cfg.Rehearse > 0 {
		f.client.beforeSystem()
	}
}

// After is called behind each system.
func (frameHook) After(f *Frame, system int) {
	if f.server != nil {
		f.server.effects.after(system)
		return
	}
	if f.client.cfg.Rehearse > 0 {
		f.client.afterSystem(system)
	}
}
