package client

import (
	"bytes"
	"reflect"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// ghosts has everything that the server sent about its entities.
type ghosts struct {
	*base

	receiver *snapshot.Receiver
	ours     []*snapshot.Ghost // the ghosts that are predicted here
	released []*snapshot.Ghost // ghosts to release when nothing iterates over the receiver's list
	// others has the registry indices of components that shared systems read from other entities.
	others []int
	pushes bool // shared systems may write other entities
	// pushed is true if a tick that may have written others has run since they were last restored.
	pushed   bool
	interval foretick.Tick // ticks between two snapshots, as the server reported
	overfull bool          // more of the world was used than mostUsed
	mostUsed float64       // the share of the world's tables and entity slots that a server's data may use
	hitboxes *rewind.Hitboxes
	bytes    receivedBytes
	overdue  bool // components of some entities that only the server computes may be old
	// moved has entities with a new owner, which the next correction must handle.
	moved  []movedGhost
	was    []byte  // scratch
	across []int32 // the words that acrossOwners returns
	// withdrawal has memory for the fields that the player may no longer see.
	withdrawal withdrawal
}

func newGhosts(b *base) ghosts {
	gs := ghosts{base: b, mostUsed: mostUsed, hitboxes: b.p.NewHitboxes()}
	gs.findOthers(b.p)
	return gs
}

// findOthers finds which components of other entities a protocol's shared systems read and change.
func (gs *ghosts) findOthers(p *compiled) {
	systems := p.Schedule.Systems()
	gs.others, gs.pushes = p.ReadOfOthers(systems), layout.ChangesOthers(systems)
}

// newReceiver makes the receiver of a level. Its snapshots are newer than those of all
// earlier levels.
func (gs *ghosts) newReceiver(after foretick.Tick) {
	gs.receiver = snapshot.NewReceiver(gs.p.Registry, snapshot.ReceiverConfig{
		Viewer: uint16(gs.view.Player), Owners: standard.MaxPlayers, After: after,
	})
	gs.bytes.follow(gs.receiver)
}

// tellsEachTick reports whether the server sends a snapshot of each tick. Then a snapshot that did not
// arrive was lost.
func (gs *ghosts) tellsEachTick() bool {
	return gs.interval == 1 && (gs.cfg.SnapshotRate == 0 || gs.cfg.SnapshotRate >= gs.p.TickRate)
}

// reaches reports whether the prediction of t can start from the newest snapshot. With an honest server
// it always can, because the clock never leads by more than the history.
func (gs *ghosts) reaches(t foretick.Tick) bool {
	newest, ok := gs.receiver.Newest()
	return ok && int32(t-newest) <= int32(gs.cfg.History)
}

// mine reports whether a ghost is the player's own or a shared physics object, and is predicted here.
func (gs *ghosts) mine(g *snapshot.Ghost) bool {
	return g.Mine && !gs.cfg.NoPrediction && !gs.alien(g) && !gs.heldByOwner(g, g.Newest())
}

// remotePredicted reports whether a ghost is another player's and is predicted here.
func (gs *ghosts) remotePredicted(g *snapshot.Ghost) bool {
	return gs.p.Remote.Predicts && !g.Mine && g.Owner != uint16(ecs.Nobody) && !gs.cfg.NoPrediction && gs.p.Prefabs[g.Prefab].RemotePredicted && !gs.alien(g)
}

// ahead reports whether a ghost is predicted here, and so not drawn in the past.
func (gs *ghosts) ahead(g *snapshot.Ghost) bool { return gs.mine(g) || gs.remotePredicted(g) }

// alien reports whether only the server's build of the game has the ghost's prefab. Such a ghost is not
// drawn.
func (gs *ghosts) alien(g *snapshot.Ghost) bool { return gs.p.Prefabs[g.Prefab].ECS == nil }

// anothers reports whether an entity that is predicted here is another player's.
func (gs *ghosts) anothers(e ecs.Entity) bool {
	if !gs.p.Remote.Predicts {
		return false
	}
	switch gs.world.Owner(e) {
	case gs.view.Player, ecs.Nobody, ecs.Common, ecs.ClientOnly:
		return false
	}
	return true
}

// partOf returns the partition of a ghost's entity. Another player's entities that are drawn in the
// past are separate from those that are predicted, because a rollback does not include them.
func (gs *ghosts) partOf(g *snapshot.Ghost) foretick.PlayerID {
	o := foretick.PlayerID(g.Owner)
	if gs.crowded() {
		return ecs.Nobody
	}
	switch {
	case gs.heldByOwner(g, g.Newest()) && g.Mine && o != ecs.Nobody && !gs.cfg.NoPrediction:
		return ecs.Engine(gs.world).Partition(o)
	case !gs.p.Remote.Predicts || g.Mine || o == ecs.Nobody || gs.remotePredicted(g):
		return o
	}
	return ecs.Engine(gs.world).Partition(o)
}

// originOf returns the spawn key with which this client predicted one of the server's entities. It is 0
// if the client did not.
func (gs *ghosts) originOf(g *snapshot.Ghost) uint32 {
	if gs.p.Origins.Matched < 0 {
		return 0
	}
	if words := g.Newest().Component(gs.p.Origins.Matched); words != nil {
		return uint32(words[0])
	}
	return 0
}

func (gs *ghosts) ghost(w schema.WireID) *snapshot.Ghost {
	if g := gs.receiver.Find(w); g != nil && g.Gone == 0 {
		return g
	}
	return nil
}

// writeComponent writes a component's received values. Fields that the player never received keep
// theirs.
func (gs *ghosts) writeComponent(g *snapshot.Ghost, s snapshot.State, i int) {
	at := gs.pointer(g, i)
	gs.withdraw(g, s, i, at)
	gs.p.Components[i].Schema.DequantiseFor(s.Audience, s.Component(i), s.Grid(i), wireRefs{gs}, at)
}

// pointer returns the address of a ghost's component in the world. It adds the component if
// it is missing.
func (gs *ghosts) pointer(g *snapshot.Ghost, i int) unsafe.Pointer {
	e, comp := ecs.Entity(g.Data), &gs.p.Components[i]
	at := ecs.Engine(gs.world).Pointer(e, comp.ID)
	if at == nil && gs.crowded() {
		return gs.spare(i)
	}
	if at == nil {
		ecs.Engine(gs.world).AddByID(e, comp.ID, comp.Zero)
		at = ecs.Engine(gs.world).Pointer(e, comp.ID)
	}
	return at
}

// takeAway removes a component that a ghost no longer has.
func (gs *ghosts) takeAway(e ecs.Entity, id ecs.ID) {
	if !gs.crowded() {
		ecs.Engine(gs.world).RemoveByID(e, id)
	}
}

// spare returns memory for a component for which the world has no room.
func (gs *ghosts) spare(i int) unsafe.Pointer {
	return reflect.New(gs.world.Types().Info(gs.p.Components[i].ID).Type).UnsafePointer()
}

// crowded reports whether the world has no room for more component sets. A change that needs one is
// then dropped, and the connection ends.
func (gs *ghosts) crowded() bool {
	gs.overfull = gs.overfull || gs.world.Used() > gs.mostUsed
	return gs.overfull
}

// othersNewest writes the newest received values into remote entities, for the components that shared
// systems read.
func (gs *ghosts) othersNewest() {
	gs.pushed = false
	if len(gs.others) == 0 {
		return
	}
	for _, g := range gs.receiver.Ghosts() {
		if gs.ahead(g) || g.Data == 0 {
			continue
		}
		s := g.Newest() // the last state, if the ghost is gone and still drawn
		for _, i := range gs.others {
			if words := s.Component(i); words != nil {
				gs.writeComponent(g, s, i)
			} else if id := gs.p.Components[i].ID; ecs.Engine(gs.world).Pointer(ecs.Entity(g.Data), id) != nil {
				gs.takeAway(ecs.Entity(g.Data), id)
			}
		}
	}
}

// othersAgain is othersNewest before a tick, if the tick before may have written others. The values
// that a shared system writes into an entity which is not predicted last for that tick only. So a tick
// that runs again finds the same values of others as in its first run.
func (gs *ghosts) othersAgain() {
	if gs.pushed {
		gs.othersNewest()
	}
	gs.pushed = gs.pushes
}

// othersMoved reports whether the snapshot that was just read changed what shared systems read from
// remote entities.
func (gs *ghosts) othersMoved() bool {
	if len(gs.others) == 0 {
		return false
	}
	return slices.ContainsFunc(gs.receiver.Changes(), func(ch snapshot.Change) bool {
		if gs.ahead(ch.Ghost) || ch.What != snapshot.Updated {
			return !gs.ahead(ch.Ghost)
		}
		now := ch.Ghost.Newest()
		before, ok := ch.Ghost.Before(now)
		return !ok || differ(now, before, gs.others) >= 0
	})
}

// ghostFrame has the states from which a ghost is drawn at a time.
type ghostFrame struct {
	from snapshot.State
	// before and to are empty if nothing is interpolated from or to them.
	before, to snapshot.State
	// fraction is the share of the time between from and to. At 0 all components keep their value.
	fraction float32
	rate     float32 // ticks a second
}

// knots returns a component's knots for the frame.
func (gf *ghostFrame) knots(comp int) schema.Knots {
	return schema.Between(gf.before.Keyframe(comp), gf.from.Keyframe(comp), gf.to.Keyframe(comp), gf.fraction, gf.rate)
}

// statesAround returns the states from which a ghost is drawn at a time. It returns false if there are
// none.
func (gs *ghosts) statesAround(g *snapshot.Ghost, t foretick.Tick, fraction float32) (gf ghostFrame, ok bool) {
	a, b, f, ok := g.Sample(t, fraction)
	if !ok {
		return gf, false
	}
	if f == 0 {
		a, b, f = gs.acrossOwners(g, a, t, fraction)
	}
	gf = ghostFrame{from: a, rate: float32(gs.p.TickRate)}
	if !(f > 0) || gs.jumped(g, a, b) {
		return gf, true
	}
	gf.to, gf.fraction = b, f
	if gs.p.Curved {
		if before, ok := g.Before(a); ok && !gs.jumped(g, before, a) {
			gf.before = before
		}
	}
	return gf, true
}

// acrossOwners returns the states around a time if the player is the owner in only one of them, and has
// more fields and more precise values there. The later one is returned with the precision and the
// fields of a. Otherwise acrossOwners returns a.
func (gs *ghosts) acrossOwners(g *snapshot.Ghost, a snapshot.State, t foretick.Tick, fraction float32) (from, to snapshot.State, f float32) {
	var b snapshot.State
	for s := range g.Since(a.Tick) {
		if int32(s.Tick-a.Tick) <= 0 {
			break
		}
		b = s
	}
	f = float32(int32(t-a.Tick)) + fraction
	if b.Tick == 0 || b.Mine == a.Mine || !a.Mask.Equal(b.Mask) || a.Jumps != b.Jumps || f <= 0 {
		return a, a, 0
	}
	gs.across = append(gs.across[:0], b.Words...)
	b.Words = gs.across
	for i := range gs.p.Components {
		comp := &gs.p.Components[i]
		if words := b.Component(i); words != nil && !comp.Unknown {
			at := gs.spare(i)
			comp.Schema.DequantiseFor(a.Audience, a.Component(i), a.Grid(i), wireRefs{gs}, at)
			comp.Schema.DequantiseFor(a.Audience&b.Audience, words, b.Grid(i), wireRefs{gs}, at)
			comp.Schema.Quantise(at, a.Grid(i), wireRefs{gs}, words)
		}
	}
	b.Mine, b.Audience = a.Mine, a.Audience
	return a, b, f / float32(b.Tick-a.Tick)
}

// jumped reports whether an entity's life changed between two states. Then nothing may be interpolated
// between them.
func (gs *ghosts) jumped(g *snapshot.Ghost, a, b snapshot.State) bool {
	for _, l := range gs.p.Lives {
		wa, wb := a.Component(l.Component), b.Component(l.Component)
		if wa == nil || wb == nil {
			continue
		}
		schema, at := gs.p.Components[l.Component].Schema, gs.hitboxes.Value(l.Component)
		grid := gs.receiver.Grid(g, l.Component)
		schema.DequantiseMasked(wa, grid, wireRefs{gs}, at)
		of := gs.p.LifeOf[l.Own]
		before := of(at)
		schema.DequantiseMasked(wb, grid, wireRefs{gs}, at)
		if of(at) != before {
			return true
		}
	}
	return false
}

// leapt reports whether, in the snapshot that was just read, a ghost was teleported since its last
// value.
func (gs *ghosts) leapt(e ecs.Entity) bool {
	for _, ch := range gs.receiver.Changes() {
		if ch.Teleported && ecs.Entity(ch.Ghost.Data) == e {
			return true
		}
	}
	return false
}

// whollyTold reports whether a snapshot left out none of the player's own entities. An entity that is
// the player's here may have another owner on the server, and be left out for that reason.
func (gs *ghosts) whollyTold(t foretick.Tick) bool {
	_, all, own := gs.receiver.Complete(t)
	if all || !own {
		return all
	}
	return !slices.ContainsFunc(gs.ours, func(g *snapshot.Ghost) bool {
		_, ok := g.At(t)
		return !ok && !gs.remotePredicted(g) && int32(t-g.Born) >= 0 && (g.Gone == 0 || int32(t-g.Gone) < 0)
	})
}

// whole reports whether the nearest snapshot that was received, from tick t on downwards or upwards,
// has the entity's state.
func (gs *ghosts) whole(g *snapshot.Ghost, t foretick.Tick, step int32) bool {
	newest, _ := gs.receiver.Newest()
	for range gs.cfg.History {
		if int32(t-newest) > 0 {
			return true // there is no newer one: the entity did not move on the screen
		}
		if received, _, _ := gs.receiver.Complete(t); received {
			_, ok := g.At(t)
			return ok || g.Gone != 0 && int32(t-g.Gone) >= 0
		}
		t += foretick.Tick(step)
	}
	return false
}

// hadComponents reports whether a ghost has, or recently had, one of some components. An earlier value
// counts until another one was received.
func (gs *ghosts) hadComponents(g *snapshot.Ghost, t foretick.Tick, components []int) bool {
	for s := range g.Since(t - unrest) {
		if slices.ContainsFunc(components, func(i int) bool { return s.Component(i) != nil }) {
			return true
		}
	}
	return false
}

// differed reports whether one of the components that shared systems read from others had another value
// when t ran than in the snapshot that the prediction r used.
func (gs *ghosts) differed(g *snapshot.Ghost, t foretick.Tick, r *record, components []int) (component int, ok bool) {
	known, ok := g.At(r.basis)
	if !gs.hadComponents(g, t, components) {
		return 0, false
	}
	switch {
	case !ok || g.Data == 0:
		return itself, true // it appeared or disappeared
	case int32(g.Born-r.shown) > 0 && int32(g.Born-t) <= 0:
		return itself, true // it was not drawn yet
	case g.Gone != 0 && int32(g.Gone-t) <= 0 && int32(g.Gone-r.shown) > 0:
		return itself, true // it was still drawn
	}
	component = changedIn(g, known, t, components)
	return component, component >= 0
}

// changedIn returns the first of some components of a ghost that had another value than known when t
// ran: at the end of the tick before, or at its own end. It is −1 if there is none.
func changedIn(g *snapshot.Ghost, known snapshot.State, t foretick.Tick, components []int) int {
	if before, ok := g.At(t - 1); ok && int32(t-1-known.Tick) > 0 {
		if i := differ(before, known, components); i >= 0 {
			return i
		}
	}
	then, ok := g.At(t)
	if !ok { // nothing was received for this tick: a later value shows whether it changed
		then = g.Newest()
	}
	return differ(then, known, components)
}

// restless reports whether something that shared systems read from others is known to change in the
// ticks up to t: the value of one of some components, as far as values are remembered, or which
// entities there are.
func (gs *ghosts) restless(t foretick.Tick, components []int) bool {
	for _, g := range gs.receiver.Ghosts() {
		if gs.ahead(g) {
			continue
		}
		if g.Data == 0 || g.Gone != 0 || int32(g.Born-(t-unrest)) > 0 {
			return true
		}
		newest := g.Newest()
		for was := range g.Since(g.Born) {
			if differ(was, newest, components) >= 0 {
				return true
			}
		}
	}
	return false
}

// differ returns the first of some components in which two states of a ghost differ. It is −1 if there
// is none.
func differ(a, b snapshot.State, components []int) int {
	for _, i := range components {
		if !slices.Equal(a.Component(i), b.Component(i)) {
			return i
		}
	}
	return -1
}

// gatherOurs lists the ghosts that are predicted here, in the receiver's order, so that predicting need
// not visit all others.
func (gs *ghosts) gatherOurs() {
	gs.ours = gs.ours[:0]
	for _, g := range gs.receiver.Ghosts() {
		if gs.ahead(g) && (g.Data == 0 || !gs.movesLater(g)) {
			gs.ours = append(gs.ours, g)
		}
	}
}

// releaseGone releases ghosts that are no longer drawn. It reports whether there were any; then
// saves.gather must be called.
func (gs *ghosts) releaseGone() bool {
	for _, g := range gs.released {
		gs.receiver.Release(g)
	}
	any := len(gs.released) > 0
	gs.released = gs.released[:0]
	return any
}

// stage calls a client's game when entities appear on the screen and disappear.
type stage struct {
	*base
	shown []map[ecs.Entity]bool // for each hook: its entities that are on the screen
}

func newStage(b *base) stage {
	s := stage{base: b}
	for range b.build.Handlers.Appearances {
		s.shown = append(s.shown, map[ecs.Entity]bool{})
	}
	return s
}

// callAppearances calls the hooks, first those for entities that disappeared. It is called once a
// frame, when the world has the values of the frame.
func (s *stage) callAppearances() {
	for _, vanished := range [...]bool{true, false} {
		for i := range s.build.Handlers.Appearances {
			if a := &s.build.Handlers.Appearances[i]; a.Vanished == vanished {
				s.poll(a, s.shown[i])
			}
		}
	}
}

func (s *stage) poll(a *game.Appearance[*foretick.Frame], shown map[ecs.Entity]bool) {
	entered, left := a.Watch.Poll(s.world)
	for _, e := range left {
		if shown[e] {
			delete(shown, e)
			if a.Vanished {
				a.Call(&s.frame, e)
			}
		}
	}
	for _, e := range entered {
		if s.concerns(a, e) {
			shown[e] = true
			if !a.Vanished {
				a.Call(&s.frame, e)
			}
		}
	}
}

// concerns reports whether an entity is of a hook's prefab. The entity with the singletons is none of
// the game's.
func (s *stage) concerns(a *game.Appearance[*foretick.Frame], e ecs.Entity) bool {
	k := s.ownPrefab(s.p.Identity.Find(s.world, e))
	return k != nil && k.ECS != &s.build.SingletonRow && (a.Prefab == nil || *k.ECS == *a.Prefab)
}

// takeUnpredicted writes the components that only the server computes: those in the newest snapshot, or
// all of them if some may be old. It reports whether it changed anything.
func (gs *ghosts) takeUnpredicted() (changed bool) {
	if len(gs.p.Unpredicted.Components) == 0 {
		return false
	}
	if gs.overdue {
		gs.overdue = false
		for _, g := range gs.ours {
			changed = gs.takeUnpredictedOf(g) || changed
		}
		return changed
	}
	for _, ch := range gs.receiver.Changes() {
		if gs.ahead(ch.Ghost) {
			changed = gs.takeUnpredictedOf(ch.Ghost) || changed
		}
	}
	return changed
}

// takeUnpredictedOf writes a ghost's newest components that only the server computes, and removes those
// that it no longer has. It reports whether it changed anything.
func (gs *ghosts) takeUnpredictedOf(g *snapshot.Ghost) bool {
	e := ecs.Entity(g.Data)
	if !gs.world.Alive(e) {
		return false
	}
	s, changed := g.Newest(), false
	for _, i := range gs.p.Unpredicted.Components {
		if s.Component(i) != nil {
			changed = gs.rewriteComponent(g, s, i) || changed
		} else if id := gs.p.Components[i].ID; ecs.Engine(gs.world).Pointer(e, id) != nil {
			gs.takeAway(e, id)
			changed = true
		}
	}
	return changed
}

// rewriteComponent writes a ghost's component and reports whether its value changed. If nothing
// changed, a sync test may go back beyond the tick.
func (gs *ghosts) rewriteComponent(g *snapshot.Ghost, s snapshot.State, i int) bool {
	comp := &gs.p.Components[i]
	at := ecs.Engine(gs.world).Pointer(ecs.Entity(g.Data), comp.ID)
	if at == nil || comp.Varies {
		gs.writeComponent(g, s, i)
		return true
	}
	gs.was = append(gs.was[:0], unsafe.Slice((*byte)(at), comp.Size)...)
	gs.writeComponent(g, s, i)
	return !bytes.Equal(gs.was, unsafe.Slice((*byte)(at), comp.Size))
}

// noteBorn notes that a ghost has an entity now. References to the ghost that arrived earlier are then
// looked up again.
func (gs *ghosts) noteBorn() {
	if gs.p.Unpredicted.Refs {
		gs.overdue = true
	}
}

// movedGhost is a ghost whose change of owner came with a snapshot older than the newest one, to which
// no prediction is compared.
type movedGhost struct {
	wire schema.WireID
	born foretick.Tick
}

// movesLater reports whether the next correction must move the ghost's entity. Until then the entity
// stays where it is, and may live and die with those that are predicted here.
func (gs *ghosts) movesLater(g *snapshot.Ghost) bool {
	return slices.ContainsFunc(gs.moved, func(m movedGhost) bool { return m.wire == g.Wire && m.born == g.Born })
}

// owns reports whether a ghost is the player's own.
func (gs *ghosts) owns(g *snapshot.Ghost) bool {
	return g.Mine && foretick.PlayerID(g.Owner) == gs.view.Player && g.Data != 0 && !gs.alien(g)
}

// heldByOwner reports whether, in a state of a ghost, its owner does not predict it.
func (gs *ghosts) heldByOwner(g *snapshot.Ghost, s snapshot.State) bool {
	if gs.p.Origins.Interpolated < 0 || !gs.p.Prefabs[g.Prefab].Interpolated {
		return false
	}
	words := s.Component(gs.p.Origins.Interpolated)
	return words == nil || words[0] == 0
}

// switched reports whether a ghost's newest state switches its prediction on or off.
func (gs *ghosts) switched(g *snapshot.Ghost) bool {
	if gs.p.Origins.Interpolated < 0 || !g.Mine {
		return false
	}
	if e := ecs.Entity(g.Data); gs.world.Alive(e) && gs.world.Owner(e) == foretick.PlayerID(g.Owner) {
		return ecs.Engine(gs.world).PartOf(e) != gs.partOf(g)
	}
	now := g.Newest()
	before, ok := g.Before(now)
	return ok && gs.heldByOwner(g, before) != gs.heldByOwner(g, now)
}
