package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// spawned is a predicted entity that the server's word is awaited for.
type spawned struct {
	e    ecs.Entity
	kind int
}

// spawning is a client's side of predicted spawns and despawns.
type spawning struct {
	ordinals  ordinals
	fresh     []spawned // of the tick that runs, spawned for the first time
	scratch   []ecs.Entity
	matched   []spawned    // since the last snapshot: to be told
	gone      []ecs.Entity // destroyed by prediction, ahead of a correction
	restored  []ecs.Entity
	named     []naming  // matched not long ago
	retired   []retired // handles, until no save knows them
	practised []ecs.Entity
	next      int // where spawnOf looks first
}

// naming is the wire id of an entity that was matched after some of the saves
// were made that know it.
type naming struct {
	e     ecs.Entity
	wire  snapshot.WireID
	until Tick
	key   uint32 // by which it was predicted
	next  Tick   // the first command that was made afterwards
}

type retired struct {
	e    ecs.Entity
	tick Tick
}

// again tells whether a tick runs another time, as far as what no rollback
// touches is concerned.
func (c *Client) again(t Tick) bool {
	return c.frame.Replay || c.practice.replay || int32(t-c.lived) < 0
}

// spawnBy is Frame.SpawnBy on a client.
func (c *Client) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if !c.stepping {
		misuse("prefab %q is spawned outside of a tick's systems: on a client only shared systems spawn", k.Name())
	}
	prefab, wire := c.spawnPrefab(k)
	if !c.world.Alive(by) {
		return ecs.None
	}
	owner, spawner := c.world.Owner(by), c.p.identity.Find(c.world, by)
	c.frame.checkSpawn(by, owner, prefab, c.ownPrefab(spawner))
	if c.anothers(by) {
		return c.spawnPassing(prefab, owner)
	}
	if owner != c.view.Player && owner != ecs.ClientOnly {
		misuse("a shared system spawns prefab %q by %v, which is player %d's: name a spawner of the player whose rows the system was given", k.Name(), by, owner)
	}
	if prefab.local() {
		return c.spawnLocal(prefab)
	}
	key := prediction.SpawnKey{Owner: uint16(c.view.Player), Tick: c.frame.Tick, Ordinal: c.spawning.ordinals.next(by, prefab.own), Prefab: wire}
	if spawner != nil {
		if key.By = spawner.origin; key.By == 0 {
			key.By = spawner.Net
		}
	}
	e := c.handleFor(key.ID(), prefab.own)
	if c.world.Manager().Place(e, k, c.view.Player) != nil {
		return ecs.None // cannot be: what is alive was spawned in another tick
	}
	*c.p.identity.Get(c.world, e) = NetworkID{Net: uint32(c.nameOf(e)), Prefab: uint16(prefab.own), maker: uint16(c.view.Player), origin: key.ID()}
	return e
}

