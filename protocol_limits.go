package foretick

import (
	"fmt"
	"strings"

	"github.com/foretick/foretick/ecs"
)

// mostComponents is the greatest number of replicated components of a game: singletons and
// the library's own included.
const mostComponents = 64

// checkCounts refuses more replicated components than a game may have, and names their
// number by kind.
func (p *Protocol) checkCounts() {
	singles := 0
	for i := range p.compiled.Components {
		if p.compiled.Components[i].Singleton >= 0 {
			singles++
		}
	}
	var kinds []string
	all := 0
	add := func(n int, what string) {
		if n > 0 {
			all += n
			kinds = append(kinds, fmt.Sprintf("%d %s", n, what))
		}
	}
	singles, own := singles+p.surplus.singles, len(p.compiled.Components)-singles+p.surplus.components
	if p.compiled.hierarchy {
		own--
	}
	add(own, "registered")
	add(singles, "singletons")
	if p.compiled.hierarchy {
		add(1, "for Hierarchy")
	}
	matched, clientOnly, interpolated := 0, 0, 0
	for i := range p.compiled.Prefabs {
		k := &p.compiled.Prefabs[i]
		if k.Matched() {
			matched = 1
		}
		if k.ClientOnly() {
			clientOnly = 1
		}
		if k.Interpolated {
			interpolated = 1
		}
	}
	add(matched+clientOnly, "for Spawns")
	add(interpolated, "for Interpolated")
	if all > mostComponents {
		p.surplus.told = true
		p.faultf("%d replicated components (%s): use up to %d, and merge small ones", all, strings.Join(kinds, ", "), mostComponents)
	}
}

// full reports whether there is no room for one more type, and says so once, with the number
// of types by kind.
func (p *Protocol) full() bool {
	if p.compiled.Types.Len() < ecs.MaxTypes {
		return false
	}
	if p.crowded {
		return true
	}
	p.crowded = true
	singles, command := len(p.compiled.singletons), 0
	if p.compiled.Command != nil {
		command = 1
	}
	p.faultf("more than %d types (%d components, %d singletons, %d local components, %d command, and the library's own): use fewer, and merge small ones",
		ecs.MaxTypes, len(p.compiled.Components)-singles, singles, len(p.compiled.Locals), command)
	return true
}

// surplus counts declarations of replicated components for which there is no room.
type surplus struct {
	components, singles int
	told                bool // so the registry's own refusals say nothing new
}
