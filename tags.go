package foretick

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// checkTags checks the tags of a config: a typing mistake would only switch systems off.
func (p *Protocol) checkConfigTags(config string, tags []string) error {
	var errs []error
	for _, tag := range tags {
		switch used := false; {
		case tag == TagServer || tag == TagClient:
			errs = append(errs, fmt.Errorf("foretick: %s.Tags has %q, which this package gives each end: leave it out", config, tag))
		case tag != TagRender:
			for _, s := range p.compiled.schedule.Systems() {
				used = used || slices.Contains(s.Tags, tag)
			}
			if !used {
				errs = append(errs, fmt.Errorf("foretick: %s.Tags has %q, and no system has that tag: declare one with ecs.Tags(%q), or leave it out", config, tag, tag))
			}
		}
	}
	return errors.Join(errs...)
}

// Draw runs the render systems on the newest tick, for a server with a screen of its own
// during development. since is the time since the last call, and is their Frame.DT. Call it
// between Steps, with the tag [TagRender] in [ServerConfig].Tags; it panics with
// [UsageError] without. There is nothing to interpolate: each tick is drawn as it is, with
// every entity. What a render system writes into replicated components stays, so let it only
// read them.
func (s *Server) Draw(since time.Duration) {
	if !slices.Contains(s.cfg.Tags, TagRender) {
		misuse("Server.Draw on a server that draws nothing: add foretick.TagRender to ServerConfig.Tags")
	}
	f := &s.sim.frame
	defer func(dt float32) { f.DT = dt }(f.DT)
	f.DT = float32(since.Seconds())
	s.p.schedule.ExecuteRender(s.sim.world, f)
}
