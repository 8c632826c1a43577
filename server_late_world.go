package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
)

// lateWorld runs whole ticks again for late commands: see ServerConfig.LateWorld. Each tick
// is kept with all that went into it: the world, the queues of events, the commands with the
// verdicts on their claims, and the requests. Snapshots and hitboxes of the past stay as
// they were sent.
type lateWorld struct {
	on      bool
	s       *Server
	window  Tick
	history *ecs.History // the world at the end of each tick; the last slot is scratch
	ticks   []worldTick  // by tick
	barrier Tick         // no tick up to here runs again
	stale   bool         // the world was changed by what does not run again, since the newest save
	touched bool         // or may have been
	ran     Tick         // the newest tick whose systems have run

	opened  bool     // what runs will run again with its tick
	running bool     // it does
	from    Tick     // the first tick to run again; 0: none
	by      PlayerID // whose commands that is for; Nobody: of several
	now     Tick     // the present, meanwhile
	final   Tick     // of the tick that runs: no tick up to here changes any more

	budget  lateWorldBudget
	held    heldMessages
	spawns  worldSpawns
	undo    []undone
	undoing bool
	cuts    map[ecs.Entity]Tick // the newest tick, in any run, in which an entity teleported
	none    unsafe.Pointer      // a command of a player that gave none; never written
	shapes  []uint64            // by owner, before ticks ran again
	marked  []bool              // scratch, by owner
}

// worldTick is what a tick ran with, beside commands.
type worldTick struct {
	tick     Tick
	final    Tick // as of that tick
	requests []askedOnce
	bytes    []byte
	spawned  []*worldSpawn // that it made, in any of its runs
}

// askedOnce is a request that was handled.
type askedOnce struct {
	by         *player
	kind       uint8
	from, upto int // in bytes
}

// playerAgain is what a player gave in each tick.
type playerAgain struct {
	ticks []againTick // by tick

	command unsafe.Pointer // of the present, while earlier ticks run again
	offset  uint8
	given   rewind.Given
}

type againTick struct {
	tick    Tick
	command unsafe.Pointer
	offset  uint8
	given   rewind.Given
	used    float64 // the latest moment that it had looked at by the tick's end
}

func (p *playerAgain) at(t Tick) *againTick { return &p.ticks[t%Tick(len(p.ticks))] }

func newLateWorld(s *Server, window Tick) lateWorld {
	w := lateWorld{s: s, window: window}
	if w.on = s.cfg.LateWorld; w.on {
		w.ticks = make([]worldTick, window+2)
		w.history = s.sim.world.NewHistory(len(w.ticks) + 1)
		w.marked = make([]bool, s.cfg.MaxClients+1)
		w.budget = newLateWorldBudget(s.p.TickRate)
		w.cuts = map[ecs.Entity]Tick{}
		w.none = s.p.Command.New()
		w.spawns.placed = map[spawnKey]*worldSpawn{}
	}
	return w
}

func (w *lateWorld) slot(t Tick) int { return int(t % Tick(len(w.ticks))) }

func (w *lateWorld) scratch() int { return len(w.ticks) }

func (w *lateWorld) at(t Tick) *worldTick { return &w.ticks[w.slot(t)] }

// hindsight reports whether the client knew the result of a tick when it sent the tick's
// command.
func (w *lateWorld) hindsight(p *player, t Tick) bool {
	knew := p.inputs.buffer.Knew(t)
	return knew != 0 && int32(knew-t) >= 0
}

// affords reports whether the common budget has room for a late command.
func (w *lateWorld) affords(p *player, t Tick) bool {
	now := w.s.sim.frame.Tick
	again := 0
	if w.from != 0 {
		again = int(now - w.from)
	}
	return w.budget.affords(int(now-t)-again, &p.late.taken)
}

