package layout

import (
	"slices"

	"github.com/foretick/foretick/ecs"
)

// Tags with a meaning of their own. The worlds of the server and the clients have them.
const (
	TagServer = "server"
	TagClient = "client"
	TagRender = "render"
)

// Shared reports whether both ends run a system: always, or in matches that have its tags.
func Shared(s ecs.SystemInfo) bool {
	return !s.Render && !slices.Contains(s.Tags, TagServer) && !slices.Contains(s.Tags, TagClient)
}

// TagBits returns the bits of those tags that shared systems have.
func (l *Layout) TagBits(tags []string) (bits uint64) {
	for i, tag := range l.Tags {
		if slices.Contains(tags, tag) {
			bits |= 1 << i
		}
	}
	return bits
}
