package foretick

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
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
	s.p.schedule.ExecuteOwner(s.sim.world, f, l.runs, p.owner)
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
		s.snapRows(rows)
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
			s.sim.writes.before(system)
			s.sim.world.Lock()
			q.drain(&s.sim.frame)
			s.sim.world.Unlock()
			s.sim.writes.after(system)
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
