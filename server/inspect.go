package server

import (
	"cmp"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// inspected has the data that package inspect sets on a server while it inspects the server.
type inspected struct {
	tap   atomic.Pointer[probe.Tap] // nil: nothing is inspected
	began time.Duration             // when the tick began, by the server's Clock
}

// begin returns the tap for the tick that begins, or nil if there is none.
func (in *inspected) begin(times *systemTimes) *probe.Tap {
	tap := in.tap.Load()
	if tap != nil && times.clock != nil {
		in.began = times.clock()
	}
	return tap
}

// tapped calls the tap at the end of a tick.
func (s *Server) tapped(tap *probe.Tap, now time.Duration) {
	t := probe.Tapped{Tick: s.sim.frame.Tick, Late: now - s.clock.due(s.sim.frame.Tick)}
	if s.times.clock != nil {
		t.Took = s.times.clock() - s.inspected.began
	}
	s.board.postAll()
	tap.Call(t)
}

func (in *internals) Tap() *probe.Tap       { return in.inspected.tap.Load() }
func (in *internals) SetTap(tap *probe.Tap) { in.inspected.tap.Store(tap) }

func (in *internals) Layout() *layout.Layout { return &in.p.Layout }

func (in *internals) Label(component, field string) schema.Label {
	return in.p.Labels.Of(component, field)
}

func (in *internals) Graph() (text, dot string) { return in.cfg.Protocol.Graph() }
func (in *internals) Systems() []ecs.SystemInfo { return in.p.Schedule.Systems() }
func (in *internals) Audiences() []string       { return compiledOf(in.cfg.Protocol).Audiences }

func (in *internals) Named(e ecs.Entity) (net uint32, prefab string, ok bool) {
	id := in.p.Identity.Find(in.sim.world, e)
	if k := in.p.PrefabNamed(id); k != nil {
		return id.Net, k.ECS.Name(), true
	}
	return 0, "", false
}

func (in *internals) CountBytes(on bool) {
	s := in
	if s.senders.watched = nil; on && s.senders.traffic == nil {
		s.senders.watched = snapshot.NewProfile(s.p.Registry)
	}
	for _, p := range s.sessions.players {
		if p.outbox.sender != nil {
			p.outbox.sender.SetProfile(s.senders.profile())
		}
	}
}

func (in *internals) Counted(dst [][2]string) [][2]string {
	return game.CountedLines(in.p.Registry, dst)
}

func (in *internals) CountedBytes(dst []float64) []float64 {
	if p := in.senders.profile(); p != nil {
		return p.Sums(dst)
	}
	return dst
}

func (in *internals) Seats(dst []probe.Seat) []probe.Seat {
	s := in
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

func (in *internals) Sight(player ecs.Owner, e ecs.Entity) (probe.Sight, bool) {
	s := in
	p, id := s.sessions.player(player), s.p.Identity.Find(s.sim.world, e)
	k := s.p.PrefabNamed(id)
	if p == nil || k == nil {
		return probe.Sight{}, false
	}
	owner := s.sim.world.Owner(e)
	out := probe.Sight{
		Own: owner == p.owner || owner == ecs.Nobody && k.Common, Hidden: p.interest.hides[e], Private: k.ClientOnly() && owner != ecs.Nobody,
		Team: p.interest.team, Of: s.interest.teamOf(e, owner), Plays: p.session.state == playing || p.session.state == local,
	}
	if p.outbox.sender != nil {
		_, out.Known = p.outbox.sender.Known(snapshot.NetID(id.Net))
		out.Audience = p.outbox.sender.Audience(snapshot.NetID(id.Net))
	}
	out.Interest = s.interestIn(p, e, id)
	return out, true
}

// interestIn returns the decision of the distances about an entity for a player.
func (in *internals) interestIn(p *player, e ecs.Entity, id *game.NetworkID) (out probe.Interest) {
	v, it := in.interest.survey, in.p.Interest
	if v == nil || p.interest.near == nil {
		return out
	}
	out.On, out.Relevant, out.Distance = true, p.interest.near.Has(snapshot.NetID(id.Net)), -1
	area := v.area.Config()
	out.Enter, out.Leave = area.Enter, area.Leave
	if fn := in.p.Handlers.Relevant[id.Prefab]; fn != nil {
		r := fn(&in.sim.frame, p.owner, e)
		out.Asked, out.Always, out.Never = true, r == snapshot.Always, r == snapshot.Never
	}
	v.eyes = v.eyes[:0]
	v.addEyes(&in.sim, p, nil)
	out.Eyes = len(v.eyes)
	at := ecs.Engine(in.sim.world).Pointer(e, in.p.Components[it.Component].ID)
	if out.Placed = at != nil; at == nil {
		return out
	}
	x, y, z := it.At(at)
	for _, eye := range v.eyes {
		dx, dy, dz := float64(x-eye[0]), float64(y-eye[1]), float64(z-eye[2])
		if d := float32(math.Hypot(math.Hypot(dx, dy), dz)); out.Distance < 0 || d < out.Distance {
			out.Distance = d
		}
	}
	return out
}

func init() { probe.OfServer = func(s any) probe.Server { return (*internals)(s.(*Server)) } }

// internals is a Server with the methods for simtest, inspect and host.
type internals Server

func (in *internals) Recorder() io.WriterTo { return in.cfg.Recorder }

func (in *internals) Queued(player foretick.PlayerID) int {
	if p := in.sessions.player(player); p != nil {
		return p.queued()
	}
	return 0
}

func (in *internals) Interval() time.Duration { return in.clock.interval }

func (in *internals) LateTicks() int { return int(in.cfg.lateTicks()) }

// MaxRewind implements [probe.Server].
func (in *internals) MaxRewind() time.Duration { return in.cfg.MaxRewind }

func (in *internals) SyncTest(ticks int, found func(probe.Desync)) error {
	return in.reruns.beginSyncTest(ticks, found)
}

func (in *internals) Hash() uint64 { return in.sim.world.Hash(in.p.Order) }

func (in *internals) Commanded() bool {
	if in.p.Command == nil {
		return true
	}
	for _, rows := range in.sim.commands.All(in.sim.world) {
		if rows.Len() > 0 && in.sessions.player(rows.Owner()) != nil {
			return true
		}
	}
	return false
}

func (in *internals) SystemTimes() []stats.System { return in.times.each }

func (in *internals) StartAt(t foretick.Tick) {
	in.sim.frame.Tick = t
	in.clock.startAfter(t)
}

func (in *internals) SetArchitecture(name string) {
	in.tape.outside(tape.Call{Op: tape.Architecture, Text: name})
	in.sessions.architecture = name
}

func (in *internals) OnMessage(fn func(probe.MessageSent)) {
	in.hooks.message = append(in.hooks.message, fn)
}

func (in *internals) OnRequest(fn func(probe.RequestTaken)) {
	in.hooks.request = append(in.hooks.request, fn)
}

func (in *internals) OnPanic(fn func(probe.Panicked)) {
	in.hooks.panicked = append(in.hooks.panicked, fn)
}

// StateHash leaves out the component with the network ids.
func (in *internals) StateHash() uint64 {
	var ids []ecs.ID
	for id := range ecs.ID(in.p.Types.Len()) {
		if id != in.p.Identity.ID() {
			ids = append(ids, id)
		}
	}
	return in.sim.world.Hash(in.p.Order, ids...)
}

func (in *internals) OnCall(fn func(name string)) {
	in.hooks.call = append(in.hooks.call, fn)
}

func (in *internals) ScreenHash(player foretick.PlayerID) probe.ScreenHash {
	p, now := in.sessions.player(player), in.sim.frame.Tick
	if p == nil || p.session.state != playing || p.outbox.sender == nil || now%p.outbox.every != 0 {
		return probe.ScreenHash{}
	}
	out := probe.ScreenHash{Tick: now}
	out.Digest, out.Fields = p.outbox.sender.Hash()
	return out
}

func (in *internals) Peer(player foretick.PlayerID) transport.PeerID {
	if p := in.sessions.player(player); p != nil {
		return p.session.peer
	}
	return 0
}

func (in *internals) Verdict(player foretick.PlayerID) rewind.Verdict {
	if p := in.sessions.player(player); p != nil {
		return p.shooter.Verdict()
	}
	return rewind.Verdict{}
}

func (in *internals) Entities(player foretick.PlayerID) ([]probe.ServerEntity, bool) {
	p := in.sessions.player(player)
	if p == nil || p.session.state != playing {
		return nil, false
	}
	var all []probe.ServerEntity
	for _, rows := range in.sim.entities.All(in.sim.world) {
		for i, id := range in.p.Identity.Slice(rows) {
			all = append(all, in.concerning(p, rows.Entity(i), id))
		}
	}
	slices.SortFunc(all, func(a, b probe.ServerEntity) int { return cmp.Compare(a.Net, b.Net) })
	return all, true
}

// concerning describes an entity as the server sends it to a player.
func (in *internals) concerning(p *player, e ecs.Entity, id game.NetworkID) probe.ServerEntity {
	net, kind := snapshot.NetID(id.Net), &in.p.Prefabs[id.Prefab]
	owner := in.sim.world.Owner(e)
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

func (in *internals) Words(e *probe.ServerEntity, comp int) []int32 {
	return in.senders.source.Words(snapshot.NetID(e.Net), comp, e.Audience)
}

func (in *internals) Wire(player foretick.PlayerID, net uint32) schema.WireID {
	p := in.sessions.player(player)
	if p == nil || net == 0 {
		return 0
	}
	w, _ := p.outbox.sender.Known(snapshot.NetID(net))
	return w
}

// systemTimes measures the systems of a server. It reads the clock twice for each system and tick, and
// is always on.
type systemTimes struct {
	clock func() time.Duration // nil: durations stay 0
	// at has each system's index in each. It is −1 for a system that the server does not run in ticks.
	at   []int32
	each []stats.System // the systems in the order of running
}

func newSystemTimes(p *compiled, clock func() time.Duration, tags []string) systemTimes {
	t := systemTimes{clock: clock}
	for _, sys := range p.Schedule.Systems() {
		if sys.Render || !runsOn(sys.Tags, tags) {
			t.at = append(t.at, -1)
			continue
		}
		t.at = append(t.at, int32(len(t.each)))
		t.each = append(t.each, stats.System{Name: sys.Name})
	}
	return t
}

// runsOn reports whether a server with the tags own runs a system with tags.
func runsOn(tags, own []string) bool {
	for _, tag := range tags {
		if tag != foretick.TagServer && !slices.Contains(own, tag) {
			return false
		}
	}
	return true
}

func (t *systemTimes) BeforeSystem(run *game.SystemRun, _ int) {
	if t.clock != nil {
		run.Began = t.clock()
	}
}

func (t *systemTimes) AfterSystem(run *game.SystemRun, system int) {
	if t.at[system] < 0 { // a render system, in Server.Draw
		return
	}
	e := &t.each[t.at[system]]
	e.Runs++
	if t.clock != nil {
		e.Last = t.clock() - run.Began
		e.Total += e.Last
		e.Max = max(e.Max, e.Last)
	}
}
