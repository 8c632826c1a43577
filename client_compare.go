package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Compare compares the prediction for t with the server's state.
func (tl *timeline) Compare(_ int, t Tick) prediction.Verdict {
	tl.found.wrong, tl.found.perhaps = prediction.Misprediction{Tick: t}, false
	tl.looks.forget()
	r := tl.records.Find(t)
	if r == nil {
		tl.found.own = prediction.Different
		return prediction.Different
	}
	others := prediction.Same
	if len(tl.saves.remotes) > 0 {
		others = tl.compareRemotePredicted(r, t)
	}
	tl.found.remoteFailed = others == prediction.Different
	if tl.found.own = tl.compareOwn(r, t); tl.found.own == prediction.Different && tl.explains() {
		tl.listDifferences(r, t)
	}
	verdict := max(others, tl.found.own)
	if verdict == prediction.Near {
		tl.correction.predicted.copy(r)
	}
	return verdict
}

// compareOwn is Compare without the entities of remote players.
func (tl *timeline) compareOwn(r *record, t Tick) prediction.Verdict {
	verdict, near := prediction.Same, false
	if tl.spawning.waiting.Len() > 0 && !tl.compareOpen(r, t) {
		verdict = prediction.Different
	}
	for _, g := range tl.ghosts.ours {
		if tl.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if !ok || !here {
			if ok != here && tl.oneSided(g, t, here) {
				verdict = prediction.Different
			}
			continue
		}
		switch tl.compareGhost(r, g, s, t) {
		case prediction.Different:
			return prediction.Different
		case prediction.Near:
			near = true
		}
	}
	if near && verdict == prediction.Same {
		return prediction.Near
	}
	return verdict
}

// oneSided handles an entity that only one end has at t. It reports whether that is a
// misprediction, and explains it.
func (tl *timeline) oneSided(g *snapshot.Ghost, t Tick, here bool) bool {
	if here && (g.Gone == 0 || int32(g.Gone-t) > 0) {
		return false // not in this snapshot, for want of room
	}
	origin := tl.ghosts.originOf(g)
	if !here && g.Data == 0 {
		if origin == 0 {
			return true // the server's systems alone spawned it
		}
		tl.stats.SpawnsUnpredicted++
	}
	tl.explainEntity(ecs.Entity(g.Data), &tl.p.Prefabs[g.Prefab], here)
	return true
}

// compareOpen compares the spawns that the server has not confirmed yet, up to t. It
// reports whether the server may still have them all. Only a snapshot that holds all of the
// player's entities can show that one is missing.
func (tl *timeline) compareOpen(r *record, t Tick) bool {
	same := true
	if _, _, own := tl.ghosts.receiver.Complete(t); own {
		tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 && r.has(s.e) {
				same = false
				tl.explainEntity(s.e, &tl.cfg.Protocol.compiled.Prefabs[s.kind], true)
			}
			return true
		})
	}
	return same
}

// compareGhost finds the first predicted field that differs by more than its
// tolerance, and explains it.
func (tl *timeline) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted {
			continue
		}
		ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		if ours == nil || theirs == nil {
			tl.found.wrong.Entity, tl.found.wrong.Prefab, tl.found.wrong.Component, tl.found.wrong.Field = g.Data, tl.p.Prefabs[g.Prefab].ECS.Name(), comp.Name, "(component)"
			tl.found.wrong.Predicted, tl.found.wrong.Actual = 0, 0
			tl.explain()
			return prediction.Different
		}
		theirs = tl.names.meant(comp, theirs, ours, t)
		if f := comp.Schema.FirstDifference(ours[:comp.Schema.Words()], theirs); f >= 0 {
			if tl.names.cameLater(comp, ours[:comp.Schema.Words()], theirs, t) {
				return prediction.Different // and corrected, without a word
			}
			tl.found.wrong.Entity, tl.found.wrong.Prefab, tl.found.wrong.Component = g.Data, tl.p.Prefabs[g.Prefab].ECS.Name(), comp.Name
			tl.explainField(comp, f, ours, theirs)
			tl.explain()
			if tl.found.wrong.Cause == prediction.Code && tl.names.wentEarlier(comp, ours[:comp.Schema.Words()], theirs, t) {
				tl.found.wrong.Cause = prediction.Untracked
			}
			return prediction.Different
		}
		if comp.Tolerant && !slices.Equal(ours[:comp.Schema.Words()], theirs) {
			verdict = prediction.Near
		}
	}
	return verdict
}

