package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// Save keeps the predicted rows.
func (tl *timeline) Save(slot int, _ Tick) {
	if tl.cfg.NoPrediction {
		return
	}
	tl.saves.own.Save(slot)
	if tl.p.Common {
		tl.saves.common.Save(slot)
	}
	for i := range tl.saves.remotes {
		tl.saves.remotes[i].history.Save(slot)
	}
}

// Load puts them back.
func (tl *timeline) Load(slot int, _ Tick) {
	if tl.cfg.NoPrediction {
		return
	}
	tl.stashLocals()
	tl.saves.own.Restore(slot)
	if tl.p.Common {
		tl.saves.common.Restore(slot)
	}
	for i := range tl.saves.remotes {
		if h := tl.saves.remotes[i].history; h.Holds(slot) {
			h.Restore(slot)
		}
	}
	if len(tl.spawning.named) > 0 {
		tl.rename()
	}
}

// Step runs the shared systems for the local player.
func (tl *timeline) Step(t Tick, replay bool) {
	if tl.cfg.NoPrediction {
		return
	}
	f := &tl.frame
	f.Tick, f.Replay = t, replay
	tl.row.give()
	tl.ghosts.othersAgain()
	tl.parents.apply()
	tl.fillCommand(t)
	tl.guess(t)
	tl.cut = tl.cut[:0]
	for _, q := range f.queues {
		q.begin(t)
	}
	tl.beginSpawns(t)
	tl.tester.running, tl.tester.again = tl.hooks.syncTest > 0, tl.tester.again[:0]
	if debugBuild {
		tl.losses.begin()
		tl.reasons.ours.Begin(t)
		tl.noteTrail()
	}
	tl.world.WatchOutside(false)
	if tl.tracer.armed {
		tl.beginTrace(t)
	}
	tl.run(t)
	if tl.tracer.recording {
		tl.endTrace()
	}
	tl.row.take()
	tl.settleTrail()
	tl.world.WatchOutside(true)
	tl.endSpawns()
	if tl.tester.running {
		tl.tester.running = false
		if !tl.tester.replay {
			*tl.tester.hashes.Put(t) = append((*tl.tester.hashes.Put(t))[:0], tl.tester.again...)
			tl.checkNumbers(t)
		}
	}
	for _, q := range f.queues {
		q.end(f)
	}
	tl.keep(t, replay)
	if tl.p.ClientOnly && !tl.again(t) {
		tl.keepClientOnly()
		tl.clientOnly.lived = t + 1
	}
	f.Replay = false
	if replay {
		tl.stats.Resimulated++
	}
}

// run runs the shared systems over the entities that are predicted here.
func (tl *timeline) run(t Tick) {
	if !tl.p.Common && !tl.p.ClientOnly && len(tl.saves.remotes) == 0 {
		tl.p.schedule.ExecutePlayer(tl.world, &tl.frame, tl.view.Player)
		return
	}
	tl.scratch.parts = append(tl.scratch.parts[:0], tl.view.Player)
	if tl.p.Common {
		tl.scratch.parts = append(tl.scratch.parts, ecs.Common)
	}
	if tl.p.ClientOnly && !tl.again(t) {
		tl.scratch.parts = append(tl.scratch.parts, ecs.ClientOnly)
	}
	if len(tl.saves.remotes) == 0 {
		tl.p.schedule.ExecuteParts(tl.world, &tl.frame, tl.scratch.parts...)
		return
	}
	for i := range tl.saves.remotes {
		tl.scratch.parts = append(tl.scratch.parts, tl.saves.remotes[i].owner)
	}
	tl.p.schedule.ExecutePartsWhere(tl.world, &tl.frame, tl.runs, tl.scratch.parts...)
}

// fillCommand writes tick t's input into the player's rows, and a zero command into unowned
// ones.
func (tl *timeline) fillCommand(t Tick) {
	cmd := tl.p.Command
	if cmd == nil {
		return
	}
	in := tl.input.history.Find(t)
	var value []byte
	if in != nil {
		value = in.value
	}
	tl.fillOwn(value)
	if !tl.p.Common {
		return
	}
	for _, rows := range tl.commandRows.Owned(tl.world, ecs.Common) { // whose it was once pressed something
		clear(unsafe.Slice((*byte)(rows.Column(cmd.ID)), uintptr(rows.Len())*cmd.Size))
	}
}

