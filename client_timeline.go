package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// timeline is the predicted present: the entities that this client simulates ahead of the
// server, and what is needed to go back and run their ticks again.
type timeline struct {
	*clientBase
	input   *input
	ghosts  *ghosts
	reasons *reasons

	predictor   *prediction.Predictor
	records     *prediction.History[record] // what was predicted for each tick
	saves       saves
	commandRows *ecs.Query // rows with the command
	runs        func(system int, o PlayerID) bool
	there       func(entity uint64) bool // world.Alive

	agreed     agreement
	found      comparison
	correction correction
	acted      Tick         // with NoPrediction: the newest tick whose events are known; 0: none
	overdue    bool         // components of some entities here that are not predicted may be old
	moved      []movedGhost // that have another owner now, which the next correction has to see to
	cut        []ecs.Entity // teleported in the tick that is being predicted
	appeared   []appeared   // ghosts drawn for the first time not long ago
	undrawn    []undrawn    // ghosts that were drawn not long ago
	scenes     uint64       // counts what appeared and what is no longer drawn

	spawning   spawning
	clientOnly clientOnly
	locals     locals
	tester     syncTester
	looks      looks
	scratch    timelineScratch
	row        singletonRow
	parents    hierarchy
	slides     slides
}

// saves holds the predicted rows of past ticks.
type saves struct {
	own     *ecs.History
	common  *ecs.History
	remotes []remotePlayer
}

// begin makes the histories of a session.
func (s *saves) begin(w *ecs.World, own PlayerID, slots int) {
	if s.own != nil {
		s.own.Release()
		s.common.Release()
	}
	s.own, s.common = w.NewOwnerHistory(own, slots), w.NewOwnerHistory(ecs.Common, slots)
}

// forgetRemotes forgets the remote players that are to be forgotten.
func (s *saves) forgetRemotes(forgets func(o remotePlayer) bool) {
	s.remotes = slices.DeleteFunc(s.remotes, func(o remotePlayer) bool {
		if !forgets(o) {
			return false
		}
		o.history.Release()
		return true
	})
}

// remotePlayer is another player whose entities are predicted here.
type remotePlayer struct {
	owner   PlayerID
	history *ecs.History
	seen    Tick // when it last had any
}

// voids reports whether a save of the player's is void, and not only older than the
// player's arrival.
func (o *remotePlayer) voids(slot int) bool { return o.history.Saved(slot) && !o.history.Holds(slot) }

// comparison is the result of comparing a tick with its snapshot.
type comparison struct {
	wrong        prediction.Misprediction
	agreed       Tick               // newest tick on which the ends agree on all that it can come from
	own          prediction.Verdict // on everything but remote players
	remoteFailed bool               // a remote player was predicted wrongly
	untracked    untrackedReads     // debug builds
	perhaps      bool               // the cause is one that may be, and is not certain
}

// correction holds the values that a correction replaces.
type correction struct {
	predicted record // of the tick whose small differences are being taken over
	before    record // what was predicted for the newest tick …
	replacing bool   // … if there was any
}

// spawning is the client's side of predicted spawns and despawns.
type spawning struct {
	stepping  bool // a tick's systems run
	waiting   prediction.Spawns[spawned]
	ordinals  ordinals
	fresh     []spawned    // of the tick that runs, spawned for the first time
	passing   []ecs.Entity // entities that last for this tick alone
	matched   []spawned    // since the last snapshot: hooks are still to be called
	gone      []ecs.Entity // destroyed by prediction, ahead of a correction
	restored  []ecs.Entity
	named     []naming  // matched not long ago
	retired   []retired // handles, until no save knows them
	practised []ecs.Entity
	next      int // where spawnOf looks first
}

// spawned is a predicted entity that the server has not confirmed yet.
type spawned struct {
	e    ecs.Entity
	kind int
}

// naming is the wire id of an entity that was matched after some of the saves that hold it
// were made.
type naming struct {
	e     ecs.Entity
	wire  schema.WireID
	until Tick
	key   uint32      // by which it was predicted
	next  netcode.Seq // the first packet sent afterwards
	known bool        // ticks were compared whose references to it the server sent
}