// take takes a late command, and judges its claim as of now.
func (w *lateWorld) take(p *player, c *layout.Command, at *lateTick) {
	if p.again == nil || p.again.at(at.tick).tick != at.tick {
		w.s.late.settle(p, at) // cannot be: each tick in which it plays has a place
		return
	}
	to, before := p.again.at(at.tick), p.again.at(at.tick-1)
	layout.CopyBytes(to.command, at.command, c.Size)
	to.offset = at.offset
	used := float64(-1)
	if before.tick == at.tick-1 {
		used = before.used
	}
	present := p.shooter.Given()
	p.shooter.TakeLate(at.shot, w.s.sim.frame.Tick, used)
	to.given = p.shooter.Given()
	p.shooter.TakeBack(present)
	switch {
	case w.from == 0:
		w.from, w.by = at.tick, p.owner
	case w.by != p.owner:
		w.by = ecs.Nobody
	}
	if int32(at.tick-w.from) < 0 {
		w.from = at.tick
	}
}

// begin runs the ticks again whose commands came late, once the present tick's are taken.
func (w *lateWorld) begin() {
	if !w.on {
		return
	}
	s := w.s
	now := s.sim.frame.Tick
	for _, p := range s.sessions.players {
		w.note(p, now)
	}
	if changed := s.sim.writes.outside.look(causeOutside); changed || w.raised(now-1) || w.touched && w.differs(now-1) {
		w.block()
	}
	w.touched = false
	w.refresh()
	w.rerun()
	w.budget.next(s.sessions.players)
	s.late.worldSyncTest()
	w.final = w.computed()
	w.send(w.final)
}

// note keeps the command of the present tick.
func (w *lateWorld) note(p *player, now Tick) {
	c := w.s.p.Command
	if p.inputs.command == nil {
		return
	}
	if p.again == nil {
		p.again = &playerAgain{ticks: make([]againTick, len(w.ticks))}
		for i := range p.again.ticks {
			p.again.ticks[i].command = c.New()
		}
	}
	at := p.again.at(now)
	at.tick, at.offset, at.used = now, p.inputs.offset, -1
	layout.CopyBytes(at.command, p.inputs.command, c.Size)
}

// differs reports whether the world is no longer as at the end of a tick.
func (w *lateWorld) differs(t Tick) bool {
	if w.stale || !w.history.Holds(w.slot(t)) {
		return true
	}
	w.history.Save(w.scratch())
	is := w.s.sim.hash()
	w.history.Restore(w.slot(t))
	was := w.s.sim.hash()
	w.history.Restore(w.scratch())
	return is != was
}

// raised reports whether an event was raised since the end of a tick.
func (w *lateWorld) raised(t Tick) bool {
	for _, q := range w.s.sim.frame.queues {
		if q.differs(w.slot(t)) {
			return true
		}
	}
	return false
}

// runs reports whether what runs is part of a tick, and runs again with it.
func (w *lateWorld) runs() bool { return w.opened || w.running }

// stop makes the newest tick a barrier where whole ticks run again.
func (w *lateWorld) stop() {
	if w.on {
		w.block()
	}
}

// block makes the newest tick a barrier: what changes the world now does not run again.
func (w *lateWorld) block() {
	w.stale, w.from = true, 0
	for _, p := range w.s.sessions.players {
		st := p.late
		if st == nil {
			continue
		}
		st.from = 0
		for t := w.ran - Tick(len(st.ticks)) + 1; t != w.ran+1; t++ {
			if at := st.find(t); at != nil {
				w.s.late.settle(p, at)
			}
		}
	}
	w.send(w.ran) // ahead of what the change brings: a level, the end of a connection
}

// refresh begins anew behind a barrier, at the beginning of the present tick.
func (w *lateWorld) refresh() {
	if !w.on || !w.stale {
		return
	}
	before := w.s.sim.frame.Tick - 1
	w.stale, w.barrier, w.undo = false, before, w.undo[:0]
	for _, p := range w.s.sessions.players {
		if p.late != nil && int32(before-p.late.barrier) > 0 {
			p.late.barrier = before
		}
	}
	w.saveWorld(before)
}

func (w *lateWorld) saveWorld(t Tick) {
	w.history.Save(w.slot(t))
	w.saveQueues(w.slot(t))
}

