package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// timeline is the predicted present: the entities that this client simulates ahead of the server, and
// the data for going back and running their ticks again.
type timeline struct {
	*base
	input   *input
	ghosts  *ghosts
	reasons *cause.Log

	predictor *prediction.Predictor
	records   *prediction.History[record] // the predictions for each tick
	saves     saves

	agreed     agreement
	comparison comparison
	causes     causes
	correction correction
	trails     trails
	// acted is the newest tick whose events are known, with NoPrediction. It is 0 if there is none.
	acted foretick.Tick

	scenes     scenes
	bodies     bodies
	spawning   spawning
	predicted  predicted
	names      recordNames
	recorder   recorder
	controls   controls
	clientOnly localEntities
	locals     locals
	tester     syncTester
	stepper    stepper
	looks      looks
	row        game.SingletonRow
	parents    game.Hierarchy
	slides     slides
}

// init makes the parts. The timeline must not be copied afterwards.
func (tl *timeline) init(b *base, ip *input, gs *ghosts, r *cause.Log) {
	tl.base, tl.input, tl.ghosts, tl.reasons = b, ip, gs, r
	tl.predictor, tl.records = &prediction.Predictor{}, prediction.NewHistory[record](b.cfg.History)
	tl.row, tl.parents = game.NewSingletonRow(&b.build.Facts, b.world), game.NewHierarchy(&b.build.Facts, b.world)
	tl.locals.base = b
	tl.clientOnly = newLocalEntities(b)
	tl.saves = saves{base: b, ghosts: gs, predictor: tl.predictor, locals: &tl.locals, predicted: &tl.predicted, spawning: &tl.spawning}
	tl.scenes = scenes{base: b, input: ip, ghosts: gs, predictor: tl.predictor}
	tl.bodies = bodies{base: b, ghosts: gs, scenes: &tl.scenes, parents: &tl.parents, predictor: tl.predictor, locals: &tl.locals}
	tl.spawning = spawning{
		base: b, input: ip, ghosts: gs, scenes: &tl.scenes, bodies: &tl.bodies, clientOnly: &tl.clientOnly,
		records: tl.records, parents: &tl.parents, predictor: tl.predictor, ordinals: game.Ordinals{},
	}
	tl.predicted = predicted{base: b, ghosts: gs, spawning: &tl.spawning, bodies: &tl.bodies}
	tl.names = recordNames{base: b, input: ip, ghosts: gs, spawning: &tl.spawning, scenes: &tl.scenes}
	tl.recorder = newRecorder(b, gs, &tl.names, &tl.predicted, &tl.scenes, tl.records)
	tl.controls = newControls(b, ip, gs, &tl.saves, &tl.predicted, tl.records)
	tl.tester = newSyncTester(b, gs, &tl.predicted, tl.predictor, &tl.row)
	tl.slides = slides{base: b, ghosts: gs, names: &tl.names}
	tl.trails = newTrails(b, gs, &tl.predicted, &tl.row)
	tl.stepper = stepper{
		base: b, ghosts: gs, spawning: &tl.spawning, saves: &tl.saves, controls: &tl.controls,
		clientOnly: &tl.clientOnly, row: &tl.row, parents: &tl.parents,
	}
	tl.stepper.runs = tl.stepper.runsFor
	tl.looks = looks{
		base: b, ghosts: gs, stepper: &tl.stepper, recorder: &tl.recorder, predicted: &tl.predicted,
		saves: &tl.saves, spawning: &tl.spawning, names: &tl.names, records: tl.records,
	}
	tl.agreed = agreement{base: b, ghosts: gs, input: ip, reasons: r}
	tl.causes = causes{
		base: b, input: ip, ghosts: gs, predicted: &tl.predicted, names: &tl.names, records: tl.records,
		scenes: &tl.scenes, looks: &tl.looks, agreed: &tl.agreed, trails: &tl.trails, reasons: r,
	}
	tl.comparison = comparison{
		base: b, ghosts: gs, spawning: &tl.spawning, names: &tl.names, records: tl.records,
		saves: &tl.saves, causes: &tl.causes,
	}
	b.reports.base, b.reports.input, b.reports.names, b.reports.reasons = b, ip, &tl.names, r
	b.tracer.base, b.tracer.ghosts, b.tracer.predicted, b.tracer.names = b, gs, &tl.predicted, &tl.names
}

