package late

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// world is the state for running whole ticks again. Each tick is saved with all its inputs: the world,
// the waiting events, the commands with the verdicts on their claims, and the requests. Snapshots and
// hitboxes of the past stay as they were sent.
type world struct {
	history *ecs.History // history has the world at the end of each tick. The last slot is scratch.
	ticks   []worldTick  // ticks has one for each tick that is kept.
	barrier Tick         // barrier is the tick up to which no tick runs again.
	// stale is true if something that does not run again changed the world since the newest save.
	stale   bool
	touched bool // touched is true if the program accessed the world between Steps and may have changed it.
	ran     Tick // ran is the newest tick whose systems have run.

	opened  bool // opened is true while code runs that will run again with its tick.
	running bool // running is true while a tick runs again.
	from    Tick // from is the first tick to run again. 0 means none.
	// by is the player whose commands make ticks run again. Nobody means several.
	by  ecs.Owner
	now Tick // now is the present tick while an older one runs.
	// final is the newest tick that no late command can change any more, as of the running tick.
	final Tick

	budget  budget
	held    messages
	names   names
	changes []Change
	undoing bool
	cuts    map[ecs.Entity]Tick // cuts has the newest tick in which an entity teleported, in any run.
	// jumped has entities whose teleport changed because ticks ran again in this tick.
	jumped []ecs.Entity
	none   unsafe.Pointer // none is the zero command, for a player without one. It is never written.
	shapes []uint64       // shapes has, by owner, the structure of its entities before ticks ran again.
	// marked reports, by owner, whether its predicted state changed because ticks ran again in this
	// tick.
	marked []bool
}

// worldTick holds the inputs of a tick other than commands.
type worldTick struct {
	tick     Tick
	final    Tick // final is what world.final was in that tick.
	requests []request
	bytes    []byte // bytes has the payloads of requests.
}

// request is a request that was handled in a tick.
type request struct {
	by         ecs.Owner
	kind       uint8
	from, upto int // the payload's range in worldTick.bytes
}

func newWorld(cfg *Config) world {
	n := int(cfg.Window) + 2
	return world{
		history: ecs.Engine(cfg.World).NewHistory(n + 1), ticks: make([]worldTick, n),
		budget: newBudget(cfg.Layout.TickRate), names: newNames(cfg.Window, cfg.Window+4, true),
		cuts: map[ecs.Entity]Tick{}, none: cfg.Layout.Command.New(), marked: make([]bool, cfg.Owners),
	}
}

// worldTick returns the place of a tick.
func (r *Room) worldTick(t Tick) *worldTick { return &r.world.ticks[r.Slot(t)] }

// affords reports whether the common budget has room for a player's late command of tick t.
func (r *Room) affords(p *Player, t Tick) bool {
	now, again := *r.Tick, 0
	if r.world.from != 0 {
		again = int(now - r.world.from)
	}
	return r.world.budget.affords(int(now-t)-again, &p.taken)
}