func (w *lateWorld) saveQueues(slot int) {
	for _, q := range w.s.sim.frame.queues {
		q.save(slot)
	}
}

func (w *lateWorld) restoreWorld(slot int) {
	w.history.Restore(slot)
	for _, q := range w.s.sim.frame.queues {
		q.restore(slot)
	}
}

// open begins what runs again with the present tick. changed says that players came or went
// in it, or that OnDrain was called.
func (w *lateWorld) open(changed bool) {
	if !w.on {
		return
	}
	if changed {
		w.block()
	}
	w.refresh()
	now := w.s.sim.frame.Tick
	w.final = w.computed()
	w.send(w.final)
	at := w.at(now)
	w.spawns.forget(at)
	at.tick, at.final, at.requests, at.bytes = now, w.final, at.requests[:0], at.bytes[:0]
	w.opened = true
	w.spawns.begin()
}

// close ends it.
func (w *lateWorld) close() {
	if w.on {
		w.opened, w.ran = false, w.s.sim.frame.Tick
	}
}

// asked keeps a request that was handled.
func (w *lateWorld) asked(p *player, kind uint8, payload []byte) {
	if !w.on {
		return
	}
	at := w.at(w.s.sim.frame.Tick)
	from := len(at.bytes)
	at.bytes = append(at.bytes, payload...)
	at.requests = append(at.requests, askedOnce{p, kind, from, len(at.bytes)})
}

// save keeps the end of the present tick.
func (w *lateWorld) save() {
	now := w.s.sim.frame.Tick
	w.saveWorld(now)
	if w.s.late.test.ticks > 0 {
		w.noteRun(len(w.s.p.Systems))
	}
	for _, p := range w.s.sessions.players {
		if p.again == nil {
			continue
		}
		if at := p.again.at(now); at.tick == now {
			at.given, at.used = p.shooter.Given(), p.shooter.Used()
		}
	}
	w.spawns.look(w.s.sim.world, w.ticks)
	if len(w.cuts) > 64 {
		for e, t := range w.cuts {
			if now-t > w.window {
				delete(w.cuts, e)
			}
		}
	}
	w.spawns.sweep(w.s, now, w.window)
	old := 0
	for ; old < len(w.undo) && now-w.undo[old].tick > w.window; old++ {
	}
	w.undo = append(w.undo[:0], w.undo[old:]...)
}

// finalTick is the newest tick that no late command can change.
func (w *lateWorld) finalTick() Tick {
	if w.runs() {
		return w.final
	}
	return w.computed()
}

func (w *lateWorld) computed() Tick {
	now := w.s.sim.frame.Tick
	final := now
	for _, p := range w.s.sessions.players {
		if w.s.late.ready(p) {
			final = min(final, p.late.firstOpen(now+1)-1)
		}
	}
	return final
}

// lateWorldExtra is how many ticks of the world may run again in a tick, on average over a
// second: with LateWorld one late command runs them all again, so what players may have of
// their own does not bound what they cost together.
const lateWorldExtra = 2

// lateWorldBudget is what all players' late commands may cost together with LateWorld. A late
// command costs the ticks that run again for it alone: none, if an older one of the same tick
// makes them run. Each player with late commands is sure of an equal share, and so is one
// more who has none yet: so who withholds inputs leaves room for the others.
type lateWorldBudget struct {
	costs []int   // ticks that ran again, for each tick of the last second, by tick
	at    int     // the present tick's
	sum   int     // of costs
	share float64 // what each player is sure of in a second
}

func newLateWorldBudget(tickRate int) lateWorldBudget {
	return lateWorldBudget{costs: make([]int, tickRate), share: float64(lateWorldExtra * tickRate)}
}

// affords reports whether ticks may run again for a player, and counts them. taken is what the
// player took in about the last second.
func (b *lateWorldBudget) affords(ticks int, taken *float64) bool {
	if ticks <= 0 {
		return true
	}
	most := float64(lateWorldExtra * len(b.costs))
	if *taken+float64(ticks) > b.share {
		most -= b.share
	}
	if float64(b.sum+ticks) > most {
		return false
	}
	b.costs[b.at] += ticks
	b.sum += ticks
	*taken += float64(ticks)
	return true
}

