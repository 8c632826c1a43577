package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// mostLooks is how many ticks are run again to explain one misprediction. Of further ticks
// the client assumes that their systems read everything that they may.
const mostLooks = 8

// looks finds out what shared systems read of others. A tick runs once more with the
// others' entities concealed. A system that does not notice read nothing of them, neither
// here nor on the server: its code and its inputs were the same there.
type looks struct {
	ticks   []lookedTick // that were run again to explain one misprediction
	n       int          // how many of them are in use
	systems []int        // that looked, in the tick that runs
	result  record
	shown   []PlayerID // scratch
	read    []int      // scratch
}

// lookedTick is what a tick's systems read.
type lookedTick struct {
	tick    Tick
	unknown bool  // they may have read everything that they declare
	parents bool  // they asked for parents
	systems []int // that looked
}

// forget begins another explanation.
func (l *looks) forget() { l.n = 0 }

// after notes whether a system looked at concealed entities.
func (l *looks) after(system int, peeked bool) {
	if peeked {
		l.systems = append(l.systems, system)
	}
}

// find returns what is known of a tick, nil if it was not run yet.
func (l *looks) find(t Tick) *lookedTick {
	for i := range l.ticks[:l.n] {
		if l.ticks[i].tick == t {
			return &l.ticks[i]
		}
	}
	return nil
}

// looked returns the components of others on which the mispredicted component depends in
// tick t, by what its systems looked at. It is called only before a correction, which loads
// the world anyway. The result is valid until the next call.
func (tl *timeline) looked(t Tick) []int {
	l := &tl.looks
	at := l.find(t)
	if at == nil {
		if l.n == mostLooks || tl.p.OtherBuild {
			return tl.ghosts.others
		}
		if l.n == len(l.ticks) {
			l.ticks = append(l.ticks, lookedTick{})
		}
		at = &l.ticks[l.n]
		l.n++
		at.tick = t
		at.unknown = !tl.runConcealed(t)
		at.systems, at.parents = append(at.systems[:0], l.systems...), tl.world.AskedParents()
	}
	l.read = l.read[:0]
	for i := range tl.p.Looks {
		s := &tl.p.Looks[i]
		if !s.Names(&tl.p.Layout, tl.found.wrong.Component) || !at.unknown && !s.Always && !slices.Contains(at.systems, s.System) {
			continue
		}
		for _, comp := range s.Others {
			if !slices.Contains(l.read, comp) {
				l.read = append(l.read, comp)
			}
		}
	}
	return l.read
}

// askedParents reports whether a system may have asked for parents in tick t.
func (tl *timeline) askedParents(t Tick) bool {
	tl.looked(t)
	at := tl.looks.find(t)
	return at == nil || at.unknown || at.parents
}

// swayedByOthers reports whether tick t has another result without the entities that are not
// predicted here, or whether none of those that are known here has one of some components.
func (tl *timeline) swayedByOthers(t Tick, components []int) bool {
	if at := tl.looks.find(t); at == nil || at.unknown {
		return true
	}
	return !slices.ContainsFunc(tl.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
		return !tl.ghosts.ahead(g) && tl.ghosts.has(g, t, components)
	})
}

// runConcealed runs a tick again with the entities concealed that are not predicted here,
// and notes the systems that look for them. It reports false if that says nothing: the
// tick cannot run again, or its result is another one.
func (tl *timeline) runConcealed(t Tick) bool {
	l, was := &tl.looks, tl.records.Find(t)
	l.systems = l.systems[:0]
	hooked := &tl.cfg.Protocol.compiled
	return was != nil && tl.runAside(t, func() bool {
		hooked.watch(true)
		l.shown = append(l.shown[:0], tl.view.Player, ecs.Common, ecs.ClientOnly)
		for i := range tl.saves.remotes {
			l.shown = append(l.shown, tl.saves.remotes[i].owner)
		}
		tl.world.Conceal(l.shown...)
		ok := tl.runUnseeing(t)
		tl.world.Reveal()
		hooked.watch(false)
		return ok
	}) && l.result.hash() == was.hash()
}

