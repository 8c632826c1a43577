package foretick

import (
	"log/slog"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Loss is a field of which a tag loses values; see [Server.Losses] and
// [Client.Losses].
type Loss struct {
	// Component is the component's type, or that of a command, a request or a message,
	// which are looked at when they are sent: commands and requests on the client,
	// messages on the server. Events do not travel and lose nothing.
	Component, Field string
	// System is the last one that wrote the field, or the system or request handler that
	// sent the message: in debug builds alone (tag foretick_debug), and "" where none did.
	System string
	// Outside counts the values that the tag's range does not hold, once a tick and
	// entity. They become, or travel as, the nearest end of the range. NaN becomes 0.
	Outside uint64
	// Swallowed counts the times that a predicted value was found standing still though
	// systems change it in one direction: each change is less than half a step of the
	// simulation grid, and rounding takes it back. 48 × 0.99 is 48 again where the step
	// is 1. Every 16th tick is looked at, and two in a row must show it. Use a smaller
	// step, or a field without one. A body that rests against something is counted as
	// well if its place there lies between two steps: there it does no harm.
	Swallowed uint64
}

// lossTicks is how many ticks lie between two looks for swallowed changes.
const lossTicks = 16

// mostLosses bounds the fields of entities that are looked at again, and the list.
const mostLosses = 256

// lossAt is a field of an entity.
type lossAt struct {
	e           ecs.Entity
	comp, field int
}

// lossSeen is a change that was swallowed.
type lossSeen struct {
	word   int32
	up     bool
	system string
	value  float64 // debug builds: ahead of the system that runs
}

// losses looks for values that tags lose, at one end.
type losses struct {
	p          *Protocol
	log        *slog.Logger
	tick       *Tick
	outside    *uint64
	swallowed  *uint64
	last, seen map[lossAt]lossSeen // at the last look, and at this one
	list       []Loss
	lossWatch
}

func newLosses(p *Protocol, log *slog.Logger, tick *Tick, outside, swallowed *uint64) losses {
	l := losses{p: p, log: log, tick: tick, outside: outside, swallowed: swallowed, last: map[lossAt]lossSeen{}, seen: map[lossAt]lossSeen{}}
	if debugBuild {
		l.wrote, l.before = map[[2]int]string{}, map[[2]int]bool{}
		for i := range p.components {
			l.queries = append(l.queries, ecs.NewQuery(p.types, ecs.With(p.components[i].handle)))
		}
	}
	return l
}

// bounds looks for a value outside of its range.
func (l *losses) bounds(comp int, at unsafe.Pointer) {
	c := &l.p.components[comp]
	f := c.schema.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = c.schema.Outside(at, f+1) {
		if i := l.find(c.name, c.schema, f, l.wrote[[2]int{comp, f}], false); i >= 0 {
			l.list[i].Outside++
		}
	}
}

// sent looks for a value outside of its range in what is about to be sent.
func (l *losses) sent(name string, s *snapshot.Schema, at unsafe.Pointer) {
	if l.p.foreign {
		return
	}
	f := s.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = s.Outside(at, f+1) {
		if i := l.find(name, s, f, l.running, false); i >= 0 {
			l.list[i].Outside++
		}
	}
}

// due reports whether swallowed changes are looked for in a tick.
func (l *losses) due(t Tick) bool { return t%lossTicks == 0 }

// grid looks for changes of a value, in words before, that rounding takes back. One
// that was there at the last look, too, counts.
func (l *losses) grid(e ecs.Entity, comp int, at unsafe.Pointer, before []int32) {
	s := l.p.components[comp].schema
	for f, up := s.Swallowed(at, before, 0); f >= 0; f, up = s.Swallowed(at, before, f+1) {
		k := lossAt{e, comp, f}
		was, again := l.last[k]
		if len(l.seen) < mostLosses {
			l.seen[k] = lossSeen{word: before[s.Fields()[f].Word], up: up}
		}
		if !again || was.word != before[s.Fields()[f].Word] || was.up != up {
			continue
		}
		*l.swallowed++
		if i := l.find(l.p.components[comp].name, s, f, was.system, true); i >= 0 {
			l.list[i].Swallowed++
		}
	}
}

// looked ends a look.
func (l *losses) looked() {
	l.last, l.seen = l.seen, l.last
	clear(l.seen)
}

// find is the place of a field in the list. What is new is logged; a swallowed change
// only in debug builds, since it may be a body at rest.
func (l *losses) find(name string, s *snapshot.Schema, field int, system string, swallowed bool) int {
	f := s.Field(field)
	for i := range l.list {
		if x := &l.list[i]; x.Field == f.Name && x.Component == name && x.System == system {
			return i
		}
	}
	if len(l.list) == mostLosses {
		return -1
	}
	if swallowed && !debugBuild {
		l.list = append(l.list, Loss{Component: name, Field: f.Name})
		return len(l.list) - 1
	}
	line := []any{"tick", *l.tick, "component", name, "field", f.Name, "min", f.Min, "max", f.Max, "step", f.Sim}
	if debugBuild {
		line = append(line, "system", system)
	}
	what := "a value is outside of its field's range"
	if swallowed {
		what = "a change is less than half a step, and rounding takes it back"
	}
	l.log.Warn(what, line...)
	l.list = append(l.list, Loss{Component: name, Field: f.Name, System: system})
	return len(l.list) - 1
}

// lossWatch is what a debug build keeps to name systems.
type lossWatch struct {
	queries []*ecs.Query      // by component
	wrote   map[[2]int]string // by component and field: who left it outside of its range
	before  map[[2]int]bool   // what was outside ahead of the system that runs
	running string            // the system or request handler that runs
}

// begin forgets who left what outside in the tick before: what is predicted was rounded
// back into its range.
func (l *losses) begin() {
	for k := range l.wrote {
		if l.p.components[k[0]].predicted {
			delete(l.wrote, k)
		}
	}
}

// beforeSystem remembers what is to be looked at behind a system.
func (l *losses) beforeSystem(w *ecs.World, system int, t Tick) {
	l.running = l.p.schedule.Systems()[system].Name
	clear(l.before)
	l.visit(w, system, func(k [2]int) { l.before[k] = true })
	if !l.due(t) {
		return
	}
	for k, was := range l.last {
		if at := w.Pointer(k.e, l.p.components[k.comp].id); at != nil {
			was.value = l.p.components[k.comp].schema.Raw(k.field, at)
			l.last[k] = was
		}
	}
}

// afterSystem notes what a system changed, and what it left outside of its range.
func (l *losses) afterSystem(w *ecs.World, system int, t Tick) {
	name := l.running
	l.running = ""
	l.visit(w, system, func(k [2]int) {
		if !l.before[k] {
			l.wrote[k] = name
		}
	})
	if !l.due(t) {
		return
	}
	for k, was := range l.last {
		if at := w.Pointer(k.e, l.p.components[k.comp].id); at != nil && l.p.components[k.comp].schema.Raw(k.field, at) != was.value {
			was.system = name
			l.last[k] = was
		}
	}
}

// visit calls found for each field that a system may write and that some entity has
// outside of its range.
func (l *losses) visit(w *ecs.World, system int, found func([2]int)) {
	sys := l.p.schedule.Systems()[system]
	for _, ids := range [][]ecs.ID{sys.Writes, sys.OtherWrites} {
		for _, id := range ids {
			i := l.p.index(id)
			if i < 0 {
				continue
			}
			c := &l.p.components[i]
			for _, rows := range l.queries[i].All(w) {
				for k := range rows.Len() {
					at := unsafe.Add(rows.Column(c.id), uintptr(k)*c.size)
					for f := c.schema.Outside(at, 0); f >= 0; f = c.schema.Outside(at, f+1) {
						found([2]int{i, f})
					}
				}
			}
		}
	}
}

// Losses appends the fields of which the server found values that their tags lose, in
// the order in which it found them, messages included; 256 at most. ServerStats.ValuesOutside and
// ChangesSwallowed are the totals. In a debug build each names the system.
func (s *Server) Losses(dst []Loss) []Loss { return append(dst, s.losses.list...) }

// Losses is [Server.Losses] of what this client predicts, and of the commands and
// requests that it sends.
func (c *Client) Losses(dst []Loss) []Loss { return append(dst, c.losses.list...) }

// lookForLosses looks for what rounding will lose of an entity in a tick that runs for the first
// time; before is nil, or what was recorded for the tick before.
func (c *Client) lookForLosses(before *record, e ecs.Entity) {
	if !c.world.Alive(e) || c.p.foreign {
		return
	}
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted {
			continue
		}
		at := c.world.Pointer(e, comp.id)
		if at == nil {
			continue
		}
		c.losses.bounds(i, at)
		if before == nil {
			continue
		}
		if words := before.find(e, i); words != nil {
			c.losses.grid(e, i, at, words[:comp.schema.Words()])
		}
	}
}

// lookForLosses looks for what rounding will lose in this tick.
func (s *Server) lookForLosses() {
	if !s.losses.due(s.frame.Tick) {
		return
	}
	for _, rows := range s.entities.All(s.world) {
		ids := s.p.identity.Slice(rows)
		for i := range s.p.components {
			c := &s.p.components[i]
			base := rows.Column(c.id)
			if !c.predicted || base == nil {
				continue
			}
			for k := range ids {
				if words := s.source.OwnerWords(snapshot.NetID(ids[k].Net), i); words != nil {
					s.losses.grid(rows.Entity(k), i, unsafe.Add(base, uintptr(k)*c.size), words)
				}
			}
		}
	}
	s.losses.looked()
}
