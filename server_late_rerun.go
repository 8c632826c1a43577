package foretick

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// rerun runs the ticks again whose commands came late.
func (l *lateInputs) rerun() {
	if !l.own() {
		return
	}
	for _, p := range l.s.sessions.players {
		if l.ready(p) {
			l.noteOutside(p)
		}
	}
	for _, p := range l.s.sessions.players {
		if l.ready(p) && p.late.from != 0 {
			l.rerunPlayer(p)
		}
	}
	l.syncTest()
}

// noteOutside adds to the journal what was changed since the end of the tick before.
func (l *lateInputs) noteOutside(p *player) {
	st, now := p.late, l.s.sim.frame.Tick
	if l.s.sim.world.Structure(p.owner) != st.shape || !st.history.Holds(st.slot(now-1)) {
		l.block(p)
		return
	}
	if !st.outside {
		return
	}
	at := st.at(now)
	for i, fields := range l.fields {
		if len(fields) == 0 {
			continue
		}
		c := &l.s.p.Components[i]
		st.history.Diff(st.slot(now-1), c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if was != nil {
				l.compare(at, -1, r.Entity(k), i, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// compare adds the fields of a component that differ.
func (l *lateInputs) compare(at *lateTick, system int, e ecs.Entity, comp int, was, now unsafe.Pointer) {
	for _, f := range l.fields[comp] {
		a, b := unsafe.Add(was, f.offset), unsafe.Add(now, f.offset)
		if !bytes.Equal(unsafe.Slice((*byte)(a), f.size), unsafe.Slice((*byte)(b), f.size)) {
			at.write(lateWrite{system: system, e: e, comp: comp, offset: f.offset, size: f.size}, b)
		}
	}
}

// wrote adds what a server system did to a table's column. was is its image.
func (l *lateInputs) wrote(t *watchedTable, was []byte, system int) {
	if !l.own() {
		return
	}
	p := l.s.sessions.player(t.rows.Owner())
	if p == nil || !l.ready(p) {
		return
	}
	now := l.s.sim.frame.Tick
	at := p.late.at(now)
	if at.tick != now {
		return
	}
	switch {
	case p == l.player: // the handler of an event that it raised in the tick that runs again
		at, system = l.at, l.events
	case l.player != nil: // the same, to others: before the systems of the present
		system = -1
	}
	from, comp := len(at.journal), slices.IndexFunc(l.s.p.Components, func(c layout.Component) bool { return c.ID == t.comp.ID })
	base := t.rows.Column(t.comp.ID)
	for k, e := range t.rows.Entities() {
		off := uintptr(k) * t.comp.Size
		l.compare(at, system, e, comp, unsafe.Pointer(&was[off]), unsafe.Add(base, off))
	}
	if p == l.player { // it goes ahead of what the tick's own handlers did, and is done
		n := len(at.journal) - from
		added := at.journal[from:]
		l.moved = append(l.moved[:0], added...)
		copy(at.journal[l.next+n:], at.journal[l.next:from])
		copy(at.journal[l.next:], l.moved)
		l.next += n
	}
}

// rerunPlayer restores a player's part to the tick before its late command, and runs it
// again up to the tick before the present.
func (l *lateInputs) rerunPlayer(p *player) {
	s, st := l.s, p.late
	f, from := &s.sim.frame, st.from
	st.from = 0
	l.now = f.Tick
	if !st.history.Holds(st.slot(from-1)) || st.find(from) == nil {
		l.block(p)
		return
	}
	st.history.Save(st.scratch())
	st.history.Restore(st.slot(from - 1))
	l.keep(st)
	l.player = p
	p.reasons.Rerun(from)
	if debugBuild {
		p.trail.Forget()
	}
	for t := from; t != l.now; t++ {
		at := st.at(t)
		if at.tick != t {
			break // cannot be: each tick in which it plays has a place
		}
		l.rerunTick(p, at)
		st.history.Save(st.slot(t))
	}
	l.keep(st)
	st.shape = s.sim.world.Structure(p.owner)
	l.at, l.next = st.at(l.now), 0
	l.apply(len(s.p.Systems))
	l.noteJumps(p, st.scratch())
	l.player, l.at = nil, nil
	f.Tick, f.Replay = l.now, false
	s.sim.spawnTick = 0
}

// keep gives components that no client predicts their present values.
func (l *lateInputs) keep(st *playerLate) {
	for _, id := range l.kept {
		st.history.RestoreComponent(st.scratch(), id)
	}
}

// rerunTick runs the shared systems for one player.
func (l *lateInputs) rerunTick(p *player, at *lateTick) {
	s, f := l.s, &l.s.sim.frame
	f.Tick, f.Replay = at.tick, true
	l.at, l.next = at, 0
	s.sim.spawnTick = 0
	for _, q := range f.queues {
		q.drop(p.owner, at.tick)
		if !l.test.running {
			q.dropFinal(p.owner, at.tick)
		}
	}
	l.apply(-1)
	l.fill(p, at)
	stated := p.inputs.offset
	p.inputs.offset = at.offset
	if s.traces.armed() && !l.test.running {
		s.traces.beginRerun(p, at.tick)
	}
	entered := l.match.enter(at.tick - 1)
	s.around.runAgain(f, l.test.running)
	s.p.schedule.ExecuteOwner(s.sim.world, f, l.runs, p.owner)
	s.around.runFirst(f)
	if entered {
		l.match.leave()
	}
	if len(s.traces.recording) > 0 {
		s.traces.end()
	}
	p.inputs.offset = stated
	f.Replay, f.Tick = false, l.now
	l.apply(l.events - 1)
	if at.state == came {
		at.state = settled
		l.handle(p, at)
	}
	l.apply(len(s.p.Systems))
	for _, rows := range s.sim.entities.Owned(s.sim.world, p.owner) {
		s.sim.roundRows(rows, false)
	}
	at.used = max(at.used, p.shooter.Used())
}

// handle runs the handlers of what a late command raised.
func (l *lateInputs) handle(p *player, at *lateTick) {
	s := l.s
	used := float64(-1)
	if before := p.late.find(at.tick - 1); before != nil {
		used = before.used
	}
	p.shooter.TakeLate(at.shot, l.now, used)
	for i, q := range s.sim.frame.queues {
		if system := l.queues[i]; system >= 0 && q.pending() {
			s.sim.writes.beforeSystem(&s.sim.frame, system)
			s.sim.world.Lock()
			q.drain(&s.sim.frame)
			s.sim.world.Unlock()
			s.sim.writes.afterSystem(&s.sim.frame, system)
		}
	}
	s.sim.writes.end()
	p.shooter.Forget()
}

// fill writes a tick's command into the player's rows.
func (l *lateInputs) fill(p *player, at *lateTick) {
	c := l.s.p.Command
	for _, rows := range l.s.sim.commands.Owned(l.s.sim.world, p.owner) {
		base := rows.Column(c.ID)
		for i := range rows.Len() {
			layout.CopyBytes(unsafe.Add(base, uintptr(i)*c.Size), at.command, c.Size)
		}
	}
}

// apply sets what others set, up to a system of the tick.
func (l *lateInputs) apply(upto int) {
	for ; l.next < len(l.at.journal) && l.at.journal[l.next].system <= upto; l.next++ {
		w := &l.at.journal[l.next]
		if to := l.s.sim.world.Pointer(w.e, l.s.p.Components[w.comp].ID); to != nil {
			layout.CopyBytes(unsafe.Add(to, w.offset), unsafe.Pointer(&l.at.bytes[w.from]), w.size)
		}
	}
}

// raise decides what becomes of an event that a player's entity raises.
func (l *lateInputs) raise(owner PlayerID) eventFate {
	if !l.own() || !l.s.sim.writes.sharedRuns() {
		return eventHappens
	}
	p, at := l.player, l.at
	if p == nil {
		if p = l.s.sessions.player(owner); p == nil || !l.ready(p) {
			return eventHappens
		}
		at = p.late.at(l.s.sim.frame.Tick)
	}
	switch {
	case at.tick != l.s.sim.frame.Tick:
		return eventHappens
	case at.state == waits:
		return eventWaits
	case l.player != nil && at.state == settled:
		return eventPast
	}
	return eventHappens
}

// quiet reports whether a shared system runs again that sent its messages in its first run.
func (l *lateInputs) quiet() bool {
	return l.player != nil && (l.at.state == settled || l.test.running) && l.s.sim.writes.sharedRuns()
}

// spawn returns the handle and the id of a predicted spawn, which are the same in every run
// of its tick; None while late commands are not taken.
func (l *lateInputs) spawn(owner PlayerID, by ecs.Entity, kind int, n uint16) *lateSpawn {
	p := l.s.sessions.player(owner)
	if !l.own() || p == nil || !l.ready(p) {
		return nil
	}
	st, key := p.late, lateSpawn{ordinalKey: ordinalKey{by, uint16(kind)}, n: n, tick: l.s.sim.frame.Tick}
	for i := range st.spawned {
		if k := &st.spawned[i]; k.ordinalKey == key.ordinalKey && k.n == n && k.tick == key.tick {
			if l.s.sim.world.Alive(k.e) {
				return nil // cannot be: the tick was undone
			}
			k.gone = 0
			return k
		}
	}
	key.e, key.net = l.s.sim.world.Reserve(ecs.RangeServer, owner), l.s.sim.nets.next()
	st.spawned = append(st.spawned, key)
	return &st.spawned[len(st.spawned)-1]
}

// originOf returns the origin of a spawn in the first run of its tick, which is this one's if no
// other was before. Meanwhile the client may have been told the spawner, which it could not
// predict with when it ran the tick.
func (l *lateInputs) originOf(owner PlayerID, e ecs.Entity, origin uint32) uint32 {
	first := l.world.named(e)
	if p := l.s.sessions.player(owner); first == nil && l.own() && p != nil && l.ready(p) {
		for i := range p.late.spawned {
			if k := &p.late.spawned[i]; k.e == e && k.tick == l.s.sim.frame.Tick {
				first = &k.first
			}
		}
	}
	if first == nil {
		return origin
	}
	if !first.known {
		*first = firstOrigin{known: true, origin: origin}
	}
	return first.origin
}

// forgetSpawns gives the handles of spawns back that no save holds any more.
func (l *lateInputs) forgetSpawns(p *player) {
	now, live := l.s.sim.frame.Tick, p.late.spawned[:0]
	for _, k := range p.late.spawned {
		switch {
		case l.s.sim.world.Alive(k.e):
			k.gone = 0
		case k.gone == 0:
			k.gone = now
		case now-k.gone > Tick(len(p.late.ticks)):
			l.s.sim.world.Unreserve(k.e)
			continue
		}
		live = append(live, k)
	}
	p.late.spawned = live
}

// lateFadeTime is the time in which a late correction fades on other players' screens, at an
// even speed: for twice as long as a body can have walked unseen. One that ran at 6 m/s then
// moves by 0.1 m a tick of a thirtieth second more than it does.
func (s *Server) lateFadeTime() time.Duration {
	return max(400*time.Millisecond, 2*s.cfg.LateInputs)
}

// lateFades hides from other players that a late command moved a body. The bodies are told
// with offsets that fade, and shots are judged by what was told. Owners are told the truth.
type lateFades struct {
	items []lateFade
	first map[ecs.Entity]int // of an entity's items
	cut   []ecs.Entity       // that teleported in this tick, or in one that ran again in it
	a, b  []int32
}

// lateFade is the offset of an interpolated field.
type lateFade struct {
	fadeItem
	owner PlayerID
	life  uint32 // see LifeID
	left  int    // ticks until it is gone
	next  int    // of the entity, −1: none
}

// noteJumps adds what has changed in a player's part since a save of it.
func (l *lateInputs) noteJumps(p *player, slot int) {
	for i := range l.s.p.Components {
		c := &l.s.p.Components[i]
		if !c.Lerped || len(l.fields[i]) == 0 {
			continue
		}
		p.late.history.Diff(slot, c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if e := r.Entity(k); was != nil && !slices.Contains(l.fades.cut, e) {
				l.fades.add(l.s, e, i, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
		})
	}
}

// add keeps a component told as it was, and lets the difference fade from there.
func (f *lateFades) add(s *Server, e ecs.Entity, comp int, was, is unsafe.Pointer) {
	described := s.p.Components[comp].Schema
	n := described.Words()
	f.a, f.b = slices.Grow(f.a[:0], n)[:n], slices.Grow(f.b[:0], n)[:n]
	described.Quantise(is, schema.GridSim, nil, f.b)
	for i, info := range described.Fields() {
		if !info.Lerp {
			continue
		}
		described.Quantise(was, schema.GridSim, nil, f.a) // again: the item before may have moved it
		if !described.Has(i, f.a) || !described.Has(i, f.b) || described.Offset(i, f.a, f.b) == (schema.Offset{}) {
			continue
		}
		at := f.find(e, comp, i)
		if at < 0 {
			at = f.insert(lateFade{fadeItem: fadeItem{e: e, comp: comp, field: i}, owner: s.sim.world.Owner(e), life: s.sim.lifeOf(e)})
		}
		it := &f.items[at]
		if it.offset != (schema.Offset{}) {
			described.Displace(i, f.a, it.offset)
		}
		it.offset, it.least = described.Offset(i, f.a, f.b), float32(info.Sim)/2
		it.left = int((s.lateFadeTime() + s.clock.interval - 1) / s.clock.interval)
	}
}

// hasCut reports whether an entity teleported in this tick, or in one that ran again in it.
func (f *lateFades) hasCut(e ecs.Entity) bool { return slices.Contains(f.cut, e) }

func (f *lateFades) find(e ecs.Entity, comp, field int) int {
	at, ok := f.first[e]
	if !ok {
		return -1
	}
	for ; at >= 0; at = f.items[at].next {
		if it := &f.items[at]; it.comp == comp && it.field == field {
			return at
		}
	}
	return -1
}

func (f *lateFades) insert(it lateFade) int {
	it.next = -1
	if at, ok := f.first[it.e]; ok {
		it.next = at
	}
	f.items = append(f.items, it)
	f.first[it.e] = len(f.items) - 1
	return len(f.items) - 1
}

// age fades the offsets by a tick, and drops those that are gone or no longer make sense.
func (f *lateFades) age(s *Server) {
	if len(f.items) == 0 {
		f.cut = f.cut[:0]
		return
	}
	all := f.items
	clear(f.first)
	f.items = f.items[:0]
	for _, it := range all {
		it.left--
		for i := range it.offset {
			it.offset[i] *= float32(it.left) / float32(it.left+1)
		}
		if size := it.offset.Size(); !(size > it.least) || !s.sim.world.Alive(it.e) || s.sim.world.Owner(it.e) != it.owner || s.sim.lifeOf(it.e) != it.life || slices.Contains(f.cut, it.e) {
			continue
		}
		f.insert(it)
	}
	f.cut = f.cut[:0]
}

// displace lets the next Put of an entity tell others of it with its offsets.
func (f *lateFades) displace(source *snapshot.Source, e ecs.Entity) {
	if len(f.items) == 0 {
		return
	}
	at, ok := f.first[e]
	for ok && at >= 0 {
		it := &f.items[at]
		source.Displace(it.comp, it.field, it.offset)
		at = it.next
	}
}

// lifeOf returns the number of an entity's life, 0 where the game does not count them.
func (m *simulation) lifeOf(e ecs.Entity) (n uint32) {
	for _, l := range m.p.Lives {
		if at := m.world.Pointer(e, m.p.Components[l.Component].ID); at != nil {
			n = n*31 + m.p.handlers.lives[l.Own](at)
		}
	}
	return n
}

// lateSyncTest runs the newest ticks of each player again, before each tick, and looks for
// results that differ from the first run. A late input would change them, too.
type lateSyncTest struct {
	ticks   Tick // that are run again; 0: it is off
	found   func(probe.Desync)
	running bool
	skips   bool // a system that reads other rows or singletons was the first that differed
	system  int  // after which the runs differed first, as far as known; −1: none yet
	runs    map[lateRun]uint64
}

// lateRun names the run of a system in a tick for a player.
type lateRun struct {
	owner  PlayerID
	tick   Tick
	system int
}

// beginSyncTest makes the server run so many ticks again before each tick.
func (l *lateInputs) beginSyncTest(ticks int, found func(probe.Desync)) error {
	switch {
	case l.window == 0:
		return errors.New("foretick: a server runs ticks again only with LateInputs: set ServerConfig.LateInputs")
	case ticks < 0 || Tick(ticks) > l.window:
		return fmt.Errorf("foretick: a server's sync test goes %d ticks back: use up to %d, the ticks of ServerConfig.LateInputs", ticks, l.window)
	case l.s.sim.frame.Tick != 0:
		return errors.New("foretick: a server's sync test begins before the first Step")
	}
	if r := l.s.tape.sink; r != nil {
		tell := found
		found = func(d probe.Desync) {
			r.Report(fmt.Sprintf("desync in tick %d after system %q: %s.%s", d.Tick, d.System, d.Component, d.Field))
			tell(d)
		}
	}
	l.test = lateSyncTest{ticks: Tick(ticks), found: found, runs: map[lateRun]uint64{}}
	l.s.around.arrangeHooks()
	return nil
}

// logDesyncs is the sync test of debug builds: it logs the first fault of each component.
func (l *lateInputs) logDesyncs() {
	told := map[string]bool{}
	_ = l.beginSyncTest(1, func(d probe.Desync) {
		if key := d.System + " " + d.Component; !told[key] {
			told[key] = true
			l.s.logs.Logger.Warn("a tick that runs again for a late input has another result: keep state in components, not in Go variables",
				append(l.who(), "tick", d.Tick, "system", d.System, "component", d.Component, "field", d.Field, "first", d.First, "again", d.Again)...)
		}
	})
}

// who names the player whose part runs again, if it is one's.
func (l *lateInputs) who() []any {
	if l.player == nil {
		return nil
	}
	return l.player.who()
}

// firstRuns notes the results of systems for the sync test.
type firstRuns struct{ late *lateInputs }

func (firstRuns) beforeSystem(*Frame, int) {}

func (r firstRuns) afterSystem(_ *Frame, system int) { r.late.noteRun(system) }

// laterRuns gives a player's part, as it runs again, what others did to it in the tick, and
// compares the results of systems with those of their first runs.
type laterRuns struct{ late *lateInputs }

func (r laterRuns) beforeSystem(_ *Frame, system int) {
	if !r.late.world.on {
		r.late.apply(system - 1)
	}
}

func (r laterRuns) afterSystem(_ *Frame, system int) { r.late.compareRun(system) }

// noteRun notes the state of the players' parts after a shared system's first run.
func (l *lateInputs) noteRun(system int) {
	if l.world.on {
		l.world.noteRun(system)
		return
	}
	if !l.shared[system] {
		return
	}
	now := l.s.sim.frame.Tick
	for _, p := range l.s.sessions.players {
		if l.ready(p) {
			l.test.runs[lateRun{p.owner, now, system}] = l.sumPart(p)
			delete(l.test.runs, lateRun{p.owner, now - l.window - 2, system})
		}
	}
}

// compareRun compares the state after a shared system's repeated run with that of the first
// one. The run with a late command becomes the first.
func (l *lateInputs) compareRun(system int) {
	y := &l.test
	if y.ticks == 0 || y.running && y.system >= 0 {
		return
	}
	if l.world.on {
		l.world.compareRun(system)
		return
	}
	if !l.shared[system] {
		return
	}
	run, sum := lateRun{l.player.owner, l.s.sim.frame.Tick, system}, l.sumPart(l.player)
	if !y.running {
		y.runs[run] = sum
		return
	}
	if was, ok := y.runs[run]; ok && was != sum {
		y.system = system
		read := l.s.p.schedule.Systems()[system]
		y.skips = len(read.OtherReads)+len(read.SingleReads) > 0
	}
}

// sumPart is a digest of a player's predicted state.
func (l *lateInputs) sumPart(p *player) uint64 {
	sum := uint64(0)
	l.eachOwn(p, func(e ecs.Entity, c *layout.Component, at unsafe.Pointer) {
		x := (fnvOffset^uint64(e))*fnvPrime ^ uint64(c.ID)
		for _, b := range unsafe.Slice((*byte)(at), c.Size) {
			x = (x ^ uint64(b)) * fnvPrime
		}
		sum += x
	})
	return sum
}

// eachOwn visits the predicted components of a player's entities.
func (l *lateInputs) eachOwn(p *player, visit func(e ecs.Entity, c *layout.Component, at unsafe.Pointer)) {
	for _, rows := range l.s.sim.entities.Owned(l.s.sim.world, p.owner) {
		for i := range l.s.p.Components {
			c := &l.s.p.Components[i]
			base := rows.Column(c.ID)
			if !c.Predicted || base == nil {
				continue
			}
			for k, e := range rows.Entities() {
				visit(e, c, unsafe.Add(base, uintptr(k)*c.Size))
			}
		}
	}
}

// syncTest runs the newest ticks of each player again, whose result has to be the same.
func (l *lateInputs) syncTest() {
	if l.test.ticks == 0 {
		return
	}
	for _, p := range l.s.sessions.players {
		if l.ready(p) && p.late.from == 0 {
			l.syncTestOf(p)
		}
	}
}

func (l *lateInputs) syncTestOf(p *player) {
	s, st, y := l.s, p.late, &l.test
	f := &s.sim.frame
	l.now = f.Tick
	from := l.now - l.test.ticks
	for ; from != l.now; from++ {
		if st.find(from) != nil && st.history.Holds(st.slot(from-1)) {
			break
		}
	}
	if from == l.now || s.sim.world.Structure(p.owner) != st.shape {
		return
	}
	st.history.Save(st.scratch())
	st.history.Restore(st.slot(from - 1))
	l.keep(st)
	l.player, y.running, y.system, y.skips = p, true, -1, false
	for t := from; t != l.now; t++ {
		if at := st.at(t); at.tick == t {
			l.rerunTick(p, at)
		}
		if y.differs(l, p, st, t) {
			break
		}
	}
	l.player, l.at, y.running = nil, nil, false
	f.Tick, f.Replay = l.now, false
	s.sim.spawnTick = 0
	st.history.Restore(st.scratch())
}

// differs compares the end of a tick with its first run's, and reports the first difference.
func (y *lateSyncTest) differs(l *lateInputs, p *player, st *playerLate, t Tick) (any bool) {
	for i := range l.s.p.Components {
		c := &l.s.p.Components[i]
		if !c.Predicted || any {
			continue
		}
		st.history.Diff(st.slot(t), c.ID, func(r ecs.Rows, k int, was unsafe.Pointer) {
			if any {
				return
			}
			any = true
			if y.skips {
				return // it read what others or a singleton have become since
			}
			d := probe.Desync{Kind: probe.Impure, Tick: t, Entity: r.Entity(k), Component: c.Name}
			if y.system >= 0 {
				d.System = l.s.p.schedule.Systems()[y.system].Name
			}
			if was != nil {
				d.Field, d.First, d.Again = firstField(c, was, unsafe.Add(r.Column(c.ID), uintptr(k)*c.Size))
			}
			y.found(d)
		})
	}
	return any
}

// firstField returns the first field in which two values of a component differ on the grid of
// the simulation, and its values.
func firstField(c *layout.Component, was, now unsafe.Pointer) (name string, first, again float64) {
	a, b := make([]int32, c.Schema.Words()), make([]int32, c.Schema.Words())
	c.Schema.Quantise(was, schema.GridSim, nil, a)
	c.Schema.Quantise(now, schema.GridSim, nil, b)
	if i := c.Schema.FirstDifference(a, b); i >= 0 {
		return c.Schema.Field(i).Name, fieldValue(c, i, a), fieldValue(c, i, b)
	}
	return "", 0, 0
}