// compareRemotePredicted compares the prediction of remote players for t with the server's
// state.
func (tl *timeline) compareRemotePredicted(r *record, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for _, g := range tl.ghosts.ours {
		if !tl.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if !ok {
			if here && g.Gone != 0 && int32(g.Gone-t) <= 0 {
				verdict = prediction.Different
			}
			continue
		}
		tl.stats.RemotePredicted++
		is := prediction.Different
		if here {
			is = tl.compareOther(r, g, s, t)
		}
		if is == prediction.Different {
			tl.stats.RemoteMispredicted++
		}
		verdict = max(verdict, is)
	}
	return verdict
}

func (tl *timeline) compareOther(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted || !comp.Schema.Reaches(s.Audience) {
			continue
		}
		ours := r.find(ecs.Entity(g.Data), i)
		theirs := tl.names.stated(g, s, i, ours, t)
		switch {
		case ours == nil && theirs == nil:
		case ours == nil || theirs == nil:
			return prediction.Different
		case comp.Schema.FirstDifference(ours[:comp.Schema.Words()], theirs) >= 0:
			return prediction.Different
		case comp.Tolerant && !slices.Equal(ours[:comp.Schema.Words()], theirs):
			verdict = prediction.Near
		}
	}
	return verdict
}

func (tl *timeline) explainField(comp *layout.Component, f int, ours, theirs []int32) {
	tl.found.wrong.Field = comp.Schema.Field(f).Name
	tl.found.wrong.Predicted, tl.found.wrong.Actual = fieldValue(comp, f, ours), fieldValue(comp, f, theirs)
}

// listDifferences lists every field of the player's own in which the prediction r for t
// differs from the server's state. It allocates, and runs only if the game asked for it.
func (tl *timeline) listDifferences(r *record, t Tick) {
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || tl.ghosts.remotePredicted(g) || !r.has(ecs.Entity(g.Data)) {
			continue
		}
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
			if comp.Predicted && (ours != nil || theirs != nil) {
				tl.listFields(comp, ecs.Entity(g.Data), tl.p.Prefabs[g.Prefab].ECS.Name(), ours, tl.names.meant(comp, theirs, ours, t))
			}
		}
	}
}

// listFields lists the fields in which two values of a component differ. nil means that
// there is no value.
func (tl *timeline) listFields(comp *layout.Component, e ecs.Entity, prefab string, ours, theirs []int32) {
	w := &tl.found.wrong
	d := prediction.Difference{Entity: uint64(e), Prefab: prefab, Component: comp.Name}
	if ours == nil || theirs == nil {
		d.Field, d.Predicted, d.Actual = "(component)", ours != nil, theirs != nil
		w.Differences = append(w.Differences, d)
		return
	}
	ours, theirs = ours[:comp.Schema.Words()], theirs[:comp.Schema.Words()]
	for f, field := range comp.Schema.Fields() {
		if !comp.Schema.Differs(f, ours, theirs) {
			continue
		}
		label := tl.cfg.Protocol.compiled.labels.Of(comp.Name, field.Name)
		d.Field, d.Label, d.Unit, d.Values = field.Name, label.Name, label.Unit, label.Values
		d.Predicted, d.Actual = comp.Schema.Value(f, ours, schema.GridSim), comp.Schema.Value(f, theirs, schema.GridSim)
		w.Differences = append(w.Differences, d)
	}
}

