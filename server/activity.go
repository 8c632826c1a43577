package server

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/stats"
)

// Activity adds to a what the newest tick used, and whether the match has changed in it.
func (in *internals) Activity(a *probe.Activity) {
	first := !a.Known // the first call in this match, or in this server process
	if first {
		a.Known = true
		a.Infos = in.p.Schedule.Systems()
		a.Systems = game.UsableSystems(a.Infos, a.Systems, func(tags []string) bool { return runsOn(tags, in.cfg.Tags) })
		a.Command = in.p.UsableFields(a.Command)
	}
	game.UseSystems(in.sim.world, in.sim.entities, a.Infos, a.Systems)
	in.p.UseCommand(in.sim.world, in.sim.commands, a.Command)
	if a.Changed {
		return
	}
	now := in.sim.activityDigest(in.sessions.players, &in.stats)
	a.Changed = !first && now != a.Newest && now.Players == a.Newest.Players
	a.Newest = now
}

// activityDigest returns a digest that stays the same while nothing happens in the match.
func (m *simulation) activityDigest(players []*player, st *stats.Counters) (d probe.ActivityDigest) {
	for _, p := range players {
		d.Players = d.Players*31 + uint64(p.owner) + 1
	}
	sent := []ecs.ID{m.p.Identity.ID()} // for which entities exist
	for i := range m.p.Components {
		sent = append(sent, m.p.Components[i].ID)
	}
	d.Values = m.world.Hash(m.p.Order, sent...)
	d.Messages = st.MessagesSent + st.Requests
	return d
}
