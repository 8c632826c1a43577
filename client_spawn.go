package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// spawnBy is Frame.SpawnBy on a client.
func (tl *timeline) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if tl.frame.partial {
		return tl.spawnPartly(by, k)
	}
	if !tl.spawning.stepping {
		misuse("prefab %q is spawned outside of a tick's systems: on a client only shared systems spawn", k.Name())
	}
	prefab, wire := tl.spawnPrefab(k)
	if !tl.world.Alive(by) {
		return ecs.None
	}
	owner, spawner := tl.world.Owner(by), tl.p.identity.Find(tl.world, by)
	tl.frame.checkSpawn(by, owner, prefab, tl.ownPrefab(spawner))
	if tl.ghosts.anothers(by) {
		return tl.spawnPassing(prefab, owner)
	}
	if owner != tl.view.Player && owner != ecs.ClientOnly {
		misuse("a shared system spawns prefab %q by %v, which is player %d's: name a spawner of the player whose rows the system was given", k.Name(), by, owner)
	}
	if prefab.ClientOnly() {
		return tl.spawnLocal(prefab)
	}
	key := prediction.SpawnKey{Owner: uint16(tl.view.Player), Tick: tl.frame.Tick, Ordinal: tl.spawning.ordinals.next(by, prefab.Own), Prefab: wire}
	if spawner != nil {
		if key.By = spawner.origin; key.By == 0 {
			key.By = spawner.Net
		}
	}
	e := tl.handleFor(key.ID(), prefab.Own)
	if tl.world.Manager().Place(e, k, tl.view.Player) != nil {
		return ecs.None // cannot be: what is alive was spawned in another tick
	}
	*tl.p.identity.Get(tl.world, e) = networkID{Net: uint32(tl.nameOf(e)), Prefab: uint16(prefab.Own), maker: uint16(tl.view.Player), origin: key.ID()}
	return e
}

// handleFor returns the handle of a spawn: that of the tick's earlier run, or a new one.
func (tl *timeline) handleFor(id uint32, kind int) ecs.Entity {
	s, ok := tl.spawning.waiting.Again(id)
	if ok {
		return s.e
	}
	s = spawned{tl.world.Reserve(ecs.RangePredicted, tl.view.Player), kind}
	if tl.tester.replay {
		tl.spawning.practised = append(tl.spawning.practised, s.e)
		return s.e
	}
	tl.spawning.waiting.Add(id, s)
	tl.spawning.fresh = append(tl.spawning.fresh, s)
	return s.e
}

// spawnLocal makes an entity that no rollback touches. In a replay the entity lasts for the
// tick only.
func (tl *timeline) spawnLocal(k *layout.Prefab) ecs.Entity {
	e := tl.world.Manager().SpawnIn(ecs.RangeLocal, k.ECS, ecs.ClientOnly)
	*tl.p.identity.Get(tl.world, e) = networkID{Prefab: uint16(k.Own)}
	if tl.again(tl.frame.Tick) {
		tl.spawning.passing = append(tl.spawning.passing, e)
	}
	return e
}

// spawnPassing makes an entity that lasts for the tick only, for a spawn of a remote
// player. The server sends the real one. The system that runs for the remote player here
// can still fill this one.
func (tl *timeline) spawnPassing(k *layout.Prefab, owner PlayerID) ecs.Entity {
	e := tl.world.Manager().SpawnIn(ecs.RangeLocal, k.ECS, tl.world.Partition(owner))
	*tl.p.identity.Get(tl.world, e) = networkID{Prefab: uint16(k.Own)}
	tl.spawning.passing = append(tl.spawning.passing, e)
	return e
}

// destroy is Frame.Destroy on a client.
func (tl *timeline) destroy(e ecs.Entity) bool {
	if tl.frame.partial { // the whole tick destroys it
		return tl.world.Alive(e) && (tl.removes(tl.world.Owner(e)) || tl.world.Owner(e) == ecs.ClientOnly)
	}
	if !tl.spawning.stepping || !tl.world.Alive(e) {
		return false
	}
	switch owner := tl.world.Owner(e); {
	case owner == ecs.ClientOnly:
		return tl.again(tl.frame.Tick) || tl.world.Manager().Destroy(e)
	case !tl.removes(owner):
		return false
	}
	tl.parents.release(e, func(child ecs.Entity) bool { return !tl.removes(tl.world.Owner(child)) })
	return tl.world.Manager().Destroy(e)
}

// removes reports whether shared systems here may destroy the entities of an owner.
func (tl *timeline) removes(owner PlayerID) bool {
	return owner == tl.view.Player || owner == ecs.Common && tl.p.Common
}

