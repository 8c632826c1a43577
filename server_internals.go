package foretick

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Internals returns the server's internal state for the packages simtest, inspect and expert.
// Games have no use for it: its type is internal.
func (s *Server) Internals() probe.Server { return serverInternals{s} }

type serverInternals struct{ s *Server }

func (in serverInternals) Queued(player PlayerID) int {
	if p := in.s.sessions.player(player); p != nil {
		return p.queued()
	}
	return 0
}

func (in serverInternals) Interval() time.Duration { return in.s.clock.interval }

func (in serverInternals) LateTicks() int { return int(in.s.cfg.lateTicks()) }

func (in serverInternals) SyncTest(ticks int, found func(probe.Desync)) error {
	return in.s.late.beginSyncTest(ticks, found)
}

func (in serverInternals) Hash() uint64 { return in.s.sim.world.Hash(in.s.p.order) }

func (in serverInternals) Commanded() bool {
	if in.s.p.Command == nil {
		return true
	}
	for _, rows := range in.s.sim.commands.All(in.s.sim.world) {
		if rows.Len() > 0 && in.s.sessions.player(rows.Owner()) != nil {
			return true
		}
	}
	return false
}

func (in serverInternals) Losses(dst []stats.Loss) []stats.Loss {
	return append(dst, in.s.sim.losses.list...)
}

func (in serverInternals) SystemTimes() []figures.System { return in.s.times.each }

func (in serverInternals) Bandwidth() []stats.Bandwidth { return in.s.bandwidthLines() }

func (in serverInternals) SetLateInputs(player PlayerID, on bool) bool {
	return in.s.setLateInputs(player, on)
}

func (in serverInternals) RemeasureLatency(player PlayerID) bool {
	return in.s.remeasureLatency(player)
}

func (in serverInternals) SetArchitecture(name string) {
	in.s.outside(tape.Call{Op: tape.Architecture, Text: name})
	in.s.sessions.architecture = name
}

func (in serverInternals) OnMessage(fn func(probe.MessageSent)) {
	in.s.hooks.message = append(in.s.hooks.message, fn)
}

func (in serverInternals) OnRequest(fn func(probe.RequestTaken)) {
	in.s.hooks.request = append(in.s.hooks.request, fn)
}

func (in serverInternals) OnPanic(fn func(probe.Panicked)) {
	in.s.hooks.panicked = append(in.s.hooks.panicked, fn)
}

func (in serverInternals) OnSettled(fn func(probe.Settled)) {
	in.s.hooks.settled = append(in.s.hooks.settled, fn)
}

// StateHash leaves out the component that holds the network's names.
func (in serverInternals) StateHash() uint64 {
	var ids []ecs.ID
	for id := range ecs.ID(in.s.p.Types.Len()) {
		if id != in.s.p.identity.ID() {
			ids = append(ids, id)
		}
	}
	return in.s.sim.world.Hash(in.s.p.order, ids...)
}

func (in serverInternals) OnCall(fn func(name string)) {
	in.s.hooks.call = append(in.s.hooks.call, fn)
}

func (in serverInternals) ScreenHash(player PlayerID) probe.ScreenHash {
	p, now := in.s.sessions.player(player), in.s.sim.frame.Tick
	if p == nil || p.session.state != playing || p.outbox.sender == nil || now%p.outbox.every != 0 {
		return probe.ScreenHash{}
	}
	out := probe.ScreenHash{Tick: now}
	out.Digest, out.Fields = p.outbox.sender.Hash()
	return out
}

func (in serverInternals) Peer(player PlayerID) transport.PeerID {
	if p := in.s.sessions.player(player); p != nil {
		return p.session.peer
	}
	return 0
}

func (in serverInternals) Verdict(player PlayerID) rewind.Verdict {
	if p := in.s.sessions.player(player); p != nil {
		return p.shooter.Verdict()
	}
	return rewind.Verdict{}
}

func (in serverInternals) Entities(player PlayerID) ([]probe.ServerEntity, bool) {
	p := in.s.sessions.player(player)
	if p == nil || p.session.state != playing {
		return nil, false
	}
	var all []probe.ServerEntity
	for _, rows := range in.s.sim.entities.All(in.s.sim.world) {
		for i, id := range in.s.p.identity.Slice(rows) {
			all = append(all, in.s.concerning(p, rows.Entity(i), id))
		}
	}
	slices.SortFunc(all, func(a, b probe.ServerEntity) int { return cmp.Compare(a.Net, b.Net) })
	return all, true
}

// concerning describes an entity as the server has it for a player.
func (s *Server) concerning(p *player, e ecs.Entity, id networkID) probe.ServerEntity {
	net, kind := snapshot.NetID(id.Net), &s.p.Prefabs[id.Prefab]
	owner := s.sim.world.Owner(e)
	out := probe.ServerEntity{
		Entity: e, Net: id.Net, Prefab: kind.ECS.Name(), Hidden: p.interest.hides[e],
		Own: owner == p.owner || owner == ecs.Nobody && kind.Common,
	}
	if w, ok := p.outbox.sender.Known(net); ok {
		out.Wire, out.Audience = w, p.outbox.sender.Audience(net)
	}
	if p.interest.near != nil && !out.Own {
		out.Hidden = out.Hidden || !p.interest.near.Has(net)
	}
	return out
}

func (in serverInternals) Words(e *probe.ServerEntity, comp int) []int32 {
	return in.s.senders.source.Words(snapshot.NetID(e.Net), comp, e.Audience)
}

func (in serverInternals) Wire(player PlayerID, net uint32) schema.WireID {
	p := in.s.sessions.player(player)
	if p == nil || net == 0 {
		return 0
	}
	w, _ := p.outbox.sender.Known(snapshot.NetID(net))
	return w
}
