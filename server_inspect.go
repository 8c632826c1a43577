package foretick

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// inspected is what package inspect adds to a server while somebody looks.
type inspected struct {
	tap   atomic.Pointer[probe.Tap] // nil: nobody looks
	began time.Duration             // of the tick, by the server's Clock
	bytes *snapshot.Profile         // nil: they are not counted
}

// begin returns the tap of the tick that begins, nil for none.
func (in *inspected) begin(times *systemTimes) *probe.Tap {
	tap := in.tap.Load()
	if tap != nil && times.clock != nil {
		in.began = times.clock()
	}
	return tap
}

// tapped calls the tap of a tick.
func (s *Server) tapped(tap *probe.Tap, now time.Duration) {
	t := probe.Tapped{Tick: s.sim.frame.Tick, Late: now - s.clock.due(s.sim.frame.Tick)}
	if s.times.clock != nil {
		t.Took = s.times.clock() - s.inspected.began
	}
	s.board.postAll(&s.stats, &s.sessions)
	tap.Call(t)
}

// profile returns what counts the bytes of snapshots, nil if nothing does.
func (s *Server) profile() *snapshot.Profile {
	if s.bandwidth != nil {
		return s.bandwidth.down
	}
	return s.inspected.bytes
}

func (in serverInternals) Tap() *probe.Tap       { return in.s.inspected.tap.Load() }
func (in serverInternals) SetTap(tap *probe.Tap) { in.s.inspected.tap.Store(tap) }

func (in serverInternals) Layout() *layout.Layout { return &in.s.p.Layout }

func (in serverInternals) Label(component, field string) schema.Label {
	return in.s.p.labels.Of(component, field)
}

func (in serverInternals) Graph() (text, dot string) { return in.s.cfg.Protocol.Graph() }
func (in serverInternals) Systems() []ecs.SystemInfo { return in.s.p.schedule.Systems() }
func (in serverInternals) Audiences() []string       { return in.s.cfg.Protocol.audiences }

func (in serverInternals) Named(e ecs.Entity) (net uint32, prefab string, ok bool) {
	id := in.s.p.identity.Find(in.s.sim.world, e)
	if k := in.s.p.prefabNamed(id); k != nil {
		return id.Net, k.ECS.Name(), true
	}
	return 0, "", false
}

func (in serverInternals) CountBytes(on bool) {
	s := in.s
	if s.inspected.bytes = nil; on && s.bandwidth == nil {
		s.inspected.bytes = snapshot.NewProfile(s.p.Registry)
	}
	for _, p := range s.sessions.players {
		if p.outbox.sender != nil {
			p.outbox.sender.SetProfile(s.profile())
		}
	}
}

func (in serverInternals) Counted(dst [][2]string) [][2]string {
	return countedLines(in.s.p.Registry, dst)
}

func (in serverInternals) CountedBytes(dst []float64) []float64 {
	if p := in.s.profile(); p != nil {
		return p.Sums(dst)
	}
	return dst
}

func (in serverInternals) Seats(dst []probe.Seat) []probe.Seat {
	s := in.s
	for _, p := range s.sessions.players {
		state, ok := map[playerState]string{playing: "playing", away: "away", local: "local", watching: "observing"}[p.session.state]
		if !ok {
			continue
		}
		seat := probe.Seat{Player: p.owner, State: state, Team: p.interest.team, Identity: string(p.session.identity), Address: p.session.address}
		seat.Near, seat.Eye, seat.Hidden = p.interest.hasEye, p.interest.eye, len(p.interest.hides)
		if p.observing == nil {
			for _, rows := range s.sim.entities.Owned(s.sim.world, p.owner) {
				seat.Owns += rows.Len()
			}
		}
		dst = append(dst, seat)
	}
	return dst
}

func (in serverInternals) Sight(player ecs.Owner, e ecs.Entity) (probe.Sight, bool) {
	s := in.s
	p, id := s.sessions.player(player), s.p.identity.Find(s.sim.world, e)
	k := s.p.prefabNamed(id)
	if p == nil || k == nil {
		return probe.Sight{}, false
	}
	owner := s.sim.world.Owner(e)
	out := probe.Sight{
		Own: owner == p.owner || owner == ecs.Nobody && k.Common, Hidden: p.interest.hides[e], Private: k.ClientOnly() && owner != ecs.Nobody,
		Team: p.interest.team, Of: s.teamOf(e, owner), Plays: p.session.state == playing || p.session.state == local,
	}
	if p.outbox.sender != nil {
		_, out.Known = p.outbox.sender.Known(snapshot.NetID(id.Net))
		out.Audience = p.outbox.sender.Audience(snapshot.NetID(id.Net))
	}
	out.Interest = s.interestIn(p, e, id)
	return out, true
}

// interestIn says what the distances decide of an entity for a player.
func (s *Server) interestIn(p *player, e ecs.Entity, id *networkID) (out probe.Interest) {
	v, it := s.interest.survey, s.p.handlers.interest
	if v == nil || p.interest.near == nil {
		return out
	}
	out.On, out.Relevant, out.Distance = true, p.interest.near.Has(snapshot.NetID(id.Net)), -1
	area := v.area.Config()
	out.Enter, out.Leave = area.Enter, area.Leave
	if fn := s.p.handlers.relevant[id.Prefab]; fn != nil {
		r := fn(&s.sim.frame, p.owner, e)
		out.Asked, out.Always, out.Never = true, r == snapshot.Always, r == snapshot.Never
	}
	v.eyes = v.eyes[:0]
	v.addEyes(&s.sim, p, nil)
	out.Eyes = len(v.eyes)
	at := s.sim.world.Pointer(e, s.p.Components[it.comp].ID)
	if out.Placed = at != nil; at == nil {
		return out
	}
	x, y, z := it.at(at)
	for _, eye := range v.eyes {
		dx, dy, dz := float64(x-eye[0]), float64(y-eye[1]), float64(z-eye[2])
		if d := float32(math.Hypot(math.Hypot(dx, dy), dz)); out.Distance < 0 || d < out.Distance {
			out.Distance = d
		}
	}
	return out
}