// beginSpawns and endSpawns are around the systems of a tick.
func (tl *timeline) beginSpawns(t Tick) {
	tl.spawning.stepping = true
	if !tl.p.Spawning {
		return
	}
	tl.spawning.waiting.Begin(t)
	clear(tl.spawning.ordinals)
}

func (tl *timeline) endSpawns() {
	tl.spawning.stepping = false
	if !tl.p.Spawning {
		return
	}
	s := &tl.spawning
	for _, e := range s.passing {
		tl.world.Manager().Destroy(e)
	}
	s.passing = s.passing[:0]
	if tl.tester.replay {
		return
	}
	tl.spawning.waiting.End(func(_ Tick, s spawned) { tl.cancelled(s) })
	tl.stats.SpawnsPredicted += uint64(len(s.fresh))
	for _, n := range s.fresh {
		tl.tellSpawn(tl.spawnConfig(n.kind).OnPredicted, n.e)
	}
	s.fresh = s.fresh[:0]
}

// cancelled undoes a spawn that the server, or a replay, did not make.
func (tl *timeline) cancelled(s spawned) {
	tl.stats.SpawnsCancelled++
	tl.bury(s.e)
	tl.tellSpawn(tl.spawnConfig(s.kind).OnCancelled, s.e)
}

// match lets the server's entities replace the predicted ones.
func (tl *timeline) match() {
	if tl.p.Origins.Matched < 0 {
		return
	}
	for _, g := range tl.ghosts.ours {
		if g.Data != 0 {
			continue
		}
		id := tl.ghosts.originOf(g)
		if id == 0 {
			continue
		}
		s, ok := tl.spawning.waiting.Match(id)
		if !ok {
			continue
		}
		g.Data = uint64(s.e)
		tl.bornHere()
		tl.spawning.matched = append(tl.spawning.matched, s)
		tl.spawning.named = append(tl.spawning.named, naming{e: s.e, wire: g.Wire, until: tl.predictor.Tick() + Tick(tl.hooks.syncTest), key: id, next: tl.input.sent + 1})
		tl.rename()
	}
}

// nameOf returns the wire id of a predicted entity, 0 while it has none.
func (tl *timeline) nameOf(e ecs.Entity) schema.WireID {
	for _, n := range tl.spawning.named {
		if n.e == e {
			return n.wire
		}
	}
	return 0
}

// rename gives entities their wire ids in a world that was saved before they had
// them.
func (tl *timeline) rename() {
	for _, n := range tl.spawning.named {
		if id := tl.p.identity.Find(tl.world, n.e); id != nil {
			id.Net = uint32(n.wire)
		}
	}
}

// noteGone remembers the entities that prediction has destroyed, before a correction that
// may bring them back. They come back with the save that is loaded, with the server's
// state, or in a replay.
func (tl *timeline) noteGone(t Tick) {
	s := &tl.spawning
	s.gone = s.gone[:0]
	for _, g := range tl.ghosts.ours {
		if e := ecs.Entity(g.Data); e != 0 && !tl.world.Alive(e) && (g.Gone == 0 || int32(g.Gone-t) > 0) {
			s.gone = append(s.gone, e)
		}
	}
	for n := range tl.spawning.waiting.All() { // not the server's yet
		if !tl.world.Alive(n.e) {
			s.gone = append(s.gone, n.e)
		}
	}
}

// noteBack notes which of them live again, so that hooks are called.
func (tl *timeline) noteBack() {
	s := &tl.spawning
	for _, e := range s.gone {
		if tl.world.Alive(e) && !slices.Contains(s.restored, e) {
			s.restored = append(s.restored, e)
		}
	}
}