// fillOwn writes a command into the player's rows, a zero one if value is nil.
func (tl *timeline) fillOwn(value []byte) {
	cmd := tl.p.Command
	for _, rows := range tl.commandRows.Owned(tl.world, tl.view.Player) {
		base := rows.Column(cmd.ID)
		for i := range rows.Len() {
			dst := unsafe.Slice((*byte)(unsafe.Add(base, uintptr(i)*cmd.Size)), cmd.Size)
			if value == nil {
				clear(dst)
			} else {
				copy(dst, value)
			}
		}
	}
}

// again reports whether a tick runs another time, for entities and components that no
// rollback touches.
func (tl *timeline) again(t Tick) bool {
	return tl.frame.Replay || tl.tester.replay || int32(t-tl.clientOnly.lived) < 0
}

// keep rounds the predicted values to the simulation step and records them.
func (tl *timeline) keep(t Tick, replay bool) {
	r := tl.records.Put(t)
	if replay && !r.replayed {
		r.first, r.replayed = r.hash(), true
	}
	r.clear()
	r.cuts = append(r.cuts[:0], tl.cut...)
	r.basis, _ = tl.ghosts.receiver.Newest()
	r.shown, r.scene = tl.view.RenderTick, tl.scenes
	before := tl.records.Find(t - 1)
	if !tl.losses.due(t) {
		before = nil
	}
	for _, e := range tl.predictedHere() {
		if !replay {
			tl.lookForLosses(before, e)
		}
		tl.keepEntity(r, e)
	}
	if !replay {
		if before != nil {
			tl.losses.looked()
		}
		r.some, r.replayed = slices.ContainsFunc(r.items, func(it recordItem) bool { return !it.remotePredicted }), false
		if r.some {
			tl.stats.PredictedTicks++
		}
	}
}

// keepEntity rounds an entity's predicted components, as the server does, and adds them to
// a record.
func (tl *timeline) keepEntity(r *record, e ecs.Entity) {
	if !tl.world.Alive(e) {
		return
	}
	remotePredicted := tl.ghosts.anothers(e)
	r.items = append(r.items, recordItem{e, itself, remotePredicted, int32(len(r.words))})
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted {
			continue
		}
		at := tl.world.Pointer(e, comp.ID)
		if at == nil {
			continue
		}
		if len(comp.Refs) > 0 {
			comp.Schema.DropRefs(at, tl.there)
		}
		off := len(r.words)
		r.words = slices.Grow(r.words, comp.Schema.Words())[:off+comp.Schema.Words()]
		comp.Schema.SnapWords(at, recordRefs{tl}, r.words[off:])
		r.items = append(r.items, recordItem{e, uint8(i), remotePredicted, int32(off)})
	}
}

// lookForLosses checks for values that rounding loses, for an entity in a tick that runs
// for the first time. before is nil, or the record of the tick before.
func (tl *timeline) lookForLosses(before *record, e ecs.Entity) {
	if !tl.world.Alive(e) || tl.p.OtherBuild {
		return
	}
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted {
			continue
		}
		at := tl.world.Pointer(e, comp.ID)
		if at == nil {
			continue
		}
		tl.losses.bounds(i, at)
		if before == nil {
			continue
		}
		if words := before.find(e, i); words != nil {
			tl.losses.grid(e, i, at, words[:comp.Schema.Words()], tl)
		}
	}
}

// wordsBack is losses' view of the past.
func (tl *timeline) wordsBack(e ecs.Entity, comp int, ticks Tick) []int32 {
	if r := tl.records.Find(tl.frame.Tick - ticks); r != nil {
		return r.find(e, comp)
	}
	return nil
}

func (tl *timeline) zeroes(n int) []int32 {
	for len(tl.scratch.words) < n {
		tl.scratch.words = append(tl.scratch.words, 0)
	}
	clear(tl.scratch.words[:n])
	return tl.scratch.words[:n]
}

// keepClientOnly rounds the values, as the server does with its twins, and keeps them for
// frames between two ticks.
func (tl *timeline) keepClientOnly() {
	l := &tl.clientOnly
	l.now, l.before = l.before, l.now
	l.now.clear()
	for _, rows := range l.query.Owned(tl.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			tl.keepEntity(&l.now, e)
		}
	}
	l.kept.Save(0)
}