// retired is the handle of an entity that was destroyed in a tick and cannot come back.
type retired struct {
	e    ecs.Entity
	tick Tick
}

// appeared is a ghost that was drawn for the first time.
type appeared struct {
	wire  schema.WireID
	tick  Tick        // the newest that was predicted without it
	next  netcode.Seq // the first packet sent afterwards
	scene uint64
	known bool // ticks were compared whose references to it the server sent
}

// undrawn is a ghost of another player's, or of none, that is no longer drawn.
type undrawn struct {
	owner uint16
	had   [4]uint64 // the components that shared systems read of others, a bit for each
	gone  Tick      // the server's first tick without it
	until Tick      // the newest that was predicted with it
	scene uint64
}

// clientOnly holds entities that a client simulates for itself and no rollback touches.
// They are of prefabs with the policy ClientOnly, in the partition ecs.ClientOnly.
type clientOnly struct {
	query       *ecs.Query
	kept        *ecs.History // one slot: the newest tick, while a frame is drawn into the world
	now, before record
	lived       Tick // the tick after the newest that ran
}

// syncTester holds the state for a sync test: see probe.Client.
type syncTester struct {
	since   Tick                          // the newest tick whose state came from the server: no run leads up to it
	hashes  *prediction.History[[]uint64] // of the predicted state after each system
	again   []uint64                      // the same, of the run that is on
	running bool                          // a tick runs; its systems are hashed
	due     int                           // the system that is still to be hashed, plus one; 0 for none
	replay  bool
	render  bool
	before  []byte
	kept    []record
}

// timelineScratch is memory that is reused. Results of a method that are stored in it are
// valid until the method's next call.
type timelineScratch struct {
	entities []ecs.Entity
	parts    []PlayerID
	was      []byte
	packed   []byte
	covered  []int32
	naming   []int32
	words    []int32
}

// init makes the histories and queries. The timeline must not be copied afterwards.
func (tl *timeline) init(b *clientBase, ip *input, gs *ghosts, r *reasons) {
	tl.clientBase, tl.input, tl.ghosts, tl.reasons = b, ip, gs, r
	tl.records = prediction.NewHistory[record](b.cfg.History)
	tl.locals.clientBase = b
	tl.spawning.ordinals = ordinals{}
	tl.tester.hashes = prediction.NewHistory[[]uint64](b.cfg.History)
	if b.p.Command != nil {
		tl.commandRows = ecs.NewQuery(b.p.Types, ecs.With(b.p.Command.Handle))
	}
	if b.p.Spawning {
		tl.clientOnly.query = ecs.NewQuery(b.p.Types, ecs.With(&b.p.identity))
		tl.clientOnly.kept = b.world.NewOwnerHistory(ecs.ClientOnly, 1)
	}
	tl.runs, tl.row, tl.parents = tl.runsFor, newSingletonRow(&b.cfg.Protocol.compiled, b.world), newHierarchy(&b.cfg.Protocol.compiled, b.world)
	tl.there = func(e uint64) bool { return b.world.Alive(ecs.Entity(e)) }
}

// clear forgets everything that belonged to a level.
func (tl *timeline) clear() (err error) {
	tl.records.Clear()
	tl.saves.forgetRemotes(func(remotePlayer) bool { return true })
	tl.appeared, tl.undrawn = tl.appeared[:0], tl.undrawn[:0]
	tl.overdue, tl.agreed, tl.acted, tl.moved = false, agreement{}, 0, tl.moved[:0]
	tl.predictor, err = prediction.NewPredictor(prediction.Config{History: tl.cfg.History}, tl)
	return err
}

// reasons holds everything known about the causes of mispredictions.
type reasons struct {
	reason.Log
	ours, theirs reason.Trail // hashes of both ends: debug builds alone
	due          bool         // a system has run that is still to be hashed
}

