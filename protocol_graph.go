package foretick

import "fmt"

// Graph returns the schedule of the protocol's systems, as text and as a graph for
// Graphviz's dot. It shows the stages, the systems in running order, their reads and
// writes, which must run before which, and why. It also shows conflicts. A conflict is two
// systems that touch the same component, at least one writing, and that run in order of
// declaration because nothing else orders them. Resolve it with [ecs.Before] or
// [ecs.After].
//
// A server system has the tag "server", and a render system the tag "render". A shared system
// has neither. Graph ends the declaration as [Protocol.Err] does. If Err reports faults, the
// order is that of declaration.
func (p *Protocol) Graph() (text, dot string) {
	_ = p.Err()
	text = fmt.Sprintf("%s: %d systems, %d ticks a second\n%s", p.compiled.Name, len(p.systems), p.compiled.TickRate, p.compiled.schedule)
	return text, p.compiled.schedule.DOT()
}
