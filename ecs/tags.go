package ecs

import (
	"fmt"

	"github.com/foretick/foretick/internal/misuse"
)

// SetTags replaces the tags of the world; see [WorldConfig]. From the next run of a
// [Schedule] on, the world runs the systems that have no other tags. Call it outside of
// systems. It panics with [UsageError] in a locked world, and when the game has more than 64
// tags.
func (w *World) SetTags(tags ...string) {
	if w.locks > 0 {
		misuse.Panicf("ecs: SetTags in a locked world: call it outside of systems")
	}
	bits, err := w.types.tagBits(tags)
	if err != nil {
		misuse.Panicf("ecs: SetTags: %v", err)
	}
	w.tags = bits
}

// tagBits returns the bits of tags, and numbers new tags. A game has at most 64.
func (t *Types) tagBits(names []string) (uint64, error) {
	t.tagsMu.Lock()
	defer t.tagsMu.Unlock()
	var m uint64
next:
	for _, n := range names {
		for i, have := range t.tags {
			if have == n {
				m |= 1 << i
				continue next
			}
		}
		if len(t.tags) == maxTags {
			return 0, fmt.Errorf("tag %q is one too many: there can be %d; give systems that run together the same tag", n, maxTags)
		}
		m |= 1 << len(t.tags)
		t.tags = append(t.tags, n)
	}
	return m, nil
}
