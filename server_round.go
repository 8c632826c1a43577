package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// roundTick rounds predicted values to the simulation step, and clears references to entities
// that are gone, as clients do after their own ticks. Before that it notes what travels of
// the world's own state, its parents and singletons: a save of the tick has that, too. Values out
// of range are counted in the first run of a tick.
func (m *simulation) roundTick(first bool) {
	m.parents.note()
	m.row.take()
	defer m.row.give()
	for _, rows := range m.entities.All(m.world) {
		m.roundRows(rows, first)
	}
}

func (m *simulation) roundRows(rows ecs.Rows, first bool) {
	for i := range m.p.Components {
		c := &m.p.Components[i]
		if !c.Predicted {
			continue
		}
		if base := rows.Column(c.ID); base != nil {
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*c.Size)
				if c.Varies {
					m.countCut(c, at)
				}
				if first {
					m.losses.bounds(i, at)
				}
				c.Schema.Snap(at)
				if len(c.Refs) > 0 {
					c.Schema.DropRefs(at, m.there)
				}
			}
		}
	}
}

// countCut counts a value that cannot be sent whole, and logs the first of each component.
func (m *simulation) countCut(c *layout.Component, at unsafe.Pointer) {
	i := c.Schema.Unfit(at)
	if i < 0 {
		return
	}
	m.stats.ValuesCut++
	if !m.toldCut[c.ID] {
		m.toldCut[c.ID] = true
		f := c.Schema.Field(i)
		m.losses.log.Warn("a string or slice does not fit its tag, and is sent cut", "tick", m.frame.Tick, "component", c.Name, "field", f.Name, "max", f.Most)
	}
}
