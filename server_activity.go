package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
)

// Activity adds what the newest tick had to what earlier ticks had.
func (in serverInternals) Activity(a *probe.Activity) {
	first := !a.Known // of the match, or of this server process
	if first {
		a.Known = true
		a.Infos = in.s.p.schedule.Systems()
		a.Systems, a.Command = in.s.usableSystems(a.Infos, a.Systems), in.s.usableFields(a.Command)
	}
	in.s.useSystems(a.Infos, a.Systems)
	in.s.useCommand(a.Command)
	if a.Changed {
		return
	}
	now := in.s.activityDigest()
	a.Changed = !first && now != a.Newest && now.Players == a.Newest.Players
	a.Newest = now
}

// usableSystems returns the systems of ticks, with what is known of those in before.
func (s *Server) usableSystems(infos []ecs.SystemInfo, before []probe.Used) (all []probe.Used) {
	for _, sys := range infos {
		none := sys.Once || sys.Render || !runsOn(sys.Tags, s.cfg.Tags)
		all = append(all, probe.Used{Name: sys.Name, Ever: none || usedBefore(before, sys.Name)})
	}
	return all
}

// usableFields returns the fields of the command, with what is known of those in before.
func (s *Server) usableFields(before []probe.Used) (all []probe.Used) {
	if s.p.Command == nil {
		return nil
	}
	for _, f := range s.p.Command.Schema.Fields() {
		name := s.p.Command.Name + "." + f.Name
		all = append(all, probe.Used{Name: name, Ever: usedBefore(before, name)})
	}
	return all
}

func usedBefore(all []probe.Used, name string) bool {
	return slices.Contains(all, probe.Used{Name: name, Ever: true})
}

func notUsed(u probe.Used) bool { return !u.Ever }

// useSystems marks the systems that match a row now.
func (s *Server) useSystems(infos []ecs.SystemInfo, all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	for _, rows := range s.sim.entities.All(s.sim.world) {
		if rows.Len() == 0 {
			continue
		}
		mask := s.sim.world.Mask(rows.Entity(0))
		for i := range all {
			all[i].Ever = all[i].Ever || mask.Contains(infos[i].With) && !mask.Overlaps(infos[i].Without)
		}
	}
}

// useCommand marks the fields that are not zero now in some player's command.
func (s *Server) useCommand(all []probe.Used) {
	if !slices.ContainsFunc(all, notUsed) {
		return
	}
	c := s.p.Command
	zero, words := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(c.New(), schema.GridPublic, sameEntity{}, zero)
	for _, rows := range s.sim.commands.All(s.sim.world) {
		at := rows.Column(c.ID)
		for i := range rows.Len() {
			c.Schema.Quantise(unsafe.Add(at, uintptr(i)*c.Size), schema.GridPublic, sameEntity{}, words)
			for f := range all {
				all[f].Ever = all[f].Ever || c.Schema.Differs(f, zero, words)
			}
		}
	}
}

func (s *Server) activityDigest() (d probe.ActivityDigest) {
	for _, p := range s.sessions.players {
		d.Players = d.Players*31 + uint64(p.owner) + 1
	}
	sent := []ecs.ID{s.p.identity.ID()} // which entities there are
	for i := range s.p.Components {
		sent = append(sent, s.p.Components[i].ID)
	}
	d.Values = s.sim.world.Hash(s.p.order, sent...)
	d.Messages = s.stats.MessagesSent + s.stats.Requests
	return d
}

// sameEntity keeps references as they are, as far as a number of 32 bits can.
type sameEntity struct{}

func (sameEntity) Net(entity uint64) uint32 { return uint32(entity) }
func (sameEntity) Entity(ref uint32) uint64 { return uint64(ref) }