// explainEntity explains an entity that only one end has.
func (tl *timeline) explainEntity(e ecs.Entity, prefab *layout.Prefab, here bool) {
	w := &tl.found.wrong
	w.Entity, w.Prefab, w.Component, w.Field = uint64(e), prefab.ECS.Name(), prefab.ECS.Name(), "(entity)"
	w.Predicted, w.Actual = 0, 1
	if here {
		w.Predicted, w.Actual = 1, 0
	}
	tl.explain()
}

// countShown compares the first prediction of each tick with the server's state.
func (tl *timeline) countShown(t Tick, v prediction.Verdict) {
	r := tl.records.Find(t)
	if r == nil || !r.some {
		return
	}
	if !r.replayed { // what was compared is the first prediction itself
		if v == prediction.Different {
			tl.stats.MispredictedTicks++
		}
		return
	}
	if v == prediction.Same { // then the last prediction is the server's state
		if r.hash() != r.first {
			tl.stats.MispredictedTicks++
		}
		return
	}
	h := uint64(0)
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || tl.ghosts.remotePredicted(g) {
			continue
		}
		h += hashItem(ecs.Entity(g.Data), itself, nil)
		for i := range tl.p.Components {
			if w := s.Component(i); w != nil && tl.p.Components[i].Predicted {
				h += hashItem(ecs.Entity(g.Data), i, tl.names.meant(&tl.p.Components[i], w, r.find(ecs.Entity(g.Data), i), t))
			}
		}
	}
	if h != r.first {
		tl.stats.MispredictedTicks++
	}
}

// agreement is what is known of the ticks on which both ends agree.
type agreement struct {
	newest Tick // newest tick on which both ends agree
	all    Tick // … also on what is predicted of remote players
	unsure bool // a snapshot since has left something out
	// standIns is the newest snapshot by whose note all that the server ran in place of the
	// client's commands was equal to them. Later notes tell less of the same ticks.
	standIns Tick
	// parts has an entry for each ghost that is predicted here, while snapshots leave some out.
	// It has the order of wire ids.
	parts, spare []agreedPart
}

// agreedPart is a ghost and the last ticks in which snapshots told of it, so that the ends
// agreed on it once they were compared.
type agreedPart struct {
	wire   schema.WireID
	born   Tick
	newest Tick   // 0: none yet
	before uint64 // bit i: i+1 ticks before newest
}

func (a *agreedPart) add(t Tick) {
	if d := t - a.newest; a.newest == 0 || d > 64 {
		a.before = 0
	} else {
		a.before = a.before<<d | 1<<(d-1)
	}
	a.newest = t
}

func (a *agreedPart) has(t Tick) bool {
	d := a.newest - t
	return a.newest != 0 && (d == 0 || d <= 64 && a.before>>(d-1)&1 != 0)
}

func (a *agreement) clear() { a.newest, a.all, a.unsure, a.parts = 0, 0, false, a.parts[:0] }

// noteParts notes which ghosts the snapshot of t told of. Those that it left out may be told
// later what they had.
func (a *agreement) noteParts(ours []*snapshot.Ghost, t Tick) {
	next, i := a.spare[:0], 0
	for _, g := range ours {
		for i < len(a.parts) && (a.parts[i].wire < g.Wire || a.parts[i].wire == g.Wire && int32(a.parts[i].born-g.Born) < 0) {
			i++
		}
		part := agreedPart{wire: g.Wire, born: g.Born}
		if i < len(a.parts) && a.parts[i].wire == g.Wire && a.parts[i].born == g.Born {
			part = a.parts[i]
		}
		if _, ok := g.At(t); ok {
			part.add(t)
		}
		next = append(next, part)
	}
	a.parts, a.spare = next, a.parts
}

// told reports whether the snapshot of t told of a ghost, when it came.
func (a *agreement) told(g *snapshot.Ghost, t Tick) bool {
	return slices.ContainsFunc(a.parts, func(p agreedPart) bool { return p.wire == g.Wire && p.born == g.Born && p.has(t) })
}