// settle compares the spawns and destroys up to tick t with the server's state of t.
func (tl *timeline) settle(t Tick) {
	s := &tl.spawning
	for _, n := range s.matched {
		tl.stats.SpawnsMatched++
		tl.tellSpawn(tl.spawnConfig(n.kind).OnConfirmed, n.e)
	}
	s.matched = s.matched[:0]
	if tl.spawning.waiting.Len() == 0 {
	} else if _, _, own := tl.ghosts.receiver.Complete(t); own {
		tl.spawning.waiting.Settle(t, uint32(tl.hooks.syncTest), func(_ Tick, n spawned) { tl.missing(t, n) })
	} else {
		tl.spawning.waiting.Forget(t, uint32(tl.hooks.syncTest))
	}
	for _, e := range s.restored {
		if k := tl.ownPrefab(tl.p.identity.Find(tl.world, e)); k != nil {
			tl.tellSpawn(tl.spawnConfig(k.Own).OnRestored, e)
		}
	}
	s.restored = s.restored[:0]
	for _, g := range tl.ghosts.ours {
		if g.Gone == 0 {
			continue
		}
		if int32(g.Gone-t) > 0 || g.Data != 0 && tl.world.Alive(ecs.Entity(g.Data)) {
			continue
		}
		if g.Data != 0 { // predicted to be gone, and so it is
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
		tl.ghosts.released = append(tl.ghosts.released, g)
	}
	if len(tl.ghosts.released) > 0 {
		tl.release()
	}
	live := s.named[:0]
	for i := range s.named {
		n := &s.named[i]
		if n.known = n.known || tl.comparedSince(n.next, n.until, t); int32(n.until-t) >= 0 || !n.known {
			live = append(live, *n)
		}
	}
	s.named = live
	tl.forgetAppeared(t)
	if len(s.retired) > 0 {
		tl.exhume()
	}
}

// missing handles a predicted spawn that the server, at t, does not have.
func (tl *timeline) missing(t Tick, n spawned) {
	if r := tl.records.Find(t); r != nil && !r.has(n.e) { // prediction had ended it
		tl.bury(n.e)
		tl.tellSpawn(tl.spawnConfig(n.kind).OnConfirmed, n.e)
		return
	}
	tl.cancelled(n)
}

// clearSpawns forgets everything spawned here, at the begin of a level.
func (tl *timeline) clearSpawns() {
	tl.spawning.waiting.Clear(func(_ Tick, s spawned) { tl.cancelled(s) })
	s := &tl.spawning
	s.fresh, s.matched, s.restored, s.named = s.fresh[:0], s.matched[:0], s.restored[:0], s.named[:0]
	if tl.p.ClientOnly {
		tl.world.Manager().ReleaseOwner(ecs.ClientOnly)
	}
	tl.clientOnly.lived = 0
	tl.locals.clear()
}

// gatherOthers updates the list of remote players that are predicted.
func (tl *timeline) gatherOthers() {
	if !tl.p.Remote.Predicts {
		return
	}
	now := tl.predictor.Tick()
	for _, g := range tl.ghosts.ours {
		if !tl.ghosts.remotePredicted(g) {
			continue
		}
		i := slices.IndexFunc(tl.saves.remotes, func(o remotePlayer) bool { return o.owner == PlayerID(g.Owner) })
		if i < 0 {
			i = len(tl.saves.remotes)
			owner := PlayerID(g.Owner)
			tl.saves.remotes = append(tl.saves.remotes, remotePlayer{owner: owner, history: tl.world.NewOwnerHistory(owner, tl.cfg.History)})
		}
		tl.saves.remotes[i].seen = now
	}
	tl.saves.forgetRemotes(func(o remotePlayer) bool {
		return int32(now-o.seen) > int32(tl.cfg.History) // no save has its entities
	})
}

// guess makes the commands of predicted remote players for a tick, rounded as on the wire.
func (tl *timeline) guess(t Tick) {
	if len(tl.saves.remotes) == 0 {
		return
	}
	basis, _ := tl.ghosts.receiver.Newest()
	if r := tl.records.Find(t); tl.tester.replay && r != nil {
		basis = r.basis
	}
	var before []byte
	if debugBuild {
		before = tl.predictedBytes(nil)
	}
	cmd := tl.p.Command
	for i := range tl.saves.remotes {
		for _, rows := range tl.commandRows.Owned(tl.world, tl.saves.remotes[i].owner) {
			base := rows.Column(cmd.ID)
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*cmd.Size)
				clear(unsafe.Slice((*byte)(at), cmd.Size))
				tl.p.handlers.guess(&tl.frame, rows.Entity(k), max(int(int32(t-basis)), 1), at)
				if !tl.frame.Replay { // once for each tick
					tl.losses.sentBy("(PredictRemote)", cmd.Name, cmd.Schema, at)
				}
				tl.scratch.packed = cmd.Schema.Pack(at, tl.scratch.packed[:0])
				if cmd.Schema.Unpack(tl.scratch.packed, at) != nil {
					clear(unsafe.Slice((*byte)(at), cmd.Size))
				}
			}
		}
	}
	if debugBuild {
		tl.checkGuess(before)
	}
}

// checkGuess panics if a guess changed predicted state.
func (tl *timeline) checkGuess(before []byte) {
	now := tl.predictedBytes(nil)
	if _, name := tl.whose(now, before); name != "" {
		misuse("the function given to PredictRemote wrote %s: it says what others press, and changes nothing; let a Shared system write", name)
	}
}

// runsFor reports whether a system runs over an owner's rows.
func (tl *timeline) runsFor(system int, o PlayerID) bool {
	return o == tl.view.Player || o == ecs.Common || o == ecs.ClientOnly || tl.p.Remote.Runs[system]
}
