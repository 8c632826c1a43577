package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// partial wraps a system that runs for parts of ticks too, so that it is known what of
// which entities a part has computed.
func (p *Protocol) partial(name string, run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	components := new(schema.MaskBuilder)
	p.partials = append(p.partials, partialSystem{name, components})
	return func(f *Frame, rows ecs.Rows) {
		if f.partial {
			f.client.drawsPartly(rows, components)
		}
		run(f, rows)
	}
}

// partialSystem is a shared system declared with ecs.Partial.
type partialSystem struct {
	name       string
	components *schema.MaskBuilder // those that it writes of its rows
}

// checkPartial refuses systems of which no part of a tick can be drawn, and notes what the
// others write.
func (p *Protocol) checkPartial() {
	for _, s := range p.compiled.schedule.Systems() {
		if !s.Partial {
			continue
		}
		if s.Once || !layout.Shared(s) {
			p.faultf("system %q is declared with ecs.Partial, and only shared systems with rows can run for a part of a tick: leave it out", s.Name)
			continue
		}
		for _, of := range p.partials {
			for _, id := range s.Writes {
				if i := p.compiled.Index(id); of.name == s.Name && i >= 0 {
					of.components.Set(i)
				}
			}
		}
	}
}