// next begins the next tick.
func (b *lateWorldBudget) next(players []*player) {
	b.at = (b.at + 1) % len(b.costs)
	b.sum -= b.costs[b.at]
	b.costs[b.at] = 0
	n := 1
	for _, p := range players {
		if p.late != nil {
			if p.late.taken -= p.late.taken / float64(len(b.costs)); p.late.taken >= 1 {
				n++
			}
		}
	}
	b.share = float64(lateWorldExtra*len(b.costs)) / float64(n)
}

// heldMessages are reliable messages of ticks that may still run again, by tick.
type heldMessages struct {
	items []heldMessage
	bytes []byte
	aside []heldMessage // while ticks run again
}

type heldMessage struct {
	tick        Tick
	stands      bool // what sent it does not run again
	to          *player
	channel, id uint8
	from, upto  int
}

// keeps takes a message that is not to be sent now: a reliable one until its tick is final,
// and one of a tick that runs again and sent its unreliable messages before.
func (w *lateWorld) keeps(p *player, channel, id uint8, payload []byte) bool {
	switch {
	case !w.on:
		return false
	case w.running && w.s.late.test.running:
		return true
	case !w.s.p.Reliable(channel):
		return w.running
	}
	t := w.s.sim.frame.Tick
	runs := w.runs()
	if len(w.held.items) == 0 && (!runs || int32(t-w.final) <= 0) {
		return false
	}
	h := &w.held
	from := len(h.bytes)
	h.bytes = append(h.bytes, payload...)
	h.items = append(h.items, heldMessage{t, !runs, p, channel, id, from, len(h.bytes)})
	return true
}

// drop forgets the messages of ticks from a tick on, which run again. Those that no tick sent
// are put aside.
func (h *heldMessages) drop(from Tick) {
	h.aside = h.aside[:0]
	h.items = slices.DeleteFunc(h.items, func(m heldMessage) bool {
		if int32(m.tick-from) < 0 {
			return false
		}
		if m.stands {
			h.aside = append(h.aside, m)
		}
		return true
	})
}

// resume puts messages back, once tick t ran again.
func (h *heldMessages) resume(t Tick) {
	n := 0
	for ; n < len(h.aside) && int32(h.aside[n].tick-t) <= 0; n++ {
		h.items = append(h.items, h.aside[n])
	}
	h.aside = h.aside[n:]
}

// send sends the messages of ticks up to final.
func (w *lateWorld) send(final Tick) {
	h, n := &w.held, 0
	for ; n < len(h.items) && int32(h.items[n].tick-final) <= 0; n++ {
		m := &h.items[n]
		if w.s.sessions.has(m.to) {
			_ = w.s.mail.sendAs(m.to, m.tick, m.channel, m.id, h.bytes[m.from:m.upto]) // one that does not take it is disconnected
		}
	}
	if n == 0 {
		return
	}
	h.items = slices.Delete(h.items, 0, n)
	h.compact()
}

// compact gives the memory of what was sent back, once it is the greater part.
func (h *heldMessages) compact() {
	if len(h.items) == 0 {
		h.bytes = h.bytes[:0]
		return
	}
	gone := h.items[0].from
	for i := range h.items {
		gone = min(gone, h.items[i].from)
	}
	if gone <= len(h.bytes)/2 {
		return
	}
	h.bytes = h.bytes[:copy(h.bytes, h.bytes[gone:])]
	for i := range h.items {
		h.items[i].from, h.items[i].upto = h.items[i].from-gone, h.items[i].upto-gone
	}
}

// sendAll sends everything: nothing runs again.
func (w *lateWorld) sendAll() {
	if w.on {
		w.send(w.s.sim.frame.Tick)
	}
}

// has reports whether a peer is still a player or an observer of the match.
func (s *sessions) has(p *player) bool {
	if p.observing != nil {
		return slices.Contains(s.observers, p)
	}
	return s.player(p.owner) == p
}