// clearLevel forgets everything that belonged to a level.
func (tl *timeline) clearLevel() error {
	tl.records.Clear()
	tl.saves.forgetRemotes(func(remotePlayer) bool { return true })
	tl.locals.clearLocals()
	tl.scenes.appeared, tl.scenes.undrawn = tl.scenes.appeared[:0], tl.scenes.undrawn[:0]
	tl.ghosts.overdue, tl.acted, tl.ghosts.moved = false, 0, tl.ghosts.moved[:0]
	tl.agreed.clearTicks()
	tl.agreed.standIns = 0
	predictor, err := prediction.NewPredictor(prediction.Config{History: tl.cfg.History}, tl)
	if err == nil {
		*tl.predictor = *predictor // replaced in place, because the parts have its address
	}
	return err
}

// Save saves the predicted rows.
func (tl *timeline) Save(slot int, _ foretick.Tick) {
	if !tl.cfg.NoPrediction {
		tl.saves.saveSlot(slot)
	}
}

// Load restores the predicted rows.
func (tl *timeline) Load(slot int, _ foretick.Tick) {
	if !tl.cfg.NoPrediction {
		tl.saves.loadSlot(slot)
	}
}

// Step runs the shared systems for the local player.
func (tl *timeline) Step(t foretick.Tick, replay bool) {
	if tl.cfg.NoPrediction {
		return
	}
	f := &tl.frame
	f.Tick, f.Replay = t, replay
	tl.row.Give()
	tl.ghosts.othersAgain()
	tl.parents.ApplyParents()
	tl.controls.fillCommand(t)
	tl.controls.guessRemotes(t)
	tl.recorder.cut = tl.recorder.cut[:0]
	for _, q := range tl.frames.Queues {
		q.Begin(t)
	}
	tl.spawning.beginSpawns(t)
	tl.tester.running, tl.tester.again = tl.hooks.syncTest > 0, tl.tester.again[:0]
	if game.DebugBuild {
		tl.losses.BeginTick()
		tl.trails.ours.Begin(t)
		tl.trails.noteTrail()
	}
	ecs.Engine(tl.world).WatchOutside(false)
	if tl.tracer.armed {
		tl.tracer.beginTrace(t)
	}
	tl.stepper.runSystems(t)
	if tl.tracer.recording {
		tl.tracer.endTrace()
	}
	tl.row.TakeRow()
	tl.trails.settleTrail(&tl.tester)
	ecs.Engine(tl.world).WatchOutside(true)
	tl.spawning.endSpawns()
	if tl.tester.running {
		tl.tester.running = false
		if !tl.practice {
			*tl.tester.hashes.Put(t) = append((*tl.tester.hashes.Put(t))[:0], tl.tester.again...)
			tl.tester.checkNumbers(t)
		}
	}
	for _, q := range tl.frames.Queues {
		q.End(tl.frames, f)
	}
	tl.recorder.keepTick(t, replay)
	if tl.p.ClientOnly && !tl.clientOnly.ranBefore(t) {
		tl.clientOnly.keepLocalEntities(&tl.recorder)
		tl.clientOnly.lived = t + 1
	}
	f.Replay = false
	if replay {
		tl.stats.Resimulated++
	}
}

// jump restarts the prediction from the newest snapshot: at the start, and after a stall. It makes no
// commands for the ticks between.
func (tl *timeline) jump(to foretick.Tick) {
	for _, q := range tl.frames.Queues {
		q.Cancel(tl.frames, &tl.frame)
	}
	newest, _ := tl.ghosts.receiver.Newest()
	tl.spawning.matchSpawns()
	tl.spawning.waiting.Open(func(k foretick.Tick, s spawned) bool {
		if int32(k-newest) > 0 { // its tick runs again
			ecs.Engine(tl.world).Manager().Destroy(s.e)
		}
		return true
	})
	tl.saves.stashLocals()
	tl.Adopt(newest)
	tl.predictor.Start(newest)
	tl.saves.putLocals()
	tl.settleSpawns(newest)
	tl.tester.since = newest
	tl.agreed.clearTicks()
	tl.agreed.agreeOn(newest)
	tl.ghosts.othersNewest()
	for int32(to-tl.predictor.Tick()) > 0 {
		tl.predictor.Advance()
	}
}

