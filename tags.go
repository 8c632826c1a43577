package foretick

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
)

// checkTags refuses systems that would run on neither end, and tags that cannot be sent. It
// numbers those of shared systems.
func (p *Protocol) checkTags() {
	all := map[string]bool{TagServer: true, TagClient: true, TagRender: true}
	for _, s := range p.compiled.schedule.Systems() {
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

// A world has room for standard.MaxTags tags, of which some are the package's.
const (
	packageTags = 3
	mostTags    = standard.MaxTags - packageTags
)

// checkConfigTags checks the tags of a config: a typing mistake would only switch systems off.
// The server decides which tags of shared systems a match has.
func (p *Protocol) checkConfigTags(config string, tags []string) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("foretick: "+format, args...)) }
	for _, tag := range tags {
		used, shared := false, ""
		for _, s := range p.compiled.schedule.Systems() {
			if slices.Contains(s.Tags, tag) {
				used = true
				if layout.Shared(s) {
					shared = s.Name
				}
			}
		}
		switch {
		case tag == TagServer || tag == TagClient:
			fault("%s.Tags has %q, which this package gives each end: leave it out", config, tag)
		case !used && tag != TagRender:
			fault("%s.Tags has %q, and no system has that tag: declare one with ecs.Tags(%q), or leave it out", config, tag, tag)
		case shared != "" && config == clientConfig:
			fault("%s.Tags has %q, a tag of shared system %q, which both ends run alike: put it into ServerConfig.Tags, and the server tells its clients", config, tag, shared)
		}
	}
	return errors.Join(errs...)
}

const (
	serverConfig = "ServerConfig"
	clientConfig = "ClientConfig"
)
