package foretick

import (
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
	is := w.s.hash()
	w.history.Restore(w.slot(t))
	was := w.s.hash()
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
