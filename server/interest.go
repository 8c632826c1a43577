package server

import (
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// interest decides which entities each player and observer receives, and which of their fields: it has
// what the game hides, teams, audiences, eyes, groups and distances. playerInterest has the part of one
// player.
type interest struct {
	sim      *simulation
	sessions *sessions
	panics   *panics
	source   *snapshot.Source
	changes  interestChanges

	// entityTeams has the entities that have a team of their own.
	entityTeams map[ecs.Entity]uint8
	// swept is when entityTeams was last swept: see sweep.
	swept foretick.Tick
	// dead has, with late inputs, when a sweep first found that an entity is gone.
	dead map[ecs.Entity]foretick.Tick
	// grouped has the new groups of entities whose group changed since the last tick.
	grouped  map[snapshot.NetID]uint32
	everyone members // the audiences that the game gave all players
	// survey is nil if every player receives all entities.
	survey *survey
}

func newInterest(m *simulation, players *sessions, c *panics, source *snapshot.Source, changes interestChanges) interest {
	return interest{sim: m, sessions: players, panics: c, source: source, changes: changes, survey: newSurvey(m)}
}

// survey decides by distance which entities are sent. It is filled again in each tick.
type survey struct {
	area       *snapshot.Area
	asked      map[snapshot.NetID]ecs.Entity           // the entities whose prefab has a Relevant hook
	eyes       [][3]float32                            // where the current player or observer looks from
	looker     foretick.PlayerID                       // the player whose view it is
	everything bool                                    // the grant has Everything: then the result Never is ignored
	ask        func(snapshot.NetID) snapshot.Relevance // calls the Relevant hook of an entity
	looks      []observerLook                          // the looks of this tick
	failed     []placeFailure                          // the failures of this tick
}

// placeFailure is a panic of the game's function for the position of an entity.
type placeFailure struct {
	owner foretick.PlayerID
	value any // the panic's value
}

// observerLook is from where an observer looked. Observers that look from the same places share a view.
type observerLook struct {
	looker     foretick.PlayerID
	everything bool
	eyes       [][3]float32
	view       *snapshot.AreaView
}

// maxLooks is the largest number of looks in a tick that others are compared with.
const maxLooks = 16

func newSurvey(m *simulation) *survey {
	if m.p.Interest == nil {
		return nil
	}
	v := &survey{asked: map[snapshot.NetID]ecs.Entity{}}
	v.area, _ = snapshot.NewArea(m.p.Interest.Area) // its declaration was checked
	v.ask = func(id snapshot.NetID) snapshot.Relevance {
		e := v.asked[id]
		r := m.p.Handlers.Relevant[m.p.Identity.Get(m.world, e).Prefab](&m.frame, v.looker, e)
		if v.everything && r == snapshot.Never {
			return snapshot.ByDistance
		}
		return r
	}
	return v
}

// fill sets the position of every entity.
func (v *survey) fill(m *simulation) {
	v.area.Begin()
	for i := range v.looks {
		v.looks[i].view = nil // otherwise it would keep observers that have left in memory
	}
	v.looks = v.looks[:0]
	clear(v.asked)
	it := m.p.Interest
	id := m.p.Components[it.Component].ID
	size := m.p.Components[it.Component].Size
	for _, rows := range m.entities.All(m.world) {
		base := rows.Column(id)
		for i, ident := range m.p.Identity.Slice(rows) {
			net := snapshot.NetID(ident.Net)
			hooked := m.p.Handlers.Relevant[ident.Prefab] != nil
			if hooked {
				v.asked[net] = rows.Entity(i)
			}
			if base == nil {
				v.area.PutAlways(net, hooked)
				continue
			}
			x, y, z, ok := v.place(it.At, unsafe.Add(base, uintptr(i)*size), rows.Owner())
			if !ok {
				v.area.PutAlways(net, hooked)
				continue
			}
			v.area.Put(net, x, y, z, hooked)
		}
	}
}

// sees updates the set of entities that a player or an observer receives. If a function of the game
// panics in that, the player or observer is dropped, and sees returns false.
func (in *interest) sees(p *player) (looked bool) {
	defer func() {
		if !looked {
			in.panics.reportPanic(p.owner, p, "Relevant or Interest", contain.Recovered(recover()), debug.Stack())
		}
	}()
	in.survey.look(in.sim, in.sessions, p)
	return true
}

// newView returns a view with the entities near a player. It is nil if all entities are sent.
func (in *interest) newView() *snapshot.AreaView {
	if in.survey == nil {
		return nil
	}
	return in.survey.area.NewView()
}

// fillSurvey sets the position of every entity. If the game's function panics, the player that owns the
// entity is dropped.
func (in *interest) fillSurvey() {
	v := in.survey
	v.fill(in.sim)
	for _, f := range v.failed {
		if p := in.sessions.player(f.owner); p != nil {
			in.panics.reportPanic(f.owner, p, "Relevant or Interest", f.value, debug.Stack())
		} else {
			in.panics.reportPanic(ecs.Nobody, nil, "Interest", f.value, nil)
		}
	}
	v.failed = v.failed[:0]
}

// place calls the game's function for an entity's position. If that panics, ok is false.
func (v *survey) place(at func(unsafe.Pointer) (x, y, z float32), c unsafe.Pointer, owner foretick.PlayerID) (x, y, z float32, ok bool) {
	defer func() {
		if !ok {
			v.failed = append(v.failed, placeFailure{owner, contain.Recovered(recover())})
		}
	}()
	x, y, z = at(c)
	return x, y, z, true
}

// look updates the set of entities that a player or an observer receives.
func (v *survey) look(m *simulation, in *sessions, p *player) {
	v.eyes, v.looker, v.everything = v.eyes[:0], p.views(), false
	switch o := p.observing; {
	case o == nil:
		v.addEyes(m, p, nil)
	case o.grant.everything && o.eye == (netcode.Eye{}):
		p.interest.near.LookEverywhere(p.outbox.sender.SetRelevant)
		return
	default:
		v.everything = o.grant.everything
		v.addObserverEyes(m, in, o)
		if with := v.looksLike(p.interest.near); with != nil {
			p.interest.near.LookAs(with, v.eyes, v.ask, p.outbox.sender.SetRelevant)
			return
		}
	}
	p.interest.near.Look(v.eyes, v.ask, p.outbox.sender.SetRelevant)
}

// looksLike returns the view of an observer that looked from the same places in this tick. If there is
// none, it keeps this look for others and returns nil.
func (v *survey) looksLike(near *snapshot.AreaView) *snapshot.AreaView {
	for i := range v.looks {
		l := &v.looks[i]
		if l.looker == v.looker && l.everything == v.everything && slices.Equal(l.eyes, v.eyes) {
			return l.view
		}
	}
	if n := len(v.looks); n < maxLooks {
		v.looks = slices.Grow(v.looks, 1)[:n+1]
		l := &v.looks[n]
		l.looker, l.everything, l.view = v.looker, v.everything, near
		l.eyes = append(l.eyes[:0], v.eyes...)
	}
	return nil
}

// addObserverEyes adds the places that an observer looks from.
func (v *survey) addObserverEyes(m *simulation, in *sessions, o *observing) {
	of := in.player(o.grant.player)
	if o.grant.player == ecs.Nobody {
		if o.eye.Has && !o.grant.followOnly {
			v.eyes = append(v.eyes, [3]float32{o.eye.X, o.eye.Y, o.eye.Z})
		}
		of = in.player(foretick.PlayerID(o.eye.Player))
		if of != nil && o.grant.followOnly && o.grant.team != 0 && o.grant.team != of.interest.team {
			of = nil
		}
	}
	switch {
	case of == nil:
	case o.grant.player == of.owner: // it sees what the player sees
		v.addEyes(m, of, nil)
	default:
		v.addEyes(m, of, func(e ecs.Entity) bool { return in.hidesFrom(&o.grant, e) })
	}
}

// addEyes adds the places that a player looks from: the eye that the game has set, or the player's own
// entities. The entities around a place reveal the place, so a hidden entity is no eye, and for a
// player with a hidden entity the game's eye is not used. hides may be nil.
func (v *survey) addEyes(m *simulation, p *player, hides func(e ecs.Entity) bool) {
	if p.interest.hasEye && (hides == nil || !v.hidesPlace(m, p, hides)) {
		v.eyes = append(v.eyes, p.interest.eye)
		return
	}
	it := m.p.Interest
	id, size := m.p.Components[it.Component].ID, m.p.Components[it.Component].Size
	for _, rows := range m.entities.Owned(m.world, p.owner) {
		if base := rows.Column(id); base != nil {
			for i := range rows.Len() {
				if hides != nil && hides(rows.Entity(i)) {
					continue
				}
				x, y, z := it.At(unsafe.Add(base, uintptr(i)*size))
				v.eyes = append(v.eyes, [3]float32{x, y, z})
			}
		}
	}
}

// hidesPlace reports whether any of a player's entities with a position is hidden.
func (v *survey) hidesPlace(m *simulation, p *player, hides func(e ecs.Entity) bool) bool {
	id := m.p.Components[m.p.Interest.Component].ID
	for _, rows := range m.entities.Owned(m.world, p.owner) {
		if rows.Has(id) && slices.ContainsFunc(rows.Entities(), hides) {
			return true
		}
	}
	return false
}

func (in *interest) SetVisible(player foretick.PlayerID, e ecs.Entity, visible bool) bool {
	p, id := in.sessions.player(player), in.sim.p.Identity.Find(in.sim.world, e)
	if p == nil || id == nil {
		return false
	}
	if p.interest.hides[e] == !visible {
		return true
	}
	if p.interest.hides == nil {
		p.interest.hides = map[ecs.Entity]bool{}
	}
	sweep(in, p.interest.hides, &p.interest.swept)
	in.changes.noteVisible(player, e, !visible)
	if p.interest.hides[e] = true; visible {
		delete(p.interest.hides, e)
	}
	if p.outbox.sender != nil {
		p.outbox.sender.SetVisible(snapshot.NetID(id.Net), visible)
	}
	in.showObservers(e)
	return true
}

// appears passes to the senders what they must know about an entity that they do not have. With late
// inputs, an entity that was destroyed may appear again.
func (in *interest) appears(e ecs.Entity, net snapshot.NetID) {
	delete(in.dead, e)
	hidden := false
	for _, p := range in.sessions.players {
		if p.interest.hides[e] {
			hidden = true
			if p.outbox.sender != nil {
				p.outbox.sender.SetVisible(net, false)
			}
		}
		if in.audienceOf(p, e) != 0 {
			in.passAudience(p, e, net)
		}
	}
	if hidden {
		in.showObservers(e)
	}
}

// rehidePlayer passes what is hidden from a player to the sender of its new connection.
func (in *interest) rehidePlayer(p *player) {
	for e := range p.interest.hides {
		if id := in.sim.p.Identity.Find(in.sim.world, e); id != nil {
			p.outbox.sender.SetVisible(snapshot.NetID(id.Net), false)
		}
	}
}

func (in *interest) SetTeam(player foretick.PlayerID, team uint8) bool {
	p := in.sessions.player(player)
	if p == nil {
		return false
	}
	in.changes.noteTeam(player, p.interest.team)
	p.interest.team = team
	if p.outbox.sender != nil {
		p.outbox.sender.SetTeam(team)
	}
	for _, o := range in.sessions.observers {
		if o.observing.grant.player == player {
			o.outbox.sender.SetTeam(team)
		}
	}
	in.showObserversAll(p)
	return true
}

func (in *interest) SetEntityTeam(e ecs.Entity, team uint8) bool {
	if !in.sim.world.Alive(e) {
		return false
	}
	if in.entityTeams == nil {
		in.entityTeams = map[ecs.Entity]uint8{}
	}
	sweep(in, in.entityTeams, &in.swept)
	old, had := in.entityTeams[e]
	in.changes.noteEntityTeam(e, old, had)
	in.entityTeams[e] = team
	return true
}

// sweep removes entities that are gone, once they are more than half. With late inputs it removes only
// those that have been gone for two windows: when a tick runs again within a window, an entity may die
// later than before.
func sweep[V any](in *interest, m map[ecs.Entity]V, last *foretick.Tick) {
	now, window := in.sim.frame.Tick, in.changes.window()
	if len(m) <= 2*in.sim.world.Len()+16 || window > 0 && now-*last <= window {
		return
	}
	*last = now
	for old := range m {
		if in.sim.world.Alive(old) {
			continue
		}
		if window > 0 {
			since, ok := in.dead[old]
			if !ok {
				if in.dead == nil {
					in.dead = map[ecs.Entity]foretick.Tick{}
				}
				in.dead[old] = now
			}
			if !ok || now-since <= 2*window {
				continue
			}
		}
		delete(m, old)
	}
	for old, since := range in.dead { // no map has it any more
		if now-since > 16*window {
			delete(in.dead, old)
		}
	}
}

func (in *interest) SetEye(player foretick.PlayerID, x, y, z float32) bool {
	p := in.sessions.player(player)
	if p == nil || x-x != 0 || y-y != 0 || z-z != 0 { // if x is not finite, x-x is NaN
		return false
	}
	in.changes.noteEye(player, &p.interest)
	p.interest.eye, p.interest.hasEye = [3]float32{x, y, z}, true
	return true
}

func (in *interest) ClearEye(player foretick.PlayerID) bool {
	p := in.sessions.player(player)
	if p != nil {
		in.changes.noteEye(player, &p.interest)
		p.interest.hasEye = false
	}
	return p != nil
}

// teamOf returns an entity's team.
func (in *interest) teamOf(e ecs.Entity, owner foretick.PlayerID) uint8 {
	if len(in.entityTeams) > 0 {
		if t, ok := in.entityTeams[e]; ok {
			return t
		}
	}
	if p := in.sessions.player(owner); p != nil {
		return p.interest.team
	}
	return 0
}

// markHidden notes which players do not see some entity that concerns their prediction. The server
// computes with that entity, so the client cannot predict what it does to the player's other entities.
func (in *interest) markHidden() {
	for _, p := range in.sessions.players {
		if p.session.state != playing || len(p.interest.hides) == 0 && !p.interest.blind && !p.interest.veiled {
			continue
		}
		veiled := p.interest.veiled
		if p.interest.veiled = in.hidesRead(p); p.interest.veiled || veiled {
			p.reasons.Conceal(in.sim.frame.Tick, p.told())
		}
		was := p.interest.blind // the tick in which the entity is shown again counts too
		p.interest.blind = in.hidesOwn(p, p.owner) || in.sim.p.Common && in.hidesOwn(p, ecs.Nobody)
		if p.interest.blind || was {
			p.reasons.Affected(in.sim.frame.Tick, in.sim.p.HiddenCause(), foretick.Tick(in.sim.p.TickRate/calmShare))
		}
	}
}

// hidesRead reports whether an entity is hidden from the player that has a component which shared
// systems read from other entities.
func (in *interest) hidesRead(p *player) bool {
	if in.sim.p.ReadsOthers == (ecs.Mask{}) {
		return false
	}
	for e := range p.interest.hides {
		if ecs.Engine(in.sim.world).Mask(e).Overlaps(in.sim.p.ReadsOthers) {
			return true
		}
	}
	return false
}

func (in *interest) hidesOwn(p *player, owner foretick.PlayerID) bool {
	for _, rows := range in.sim.entities.Owned(in.sim.world, owner) {
		for i, e := range rows.Entities() {
			k := &in.sim.p.Prefabs[in.sim.p.Identity.Slice(rows)[i].Prefab]
			if p.interest.hides[e] && !k.ClientOnly() && (owner != ecs.Nobody || k.Common) {
				return true
			}
		}
	}
	return false
}

func (in *interest) SetGroup(e, with ecs.Entity) bool {
	id, leader := in.sim.net(e), in.sim.net(with)
	if id == 0 || with != ecs.None && leader == 0 {
		return false
	}
	in.joinGroup(e, id, uint32(leader))
	if leader != 0 {
		in.joinGroup(with, leader, uint32(leader))
	}
	return true
}

func (in *interest) joinGroup(e ecs.Entity, id snapshot.NetID, group uint32) {
	in.changes.noteGroup(e, in.groupOf(id))
	if in.grouped == nil {
		in.grouped = map[snapshot.NetID]uint32{}
	}
	in.grouped[id] = group
}

// groupOf returns the group that an entity is in, or will be in from the end of the tick.
func (in *interest) groupOf(id snapshot.NetID) uint32 {
	if group, ok := in.grouped[id]; ok {
		return group
	}
	return in.source.Group(id)
}

// passGroups passes the groups that changed since the last tick to the snapshots. Each is of another
// entity, so their order does not matter.
func (in *interest) passGroups() {
	for id, group := range in.grouped {
		in.source.SetGroup(id, group) // an entity that is gone needs no group
	}
	clear(in.grouped)
}

// introduceObserver passes to a new sender what the observer may see.
func (in *interest) introduceObserver(p *player) {
	g := &p.observing.grant
	p.interest.team = g.team
	if of := in.sessions.player(g.player); of != nil {
		p.interest.team = of.interest.team
	}
	for _, of := range in.sessions.owners {
		if of == nil {
			continue
		}
		for e := range of.interest.hides {
			in.showObserver(p, e)
		}
	}
}

// showObserver passes to an observer's sender whether an entity is hidden from the observer. That is so
// if the entity is hidden from the player whose view is granted, from any player of the team that is
// granted, or with a public grant, from any player.
func (in *interest) showObserver(p *player, e ecs.Entity) {
	if id := in.sim.p.Identity.Find(in.sim.world, e); id != nil {
		p.outbox.sender.SetVisible(snapshot.NetID(id.Net), !in.sessions.hidesFrom(&p.observing.grant, e))
	}
}

// hidesFrom reports whether an entity is hidden from the observers with a grant.
func (s *sessions) hidesFrom(g *Grant, e ecs.Entity) bool {
	for _, of := range s.owners {
		if of == nil || !of.interest.hides[e] || g.everything || g.player != ecs.Nobody && g.player != of.owner || g.team != 0 && g.team != of.interest.team {
			continue
		}
		return true
	}
	return false
}

// showObservers calls showObserver for all observers.
func (in *interest) showObservers(e ecs.Entity) {
	for _, p := range in.sessions.observers {
		in.showObserver(p, e)
	}
}

// showObserversAll calls showObservers for all entities that are hidden from a player that joined, left
// or changed its team.
func (in *interest) showObserversAll(of *player) {
	if len(in.sessions.observers) == 0 {
		return
	}
	for e := range of.interest.hides {
		in.showObservers(e)
	}
}

// playerInterest decides which part of the world a player receives.
type playerInterest struct {
	hides   map[ecs.Entity]bool
	team    uint8
	near    *snapshot.AreaView // the entities near the player; nil: all are sent
	members members            // the audiences that the game gave this player
	swept   foretick.Tick      // when hides was last swept

	blind  bool       // an entity of its own, or a shared physics object, is hidden from it
	veiled bool       // an entity is hidden from it that shared systems may read from others
	eye    [3]float32 // the eye that the game has set
	hasEye bool       // eye is used instead of the player's own entities
}