// spawnPrefab is a prefab as the server has it, with the number that it has there.
func (c *Client) spawnPrefab(k *ecs.Prefab) (*prefab, uint16) {
	if i := c.p.prefabOf(k); i >= 0 {
		return &c.p.prefabs[i], uint16(i)
	}
	own := c.cfg.Protocol
	i := own.prefabOf(k)
	if i < 0 {
		misuse("SpawnBy of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	return &own.prefabs[i], unknownPrefab
}

// unknownPrefab is the number of a kind that a server of another build has not.
const unknownPrefab = 1<<16 - 1

// ownPrefab is the prefab that an identity names, as this build declared it.
func (c *Client) ownPrefab(id *NetworkID) *prefab { return c.cfg.Protocol.prefabNamed(id) }

// spawnConfig is what the game wants to be told of a kind, by this build's number.
func (c *Client) spawnConfig(kind int) *SpawnConfig {
	if s := c.cfg.Protocol.prefabs[kind].spawn; s != nil {
		return s
	}
	return &SpawnConfig{}
}

// handleFor is the handle of a spawn: that of the tick's earlier run, or a new
// one.
func (c *Client) handleFor(id uint32, kind int) ecs.Entity {
	s, ok := c.spawns.Again(id)
	if ok {
		return s.e
	}
	s = spawned{c.world.Reserve(ecs.RangePredicted, c.view.Player), kind}
	if c.practice.replay {
		c.spawning.practised = append(c.spawning.practised, s.e)
		return s.e
	}
	c.spawns.Add(id, s)
	c.spawning.fresh = append(c.spawning.fresh, s)
	return s.e
}

// spawnLocal makes an entity that no rollback touches; in a replay one that
// lives no longer than the tick.
func (c *Client) spawnLocal(k *prefab) ecs.Entity {
	e := c.world.Manager().SpawnIn(ecs.RangeLocal, k.ecs, ecs.ClientOnly)
	*c.p.identity.Get(c.world, e) = NetworkID{Prefab: uint16(k.own)}
	if c.again(c.frame.Tick) {
		c.spawning.scratch = append(c.spawning.scratch, e)
	}
	return e
}

// spawnPassing makes an entity for the length of the tick: what another player spawns
// the server tells, and the system that runs for him here can fill it in all the same.
func (c *Client) spawnPassing(k *prefab, owner PlayerID) ecs.Entity {
	e := c.world.Manager().SpawnIn(ecs.RangeLocal, k.ecs, c.world.Partition(owner))
	*c.p.identity.Get(c.world, e) = NetworkID{Prefab: uint16(k.own)}
	c.spawning.scratch = append(c.spawning.scratch, e)
	return e
}

// destroy is Frame.Destroy on a client.
func (c *Client) destroy(e ecs.Entity) bool {
	if !c.stepping || !c.world.Alive(e) {
		return false
	}
	switch owner := c.world.Owner(e); owner {
	case ecs.ClientOnly:
		return c.again(c.frame.Tick) || c.world.Manager().Destroy(e)
	case c.view.Player:
		return c.world.Manager().Destroy(e)
	default:
		return owner == ecs.Common && c.p.common && c.world.Manager().Destroy(e)
	}
}

// beginSpawns and endSpawns are around the systems of a tick.
func (c *Client) beginSpawns(t Tick) {
	c.stepping = true
	if !c.p.spawning {
		return
	}
	c.spawns.Begin(t)
	clear(c.spawning.ordinals)
}

func (c *Client) endSpawns() {
	c.stepping = false
	if !c.p.spawning {
		return
	}
	s := &c.spawning
	for _, e := range s.scratch {
		c.world.Manager().Destroy(e)
	}
	s.scratch = s.scratch[:0]
	if c.practice.replay {
		return
	}
	c.spawns.End(func(_ Tick, s spawned) { c.cancelled(s) })
	c.stats.SpawnsPredicted += uint64(len(s.fresh))
	for _, n := range s.fresh {
		c.tellSpawn(c.spawnConfig(n.kind).OnPredicted, n.e)
	}
	s.fresh = s.fresh[:0]
}

func (c *Client) tellSpawn(fn func(*Frame, ecs.Entity), e ecs.Entity) {
	if fn != nil {
		fn(&c.frame, e)
	}
}

// cancelled takes a spawn back that the server, or a replay, did not make.
func (c *Client) cancelled(s spawned) {
	c.stats.SpawnsCancelled++
	c.bury(s.e)
	c.tellSpawn(c.spawnConfig(s.kind).OnCancelled, s.e)
}

// bury destroys an entity for good. Its handle is used again when no save can
// bring it back.
func (c *Client) bury(e ecs.Entity) {
	c.world.Manager().Destroy(e)
	c.spawning.retired = append(c.spawning.retired, retired{e, c.predictor.Tick()})
}

// exhume gives handles back that no save knows any more.
func (c *Client) exhume() {
	s := &c.spawning
	n := 0
	for n < len(s.retired) && int32(c.predictor.Tick()-s.retired[n].tick) > int32(c.cfg.History) {
		c.world.Unreserve(s.retired[n].e)
		c.forgetLocals(s.retired[n].e)
		n++
	}
	s.retired = s.retired[:copy(s.retired, s.retired[n:])]
}

// originOf is what we called an entity of the server's when we predicted it, 0 if
// it is the server's own idea.
func (c *Client) originOf(g *snapshot.Ghost) uint32 {
	if c.p.originAt < 0 {
		return 0
	}
	if words := g.Newest().Component(c.p.originAt); words != nil {
		return uint32(words[0])
	}
	return 0
}

// match lets the server's entities take over from those that were predicted.
func (c *Client) match() {
	if c.p.originAt < 0 {
		return
	}
	for _, g := range c.ours {
		if g.Data != 0 {
			continue
		}
		id := c.originOf(g)
		if id == 0 {
			continue
		}
		s, ok := c.spawns.Match(id)
		if !ok {
			continue
		}
		g.Data = uint64(s.e)
		c.bornHere()
		c.spawning.matched = append(c.spawning.matched, s)
		c.spawning.named = append(c.spawning.named, naming{s.e, g.Wire, c.predictor.Tick() + Tick(c.cfg.SyncTest), id, c.sampled + 1})
		c.rename()
	}
}

// nameOf is the wire id of a predicted entity, 0 as long as it has none.
func (c *Client) nameOf(e ecs.Entity) snapshot.WireID {
	for _, n := range c.spawning.named {
		if n.e == e {
			return n.wire
		}
	}
	return 0
}

// rename gives entities their wire ids in a world that was saved before they had
// them.
func (c *Client) rename() {
	for _, n := range c.spawning.named {
		if id := c.p.identity.Find(c.world, n.e); id != nil {
			id.Net = uint32(n.wire)
		}
	}
}

// embody makes a ghost of ours an entity: a new one, or the one that was
// predicted to be gone, under its old handle.
func (c *Client) embody(g *snapshot.Ghost) {
	e, owner := ecs.Entity(g.Data), c.partOf(g)
	if e != 0 && c.world.Alive(e) {
		return
	}
	k := c.p.prefabs[g.Prefab].ecs // not nil: what is alien is not ours
	if e != 0 && c.world.Manager().Place(e, k, owner) == nil {
		c.spawning.restored = append(c.spawning.restored, e)
	} else {
		e = c.world.Reserve(ecs.RangeServer, owner)
		if c.world.Manager().Place(e, k, owner) != nil {
			e = c.world.Manager().Spawn(k, owner)
		}
		g.Data = uint64(e)
	}
	id := NetworkID{Net: uint32(g.Wire), Prefab: uint16(c.p.prefabs[g.Prefab].own), origin: c.originOf(g)}
	if id.origin != 0 {
		id.maker = uint16(c.view.Player)
	}
	*c.p.identity.Get(c.world, e) = id
	c.bornHere()
}

// noteGone remembers what prediction has destroyed, ahead of a correction that may bring
// it back: by the save that it goes back to, by the server's state, or by a replay.
func (c *Client) noteGone(t Tick) {
	s := &c.spawning
	s.gone = s.gone[:0]
	for _, g := range c.ours {
		if e := ecs.Entity(g.Data); e != 0 && !c.world.Alive(e) && (g.Gone == 0 || int32(g.Gone-t) > 0) {
			s.gone = append(s.gone, e)
		}
	}
	for n := range c.spawns.All() { // not the server's yet
		if !c.world.Alive(n.e) {
			s.gone = append(s.gone, n.e)
		}
	}
}

// noteBack notes what of it lives again, to be told.
func (c *Client) noteBack() {
	s := &c.spawning
	for _, e := range s.gone {
		if c.world.Alive(e) && !slices.Contains(s.restored, e) {
			s.restored = append(s.restored, e)
		}
	}
}

// settle takes the server's word on tick t about what was spawned and destroyed
// until then.
func (c *Client) settle(t Tick) {
	s := &c.spawning
	for _, n := range s.matched {
		c.stats.SpawnsMatched++
		c.tellSpawn(c.spawnConfig(n.kind).OnConfirmed, n.e)
	}
	s.matched = s.matched[:0]
	if c.spawns.Len() == 0 {
	} else if _, _, own := c.receiver.Complete(t); own {
		c.spawns.Settle(t, uint32(c.cfg.SyncTest), func(_ Tick, n spawned) { c.missing(t, n) })
	} else {
		c.spawns.Forget(t, uint32(c.cfg.SyncTest))
	}
	for _, e := range s.restored {
		if k := c.ownPrefab(c.p.identity.Find(c.world, e)); k != nil {
			c.tellSpawn(c.spawnConfig(k.own).OnRestored, e)
		}
	}
	s.restored = s.restored[:0]
	for _, g := range c.ours {
		if g.Gone == 0 {
			continue
		}
		if int32(g.Gone-t) > 0 || g.Data != 0 && c.world.Alive(ecs.Entity(g.Data)) {
			continue
		}
		if g.Data != 0 { // predicted to be gone, and so it is
			c.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
		c.released = append(c.released, g)
	}
	if len(c.released) > 0 {
		c.release()
	}
	live := s.named[:0]
	for i := range s.named {
		if n := &s.named[i]; int32(n.until-t) >= 0 || !c.serverKnows(n, t) {
			live = append(live, *n)
		}
	}
	s.named = live
	c.forgetAppeared(t)
	if len(s.retired) > 0 {
		c.exhume()
	}
}

// missing is told of a predicted spawn that the server, at t, does not have.
func (c *Client) missing(t Tick, n spawned) {
	if r := c.records.Find(t); r != nil && !r.has(n.e) { // prediction had ended it
		c.bury(n.e)
		c.tellSpawn(c.spawnConfig(n.kind).OnConfirmed, n.e)
		return
	}
	c.cancelled(n)
}

// clearSpawns forgets everything spawned here: a level begins.
func (c *Client) clearSpawns() {
	c.spawns.Clear(func(_ Tick, s spawned) { c.cancelled(s) })
	s := &c.spawning
	s.fresh, s.matched, s.restored, s.named = s.fresh[:0], s.matched[:0], s.restored[:0], s.named[:0]
	if c.p.clientOnly {
		c.world.Manager().ReleaseOwner(ecs.ClientOnly)
	}
	c.lived = 0
	c.locals.clear()
}
