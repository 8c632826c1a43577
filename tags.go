package foretick

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
)

// checkTags refuses systems that would run on neither end, and tags that cannot be sent. It numbers the
// tags of shared systems.
func (p *Protocol) checkTags() {
	all := map[string]bool{TagServer: true, TagClient: true, TagRender: true}
	for _, s := range p.compiled.Schedule.Systems() {
		on := map[string]bool{}
		for _, tag := range s.Tags {
			all[tag] = true
			if layout.Shared(s) && !slices.Contains(p.compiled.Tags, tag) {
				p.compiled.Tags = append(p.compiled.Tags, tag)
			}
			if on[tag] = true; tag == "" {
				p.faultf("system %q has an empty tag, which no world has: name it, or drop it", s.Name)
			} else {
				p.named(fmt.Sprintf("system %q: tag", s.Name), tag)
			}
		}
		switch {
		case on[TagServer] && on[TagClient]:
			p.faultf("system %q has the tags of both ends, and would run on neither: declare it with Server, Render or Shared alone", s.Name)
		case s.Render && !on[TagRender]:
			p.faultf("system %q is shared and a render system: declare it with Render", s.Name)
		case layout.Shared(s) && on[TagRender]:
			p.faultf("shared system %q has the tag %q of ends that draw, and runs in ticks: declare it with Render, or drop the tag", s.Name, TagRender)
		}
	}
	if own := len(all) - packageTags; own > mostTags {
		p.faultf("systems have %d tags of the game's own: use up to %d, and give systems that run together the same tag", own, mostTags)
	}
}

// A world has room for standard.MaxTags tags. Some of them are the package's own.
const (
	packageTags = 3
	mostTags    = standard.MaxTags - packageTags
)
