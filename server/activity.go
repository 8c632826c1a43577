package server

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// Activity adds to a what the newest tick used, and whether the match has changed in it.
func (in *internals) Activity(a *probe.Activity) {
	first := !a.Known // the first call in this match, or in this server process
	if first {
		a.Known = true
		a.Infos = in.p.Schedule.Systems()
		a.Systems, a.Command = usableSystems(a.Infos, a.Systems, in.cfg.Tags), usableFields(in.p, a.Command)
	}
	in.sim.useSystems(a.Infos, a.Systems)
	in.sim.useCommand(a.Command)
	if a.Changed {
		return
	}
	now := in.sim.activityDigest(in.sessions.players, &in.stats)
	a.Changed = !first && now != a.Newest && now.Players == a.Newest.Players
	a.Newest = now
}

// usableSystems returns the systems that may run in the ticks of a server with tags. Ever is kept from
// before, and true for systems that match no rows.
func usableSystems(infos []ecs.SystemInfo, before []probe.Used, tags []string) (all []probe.Used) {
	for _, sys := range infos {
		none := sys.Once || sys.Render || !runsOn(sys.Tags, tags)
		all = append(all, probe.Used{Name: sys.Name, Ever: none || usedBefore(before, sys.Name)})
	}
	return all
}

// usableFields returns the fields of the command. Ever is kept from before.
func usableFields(p *compiled, before []probe.Used) (all []probe.Used) {
	if p.Command == nil {
		return nil
	}
	for _, f := range p.Command.Schema.Fields() {
		name := p.Command.Name + "." + f.Name
		all = append(all, probe.Used{Name: name, Ever: usedBefore(before, name)})
	}
	return all
}

func usedBefore(all []probe.Used, name string) bool {
	return slices.Contains(all, probe.Used{Name: name, Ever: true})
}

func notUsed(u probe.Used) bool { return !u.Ever }

// useSystems sets Ever of the systems that match a row now.
func (m *simulation) useSystems(infos []ecs.SystemInfo, all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	for _, rows := range m.entities.All(m.world) {
		if rows.Len() == 0 {
			continue
		}
		mask := ecs.Engine(m.world).Mask(rows.Entity(0))
		for i := range all {
			all[i].Ever = all[i].Ever || mask.Contains(infos[i].With) && !mask.Overlaps(infos[i].Without)
		}
	}
}

// useCommand sets Ever of the command's fields that are not zero now for some player.
func (m *simulation) useCommand(all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	c := m.p.Command
	zero, words := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(c.New(), schema.GridPublic, sameEntity{}, zero)
	for _, rows := range m.commands.All(m.world) {
		at := rows.Column(c.ID)
		for i := range rows.Len() {
			c.Schema.Quantise(unsafe.Add(at, uintptr(i)*c.Size), schema.GridPublic, sameEntity{}, words)
			for f := range all {
				all[f].Ever = all[f].Ever || c.Schema.Differs(f, zero, words)
			}
		}
	}
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

// sameEntity keeps references as they are, as far as 32 bits allow.
type sameEntity struct{}

func (sameEntity) Net(entity uint64) uint32 { return uint32(entity) }

func (sameEntity) Entity(ref uint32) uint64 { return uint64(ref) }