// runAside runs a tick again, by a function, and keeps what came out in looks.result. It
// reports false if that failed, or the tick cannot run again. Nothing of the run remains in
// the world, except in rows that the next Load and othersNewest write.
func (tl *timeline) runAside(t Tick, run func() bool) bool {
	f := &tl.frame
	slot, ok := tl.predictor.Slot(t - 1)
	if !ok || !tl.restorable(t-1) {
		return false
	}
	tl.Load(slot, t-1)
	f.Tick, f.Replay, f.blind, tl.tester.replay = t, true, true, true
	tl.row.give()
	tl.parents.apply()
	tl.fillCommand(t)
	tl.guess(t)
	tl.beginSpawns(t)
	tl.world.WatchOutside(false)
	ok = run()
	tl.row.take()
	tl.world.WatchOutside(true)
	tl.endSpawns()
	tl.ghosts.pushed = true // what systems wrote through queries is taken back
	if ok {
		tl.looks.result.clear()
		for _, e := range tl.predictedHere() {
			tl.keepEntity(&tl.looks.result, e)
		}
		tl.keepSpawns(&tl.looks.result)
	}
	for _, e := range tl.spawning.practised {
		tl.world.Unreserve(e)
	}
	tl.spawning.practised = tl.spawning.practised[:0]
	f.Replay, f.blind, tl.tester.replay = false, false, false
	return ok
}

// keepSpawns adds what the tick spawned that no earlier run of it did. Its handles are new in
// each run, so the record has numbers instead: two runs that spawned the same are equal.
func (tl *timeline) keepSpawns(r *record) {
	for n, e := range tl.spawning.practised {
		from := len(r.items)
		tl.keepEntity(r, e)
		for i := from; i < len(r.items); i++ {
			r.items[i].e = ^ecs.Entity(n)
		}
	}
}

// RanFirst runs the ticks again with the first of the two commands that were made for each.
// If the result is the server's then, the cause is certain. If nothing changes, they are no
// cause.
func (e evidence) RanFirst(last Tick, ticks uint32, t Tick) (certain, may bool) {
	tl := e.tl
	if tl.p.OtherBuild {
		return false, true
	}
	for k := last; last-k < ticks && last-k < mostLooks; k-- {
		in, was := tl.input.history.Find(k), tl.records.Find(k)
		if in == nil || was == nil || in.several {
			return false, true
		}
		tl.swapCommands(in)
		ran := tl.runAside(k, func() bool { return tl.runUnseeing(k) })
		tl.swapCommands(in)
		switch {
		case !ran:
			return false, true
		case k == t && tl.hasServers(&tl.looks.result, t):
			return true, true
		case tl.looks.result.hash() != was.hash():
			may = true
		}
	}
	tl.found.perhaps = may
	return false, may
}

// swapCommands exchanges the two commands of a tick.
func (tl *timeline) swapCommands(in *tickInput) {
	schema := tl.p.Command.Schema
	second := schema.Pack(in.at, nil)
	if schema.Unpack(in.first, in.at) == nil {
		in.first = second
	}
}

// hasServers reports whether a record has the server's state of t, where the client's own
// was wrong.
func (tl *timeline) hasServers(r *record, t Tick) bool {
	w := &tl.found.wrong
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if g.Data != w.Entity || !ok {
			continue
		}
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			if comp.Name != w.Component || !comp.Predicted {
				continue
			}
			ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
			if ours == nil || theirs == nil {
				return (ours == nil) == (theirs == nil)
			}
			ours = ours[:comp.Schema.Words()]
			return comp.Schema.FirstDifference(ours, tl.meant(comp, theirs, ours, t)) < 0
		}
	}
	return false
}

// runUnseeing runs the systems of a tick. It returns false if one of them panicked: it did
// not find an entity that is always there.
func (tl *timeline) runUnseeing(t Tick) (ok bool) {
	defer func() {
		if recover() != nil {
			tl.world.Recover()
			tl.frame.shared, tl.frame.spawner = nil, spawnContext{}
			ok = false
		}
	}()
	tl.run(t)
	return true
}

// differedIn finds an entity that is not predicted here and had another value of some
// components in tick k, or came or went.
func (tl *timeline) differedIn(k Tick, components []int) (owner uint16, component string, ok bool) {
	r := tl.records.Find(k)
	if r == nil {
		return 0, "", false
	}
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if tl.ghosts.ahead(g) {
			continue
		}
		if i, ok := tl.ghosts.differed(g, k, r, components); ok {
			return g.Owner, tl.p.componentName(i), true
		}
	}
	owner, ok = tl.drawnOtherwise(k, r, components)
	return owner, "", ok
}
