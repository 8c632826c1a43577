package trace

import "github.com/foretick/foretick/schema"

// Layout describes what may be in records. Both ends derive it from the protocol.
type Layout struct {
	// Systems are those that both ends run, in running order.
	Systems []System
	// Components are in the registry's order. The command follows them, if there is one.
	Components []Component
	// Prefabs are the names of prefabs, by number.
	Prefabs []string

	words int // words is the number of words of one entity.
}

// System is a system that both ends run.
type System struct {
	Name string
	// Others is set if the system reads or writes entities besides the row that it runs for. Its results may
	// then differ although no code is wrong.
	Others bool
}

// Component is a component whose values may be recorded.
type Component struct {
	Name    string
	Schema  *schema.Schema // Schema is nil if the component is never recorded.
	Command bool           // Command is true if the component is the tick's input.
	Label   func(field string) schema.Label

	at int // at is the place of its words among those of an entity.
}

// NewLayout completes a layout.
func NewLayout(l Layout) *Layout {
	for i := range l.Components {
		c := &l.Components[i]
		c.at = l.words
		if c.Schema != nil {
			l.words += c.Schema.Words()
		}
	}
	return &l
}

// The steps of a tick: the values before its systems, then before and after each, and the end.
const start = 0

// Before returns the step before a shared system, by its index in [Layout.Systems].
func Before(system int) int { return 1 + 2*system }

// After returns the step after a shared system, by its index in [Layout.Systems].
func After(system int) int { return 2 + 2*system }

// Start is the step before all systems of a tick.
func Start() int { return start }

// End returns the step after all systems.
func (l *Layout) End() int { return 1 + 2*len(l.Systems) }

// Steps returns how many steps a tick has.
func (l *Layout) Steps() int { return l.End() + 1 }