func newReasons(ticks int) (r reasons) {
	if debugBuild {
		r.ours, r.theirs = reason.NewTrail(ticks), reason.NewTrail(ticks)
	}
	return r
}

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

// jump restarts the prediction from the newest snapshot: at the start, and after a stall.
// No commands are made for the ticks between.
func (tl *timeline) jump(to Tick) {
	for _, q := range tl.frame.queues {
		q.cancel(&tl.frame)
	}
	newest, _ := tl.ghosts.receiver.Newest()
	tl.match()
	tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
		if int32(k-newest) > 0 { // its tick runs again
			tl.world.Manager().Destroy(s.e)
		}
		return true
	})
	tl.stashLocals()
	tl.Adopt(newest)
	tl.predictor.Start(newest)
	tl.putLocals()
	tl.settle(newest)
	tl.tester.since = newest
	tl.agreed.clear()
	tl.agree(newest)
	tl.ghosts.othersNewest()
	for int32(to-tl.predictor.Tick()) > 0 {
		tl.predictor.Advance()
	}
}

// movedGhost is a ghost whose change of owner came with a snapshot older than the newest, to
// which no prediction is compared.
type movedGhost struct {
	wire     schema.WireID
	born     Tick
	switched bool
}

// noteMoved notes those of the snapshot just read.
func (tl *timeline) noteMoved() {
	for _, ch := range tl.ghosts.receiver.Changes() {
		if switched := tl.ghosts.switched(ch.Ghost); (switched || ch.Transferred) && !tl.movesLater(ch.Ghost) {
			tl.moved = append(tl.moved, movedGhost{ch.Ghost.Wire, ch.Ghost.Born, switched})
		}
	}
	if len(tl.moved) > 0 {
		tl.gather()
		tl.tester.since = tl.predictor.Tick() // earlier ticks ran with others
	}
}

// movesLater reports whether the next correction has to move the ghost's entity. Until then it
// stays where it is, and may live and die with those that are predicted here.
func (tl *timeline) movesLater(g *snapshot.Ghost) bool {
	return slices.ContainsFunc(tl.moved, func(m movedGhost) bool { return m.wire == g.Wire && m.born == g.Born })
}

// transferred moves entities with a new owner into that owner's rows, in the world as it
// was at t. It reports whether the prediction knew any of them.
func (tl *timeline) transferred(t Tick) bool {
	any := false
	move := func(g *snapshot.Ghost, switched bool) {
		if g.Data == 0 {
			return
		}
		if switched {
			tl.slides.begin(ecs.Entity(g.Data))
		}
		if slot, ok := tl.predictor.Slot(t); ok && !any && tl.restorable(t) {
			tl.Load(slot, t)
		}
		any = true
		// A stale handle is no fault here: the ghost is then born again.
		if tl.world.Transfer(ecs.Entity(g.Data), tl.ghosts.partOf(g)) != nil {
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
	}
	for _, ch := range tl.ghosts.receiver.Changes() {
		if switched := tl.ghosts.switched(ch.Ghost); switched || ch.Transferred {
			move(ch.Ghost, switched)
		}
	}
	for _, m := range tl.moved {
		for _, g := range tl.ghosts.receiver.Ghosts() { // it may be gone since
			if g.Wire == m.wire && g.Born == m.born {
				move(g, m.switched)
			}
		}
	}
	if len(tl.moved) > 0 {
		tl.moved = tl.moved[:0]
		tl.gather()
	}
	return any
}

// restorable reports whether the save of a tick, if there is one, can be used. A change of
// an entity's owner voids all earlier saves.
func (tl *timeline) restorable(t Tick) bool {
	slot, ok := tl.predictor.Slot(t)
	if !ok || tl.cfg.NoPrediction {
		return true
	}
	for i := range tl.saves.remotes { // of one who is new here no save holds anything
		if o := &tl.saves.remotes[i]; o.voids(slot) {
			return false
		}
	}
	return tl.saves.own.Holds(slot) && (!tl.p.Common || tl.saves.common.Holds(slot))
}
