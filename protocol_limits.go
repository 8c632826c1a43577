package foretick

import (
	"fmt"
	"strings"

	"github.com/foretick/foretick/ecs"
)

// Schema appends a description of the protocol to dst and returns it, for tools that read
// packets or recordings without the game's types. docs/STANDARD.md has its form, and
// [schema.ReadProtocol] reads it. Call Schema after all declarations, as [Protocol.Err].
func (p *Protocol) Schema(dst []byte) []byte {
	_ = p.Err()
	return p.compiled.Parts().Append(dst)
}

// Limits of a game's declarations. Each type also counts towards [ecs.MaxTypes].
const (
	mostComponents = 128 // replicated components with the library's own, without singletons
	mostSingletons = 128
)

// checkCounts refuses more replicated components or singletons than a game may have. The fault says how
// many components there are of each kind.
func (p *Protocol) checkCounts() {
	singles := len(p.compiled.Singletons)
	if singles > mostSingletons {
		p.faultf("%d singletons: use up to %d, and merge small ones", singles, mostSingletons)
	}
	var kinds []string
	all := 0
	add := func(n int, what string) {
		if n > 0 {
			all += n
			kinds = append(kinds, fmt.Sprintf("%d %s", n, what))
		}
	}
	own := len(p.compiled.Components) - singles
	if p.compiled.HasParents {
		own--
	}
	add(own, "registered")
	if p.compiled.HasParents {
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
		p.faultf("%d replicated components (%s): use up to %d, and merge small ones", all, strings.Join(kinds, ", "), mostComponents)
	}
}

// typesFull reports whether there is no room for one more type. The first time, it notes a fault with
// the number of types of each kind.
func (p *Protocol) typesFull() bool {
	if p.compiled.Types.Len() < ecs.MaxTypes {
		return false
	}
	if p.crowded {
		return true
	}
	p.crowded = true
	singles, command := len(p.compiled.Singletons), 0
	if p.compiled.Command != nil {
		command = 1
	}
	p.faultf("more than %d types (%d components, %d singletons, %d local components, %d command, and the library's own): use fewer, and merge small ones",
		ecs.MaxTypes, len(p.compiled.Components)-singles, singles, len(p.compiled.Locals), command)
	return true
}