// takeInWorld judges the claim of a late command as of the present tick.
func (r *Room) takeInWorld(p *Player, at *playerTick) {
	w, present := &r.world, p.shooter.Given()
	p.shooter.TakeLate(at.shot, *r.Tick, p.usedBy(at.tick-1))
	at.given = p.shooter.Given()
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

// BeginWorld runs the ticks again whose commands came late. Call it once the present tick's commands
// are taken. changed says that the program changed predicted state, or raised an event.
func (r *Room) BeginWorld(changed bool) {
	w, now := &r.world, *r.Tick
	if changed || w.touched && r.differs(now-1) {
		r.BlockWorld()
	}
	w.touched = false
	w.jumped = w.jumped[:0]
	clear(w.marked)
	r.refreshWorld()
	r.rerunWorld()
	w.budget.next(*r.Players)
	if r.test.ticks > 0 {
		r.testRuns(worldRuns{r})
	}
	w.final = r.computeFinal()
	r.sendMessages(w.final)
}

// Touch records that the program accessed the world or the frame between Steps.
func (r *Room) Touch() { r.world.touched = true }

// differs reports whether the world has changed since the end of a tick.
func (r *Room) differs(t Tick) bool {
	w := &r.world
	if w.stale || !w.history.Holds(r.Slot(t)) {
		return true
	}
	w.history.Save(r.scratch())
	is := r.host.Hash(false)
	w.history.Restore(r.Slot(t))
	was := r.host.Hash(false)
	w.history.Restore(r.scratch())
	return is != was
}

// runs reports whether the running code is part of a tick and runs again with it.
func (w *world) runs() bool { return w.opened || w.running }

// StopWorld makes the newest tick a barrier if whole ticks run again.
func (r *Room) StopWorld() {
	if r.Whole {
		r.BlockWorld()
	}
}

// BlockWorld makes the newest tick a barrier, because something that does not run again changes the
// world now.
func (r *Room) BlockWorld() {
	w := &r.world
	w.stale, w.from = true, 0
	for _, p := range *r.Players {
		if p.entered {
			p.from = 0
			r.settleTicks(p, w.ran)
		}
	}
	r.sendMessages(w.ran) // send them before the change's own messages: a new level, the end of a connection
}

// refreshWorld saves the world at the beginning of the present tick and starts a new history there, if
// the world is stale.
func (r *Room) refreshWorld() {
	w := &r.world
	if !w.stale {
		return
	}
	before := *r.Tick - 1
	w.stale, w.barrier, w.changes = false, before, w.changes[:0]
	for _, p := range *r.Players {
		if p.entered && int32(before-p.barrier) > 0 {
			p.barrier = before
		}
	}
	r.keepWorld(r.Slot(before))
}

// keepWorld saves the world and its events in a slot. restoreWorld restores them.
func (r *Room) keepWorld(slot int) {
	r.world.history.Save(slot)
	r.host.SaveEvents(slot)
}

func (r *Room) restoreWorld(slot int) {
	r.world.history.Restore(slot)
	r.host.RestoreEvents(slot)
}

// OpenWorld begins the part of the present tick that runs again with it. changed says that players
// joined or left in the tick, or that OnDrain was called.
func (r *Room) OpenWorld(changed bool) {
	if !r.Whole {
		return
	}
	if changed {
		r.BlockWorld()
	}
	r.refreshWorld()
	w, now := &r.world, *r.Tick
	w.final = r.computeFinal()
	r.sendMessages(w.final)
	w.names.forget(r.Slot(now))
	clear(w.names.ordinals)
	at := r.worldTick(now)
	at.tick, at.final, at.requests, at.bytes = now, w.final, at.requests[:0], at.bytes[:0]
	w.opened = true
}

// CloseWorld ends the work that OpenWorld began.
func (r *Room) CloseWorld() {
	if r.Whole {
		r.world.opened, r.world.ran = false, *r.Tick
	}
}

// KeepRequest stores a request that was handled in the present tick.
func (r *Room) KeepRequest(by ecs.Owner, kind uint8, payload []byte) {
	if !r.Whole {
		return
	}
	at := r.worldTick(*r.Tick)
	from := len(at.bytes)
	at.bytes = append(at.bytes, payload...)
	at.requests = append(at.requests, request{by, kind, from, len(at.bytes)})
}

// EachRequest calls handle for each request of the tick that runs again.
func (r *Room) EachRequest(handle func(by ecs.Owner, kind uint8, payload []byte)) {
	at := r.worldTick(*r.Tick)
	for _, it := range at.requests {
		handle(it.by, it.kind, at.bytes[it.from:it.upto])
	}
}

// saveWorld saves the end of the present tick.
func (r *Room) saveWorld(now Tick) {
	w := &r.world
	r.keepWorld(r.Slot(now))
	if r.test.ticks > 0 {
		r.noteRun(ecs.Nobody, len(r.Systems), r.host.Hash(true))
	}
	for _, p := range *r.Players {
		if at := p.at(now); p.Gave(now) {
			at.given, at.used = p.shooter.Given(), p.shooter.Used()
		}
	}
	w.names.look(r.World)
	if len(w.cuts) > 64 {
		for e, t := range w.cuts {
			if now-t > r.Window {
				delete(w.cuts, e)
			}
		}
	}
	w.names.sweep(r.World, now)
	old := 0
	for ; old < len(w.changes) && now-w.changes[old].tick > r.Window; old++ {
	}
	w.changes = append(w.changes[:0], w.changes[old:]...)
}

// finalTick returns the newest tick that no late command can change.
func (r *Room) finalTick() Tick {
	if r.world.runs() {
		return r.world.final
	}
	return r.computeFinal()
}

func (r *Room) computeFinal() Tick {
	now := *r.Tick
	final := now
	for _, p := range *r.Players {
		if r.ready(p) {
			final = min(final, p.firstOpen(now+1)-1)
		}
	}
	return final
}

// rerunWorld restores the world to the tick before the oldest late command, and runs all ticks up to
// the present again.
func (r *Room) rerunWorld() {
	w := &r.world
	from, now := w.from, *r.Tick
	if w.from = 0; from == 0 {
		return
	}
	if int32(from-w.barrier) <= 0 || !w.history.Holds(r.Slot(from-1)) {
		r.BlockWorld()
		r.refreshWorld()
		return
	}
	w.history.Save(r.scratch())
	r.beginRuns()
	r.restoreWorld(r.Slot(from - 1))
	r.undoChanges(from)
	w.names.keep(from - 1)
	w.held.drop(from)
	for t := from; t != now; t++ {
		r.runTick(t)
		w.held.resume(t)
		r.keepWorld(r.Slot(t))
		if r.test.ticks > 0 {
			r.test.runs[runOf{ecs.Nobody, t, len(r.Systems)}] = r.host.Hash(false)
		}
		for _, p := range *r.Players {
			if p.Gave(t) {
				at := p.at(t)
				at.given, at.used = p.shooter.Given(), max(at.used, p.shooter.Used())
				if at.state == came {
					at.state = decided
				}
			}
			p.from = 0
		}
	}
	r.endRuns()
	r.noteDifferences(from)
}

// beginRuns and endRuns enclose ticks that run again. beginRuns saves each player's present command,
// which endRuns restores.
func (r *Room) beginRuns() {
	w := &r.world
	w.now, w.running = *r.Tick, true
	w.shapes = w.shapes[:0]
	for owner := range w.marked {
		w.shapes = append(w.shapes, ecs.Engine(r.World).Structure(ecs.Owner(owner)))
	}
	for _, p := range *r.Players {
		if a := &p.present; p.ticks != nil {
			a.command, a.offset = r.host.Swap(p, w.none, 0)
			a.given = p.shooter.Given()
		}
	}
}

func (r *Room) endRuns() {
	r.world.running = false
	r.host.Return(r.world.now)
	for _, p := range *r.Players {
		if a := &p.present; p.ticks != nil {
			r.host.Swap(p, a.command, a.offset)
			p.shooter.TakeBack(a.given)
		}
	}
}

// runTick runs a tick again with its saved inputs.
func (r *Room) runTick(t Tick) {
	r.world.final = r.worldTick(t).final
	clear(r.world.names.ordinals)
	for _, p := range *r.Players {
		switch at := p.at(t); {
		case at == nil:
		case at.tick != t: // the player joined in that tick
			r.host.Swap(p, r.world.none, 0)
		default:
			r.host.Swap(p, at.command, at.offset)
			p.shooter.Again(at.given, t, p.usedBy(t-1))
		}
	}
	r.host.RunWorld(t, r.test.running)
}

// noteDifferences marks the players whose predicted state has changed, and makes the jumps of bodies
// fade on other players' screens.
func (r *Room) noteDifferences(from Tick) {
	w := &r.world
	for owner, was := range w.shapes {
		w.marked[owner] = ecs.Engine(r.World).Structure(ecs.Owner(owner)) != was
	}
	for i := range r.Layout.Components {
		c := &r.Layout.Components[i]
		if c.Unknown || c.Varies || !c.Predicted && !c.Lerped {
			continue
		}
		w.history.Diff(r.scratch(), c.ID, func(rows ecs.Rows, k int, was unsafe.Pointer) {
			e, owner := rows.Entity(k), rows.Owner()
			if c.Predicted && int(owner) < len(w.marked) {
				w.marked[owner] = true
			}
			if cut, ok := w.cuts[e]; ok && was != nil && int32(cut-from) >= 0 {
				if !r.fades.hasCut(e) { // a teleport was undone or made: the body jumps without a fade
					r.fades.cut, w.jumped = append(r.fades.cut, e), append(w.jumped, e)
				}
				return
			}
			if c.Lerped && was != nil && !r.fades.hasCut(e) {
				r.fades.add(r.World, e, i, was, unsafe.Add(rows.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// Affects reports whether another player's late command changed in this tick what a player's client
// predicts.
func (r *Room) Affects(owner ecs.Owner) bool {
	w := &r.world
	return (w.marked[owner] || w.marked[ecs.Nobody] && r.Layout.Common) && owner != w.by
}

// Jumped returns the entities that teleported elsewhere, or no longer, because ticks ran again in this
// tick.
func (r *Room) Jumped() []ecs.Entity { return r.world.jumped }

// Cut records that an entity teleports in the running tick. It reports whether an earlier run of the
// tick did the same: then screens and shots already know of the teleport.
func (r *Room) Cut(e ecs.Entity) (again bool) {
	if r.Whole {
		w, t := &r.world, *r.Tick
		was, ok := w.cuts[e]
		if w.cuts[e] = t; ok && int32(was-t) > 0 {
			w.cuts[e] = was
		}
		again = w.running && ok && was == t
	}
	if r.Window > 0 && !again {
		r.fades.cut = append(r.fades.cut, e)
	}
	return again
}
