package server

import (
	"hash/fnv"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/tape"
)

// Draw runs the render systems on the newest tick, for a server with its own screen during development.
// since is the time since the last call, and is their Frame.DT. Call it between Steps, with the tag
// [foretick.TagRender] in [Config].Tags; it panics with [foretick.UsageError] without. There is nothing
// to interpolate: each tick is drawn as it is, with every entity. The values that a render system
// writes into replicated components stay, so let it only read them: builds with the tag foretick_debug
// panic with [foretick.UsageError] after one that does. Draw panics with UsageError too in a function
// that the server calls, such as a system.
func (s *Server) Draw(since time.Duration) {
	if !slices.Contains(s.cfg.Tags, foretick.TagRender) {
		misuse.Panicf("foretick: Server.Draw on a server that draws nothing: add foretick.TagRender to server.Config.Tags")
	}
	if s.run.defers() || s.run.inside != "" {
		misuse.Panicf("foretick: Server.Draw in a function that the server calls: a system, a handler or a hook must not call it")
	}
	s.run.inside = "Draw"
	defer func() { s.run.inside = "" }()
	s.tape.outside(tape.Call{Op: tape.Draw, Time: since})
	f := &s.sim.frame
	defer func(dt float32) { f.DT = dt }(f.DT)
	f.DT = float32(since.Seconds())
	if !game.DebugBuild {
		s.p.Schedule.ExecuteRender(s.sim.world, f)
		return
	}
	before := s.replicated()
	s.p.Schedule.ExecuteRender(s.sim.world, f)
	if s.replicated() != before {
		misuse.Panicf("foretick: a render system wrote replicated components in Server.Draw, and changed the match: let it only read them; those that declare to write are %q", renderWriters(s.p))
	}
}

// replicated returns a hash of the memory of all replicated components.
func (s *Server) replicated() uint64 {
	h := fnv.New64a()
	for _, rows := range s.sim.entities.All(s.sim.world) {
		for i := range s.p.Components {
			c := &s.p.Components[i]
			if base := rows.Column(c.ID); base != nil && c.Size > 0 {
				_, _ = h.Write(unsafe.Slice((*byte)(base), uintptr(rows.Len())*c.Size)) // it never fails
			}
		}
	}
	return h.Sum64()
}

// renderWriters returns the render systems that declare to write replicated components.
func renderWriters(p *compiled) (names []string) {
	for _, sys := range p.Schedule.Systems() {
		if sys.Render && slices.ContainsFunc(slices.Concat(sys.Writes, sys.OtherWrites), func(id ecs.ID) bool { return p.Index(id) >= 0 }) {
			names = append(names, sys.Name)
		}
	}
	return names
}