// agree notes that both ends agree on t. Entities that the snapshot left out may still
// differ, from an unknown tick on. Nothing may be known yet about a remote player that just
// came.
func (tl *timeline) agree(t Tick) {
	_, all, _ := tl.ghosts.receiver.Complete(t)
	tl.agreed.unsure = !all
	switch {
	case all:
		tl.agreed.newest, tl.agreed.all = t, t
	case tl.ghosts.whollyTold(t):
		tl.agreed.newest = t
	default:
		if !tl.ghosts.receiver.PostponedUnknown(t) {
			tl.agreed.noteParts(tl.ghosts.ours, t)
		}
		return
	}
	tl.agreed.parts = tl.agreed.parts[:0]
}

// agreedOnWrong returns the newest tick before t on which both ends agree on all that what
// differs in t can come from. An entity that is longer than a packet is told seldom. Others of
// the player's may be told in each snapshot, and be computed from themselves alone.
func (tl *timeline) agreedOnWrong(t Tick) Tick {
	agreed, w := tl.agreed.newest, &tl.found.wrong
	if len(tl.agreed.parts) == 0 || tl.p.OtherBuild || tl.p.FromOthers.Names(&tl.p.Layout, w.Component) {
		return agreed
	}
	i := slices.IndexFunc(tl.ghosts.ours, func(g *snapshot.Ghost) bool { return g.Data == w.Entity })
	if i < 0 || tl.spawning.spawnsLike(tl.ghosts.ours[i]) {
		return agreed
	}
	for k := t - 1; int32(k-agreed) > 0 && t-k <= 64; k-- {
		if tl.toldApart(tl.ghosts.ours[i], k) {
			return k
		}
	}
	return agreed
}

// toldApart reports whether the snapshot of k told of an entity, and left out none of the
// player's that systems may have visited together with it: they visit rows of one owner and
// one component set at a time. Singletons are for all of them.
func (tl *timeline) toldApart(g *snapshot.Ghost, k Tick) bool {
	if !tl.agreed.told(g, k) {
		return false
	}
	mask := g.Newest().Mask
	return !slices.ContainsFunc(tl.ghosts.ours, func(o *snapshot.Ghost) bool {
		if tl.agreed.told(o, k) || tl.ghosts.remotePredicted(o) || int32(k-o.Born) < 0 || o.Gone != 0 && int32(k-o.Gone) >= 0 {
			return false
		}
		return o.Prefab == g.Prefab || o.Newest().Mask.Equal(mask) || tl.p.Prefabs[o.Prefab].ECS == &tl.cfg.Protocol.compiled.singletonRow
	})
}

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
	if !ok || !tl.saves.restorable(t-1) {
		return false
	}
	tl.Load(slot, t-1)
	f.Tick, f.Replay, f.blind, tl.practice = t, true, true, true
	tl.row.give()
	tl.parents.apply()
	tl.controls.fillCommand(t)
	tl.controls.guessRemotes(t)
	tl.spawning.beginSpawns(t)
	tl.world.WatchOutside(false)
	ok = run()
	tl.row.take()
	tl.world.WatchOutside(true)
	tl.spawning.endSpawns()
	tl.ghosts.pushed = true // what systems wrote through queries is taken back
	if ok {
		tl.looks.result.clear()
		for _, e := range tl.predicted.entities() {
			tl.recorder.keepEntity(&tl.looks.result, e)
		}
		tl.keepSpawns(&tl.looks.result)
	}
	for _, e := range tl.spawning.practised {
		tl.world.Unreserve(e)
	}
	tl.spawning.practised = tl.spawning.practised[:0]
	f.Replay, f.blind, tl.practice = false, false, false
	return ok
}

// keepSpawns adds what the tick spawned that no earlier run of it did. Its handles are new in
// each run, so the record has numbers instead: two runs that spawned the same are equal.
func (tl *timeline) keepSpawns(r *record) {
	for n, e := range tl.spawning.practised {
		from := len(r.items)
		tl.recorder.keepEntity(r, e)
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
			return comp.Schema.FirstDifference(ours, tl.names.meant(comp, theirs, ours, t)) < 0
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
	owner, ok = tl.scenes.drawnOtherwise(k, r, components)
	return owner, "", ok
}