// noteMoved notes the ghosts of the snapshot just read that have a new owner, or whose prediction was
// switched.
func (tl *timeline) noteMoved() {
	for _, ch := range tl.ghosts.receiver.Changes() {
		if (ch.Transferred || tl.ghosts.switched(ch.Ghost)) && !tl.ghosts.movesLater(ch.Ghost) {
			tl.ghosts.moved = append(tl.ghosts.moved, movedGhost{ch.Ghost.Wire, ch.Ghost.Born})
		}
	}
	if len(tl.ghosts.moved) > 0 {
		tl.saves.gather()
		tl.tester.since = tl.predictor.Tick() // earlier ticks ran with other entities
	}
}

// transferred moves entities with a new owner into that owner's rows, in the world of t. It reports
// whether the prediction had any of them.
func (tl *timeline) transferred(t foretick.Tick) bool {
	any := false
	move := func(g *snapshot.Ghost) {
		if g.Data == 0 {
			return
		}
		tl.slides.beginSlide(g)
		if slot, ok := tl.predictor.Slot(t); ok && !any && tl.saves.restorable(t) {
			tl.Load(slot, t)
		}
		any = true
		// A stale handle is not a fault: the ghost gets a new entity then.
		if tl.world.Transfer(ecs.Entity(g.Data), tl.ghosts.partOf(g)) != nil {
			tl.bodies.bury(ecs.Entity(g.Data))
			g.Data = 0
		}
	}
	for _, ch := range tl.ghosts.receiver.Changes() {
		if ch.Transferred || tl.ghosts.switched(ch.Ghost) {
			move(ch.Ghost)
		}
	}
	for _, m := range tl.ghosts.moved {
		for _, g := range tl.ghosts.receiver.Ghosts() { // the ghost may be gone by now
			if g.Wire == m.wire && g.Born == m.born {
				move(g)
			}
		}
	}
	if len(tl.ghosts.moved) > 0 {
		tl.ghosts.moved = tl.ghosts.moved[:0]
		tl.saves.gather()
	}
	return any
}

// settleSpawns compares spawns and destroys up to t with the server's state, and forgets the data that
// no prediction which is still to be compared needs.
func (tl *timeline) settleSpawns(t foretick.Tick) {
	tl.spawning.settleSpawns(t)
	if tl.ghosts.releaseGone() {
		tl.saves.gather()
	}
	tl.spawning.forgetNamed(t)
	tl.scenes.forgetScenes(t)
	tl.bodies.exhume()
}

// corrected counts a misprediction and reports it.
func (tl *timeline) corrected(t foretick.Tick) {
	if tl.causes.wrong.Component == "" && tl.causes.remoteFailed {
		if after := tl.records.Find(tl.predictor.Tick()); tl.correction.replacing && after != nil {
			tl.causes.swayed(&tl.correction.before, after, tl.predictor.Tick())
		}
	}
	if tl.causes.wrong.Component != "" && !tl.reasons.Counted(&tl.causes.wrong) {
		tl.stats.Mispredictions++
		tl.stats.ByCause.Count(tl.causes.wrong.Cause, 1)
		if game.DebugBuild {
			tl.causes.often.noteRead(&tl.causes.wrong, tl.cfg.Logger.Warn)
		}
		if tl.reports.explains() {
			if tl.causes.wrong.Cause == prediction.Code {
				tl.causes.explainCode(t)
			}
			tl.reports.explainInputs(&tl.causes.wrong)
			tl.reports.tellCorrection(&tl.causes.wrong)
		}
	}
}