// worldSpawns give an entity the same handle and network id in every run of the tick that
// spawns it, until a tick ends without it. Handles of entities that no run made are given back once no save holds them.
type worldSpawns struct {
	placed   map[spawnKey]*worldSpawn
	ordinals map[spawnKey]uint16 // of the tick that runs, by key without n
	reserved []reservedHandle
	next     int // of reserved, to be looked at
}

// spawnKey names a spawn: the n-th of its tick of a prefab and an owner.
type spawnKey struct {
	tick  Tick
	owner PlayerID
	kind  uint16
	n     uint16
}

type worldSpawn struct {
	spawnKey
	e     ecs.Entity
	net   uint32
	gone  bool // it was not there at the end of a tick: clients have removed it
	first firstOrigin
}

type reservedHandle struct {
	e    ecs.Entity
	gone Tick // since when it does not live; 0: it does
}

// begin begins a run of a tick.
func (m *worldSpawns) begin() { clear(m.ordinals) }

// forget drops the names of a tick that will not run again.
func (m *worldSpawns) forget(at *worldTick) {
	for i := range at.spawned {
		delete(m.placed, at.spawned[i].spawnKey)
	}
	at.spawned = at.spawned[:0]
}

// look finds the entities that are not there at the end of a tick.
func (m *worldSpawns) look(w *ecs.World, ticks []worldTick) {
	for i := range ticks {
		for _, it := range ticks[i].spawned {
			it.gone = it.gone || !w.Alive(it.e)
		}
	}
}

// place spawns an entity of a tick that may run again. It returns None for any other.
func (w *lateWorld) place(k *ecs.Prefab, owner PlayerID, kind int) (ecs.Entity, uint32) {
	if !w.on || !w.opened && !w.running {
		return ecs.None, 0
	}
	m, t := &w.spawns, w.s.sim.frame.Tick
	if m.ordinals == nil {
		m.ordinals = map[spawnKey]uint16{}
	}
	key := spawnKey{tick: t, owner: owner, kind: uint16(kind)}
	n := m.ordinals[key]
	m.ordinals[key] = n + 1
	key.n = n
	it := m.placed[key]
	if it == nil || it.gone && !w.s.late.test.running {
		it = &worldSpawn{spawnKey: key, e: w.s.sim.world.Reserve(ecs.RangeServer, owner), net: w.s.sim.nets.next()}
		m.placed[key] = it
		m.reserved = append(m.reserved, reservedHandle{e: it.e})
		w.at(t).spawned = append(w.at(t).spawned, it)
	}
	if w.s.sim.world.Alive(it.e) || w.s.sim.world.Manager().Place(it.e, k, owner) != nil {
		return ecs.None, 0
	}
	return it.e, it.net
}

// named returns where the origin of an entity is kept that the present tick spawned, in any of
// its runs.
func (w *lateWorld) named(e ecs.Entity) *firstOrigin {
	if w.runs() {
		for _, it := range w.at(w.s.sim.frame.Tick).spawned {
			if it.e == e {
				return &it.first
			}
		}
	}
	return nil
}

// keep says that a restore may have brought entities back that lived since a tick.
func (m *worldSpawns) keep(since Tick) {
	for i := range m.reserved {
		if it := &m.reserved[i]; int32(it.gone-since) >= 0 {
			it.gone = 0
		}
	}
}

// sweep gives handles back that no save holds any more. It looks at a part of them each tick.
func (m *worldSpawns) sweep(s *Server, now, window Tick) {
	for range min(max(16, len(m.reserved)/4), len(m.reserved)) {
		if m.next >= len(m.reserved) {
			m.next = 0
		}
		it := &m.reserved[m.next]
		switch {
		case s.sim.world.Alive(it.e):
			it.gone = 0
		case it.gone == 0:
			it.gone = now
		case now-it.gone > window+4:
			s.sim.world.Unreserve(it.e)
			last := len(m.reserved) - 1
			*it = m.reserved[last]
			m.reserved = m.reserved[:last]
			continue
		}
		m.next++
	}
}
