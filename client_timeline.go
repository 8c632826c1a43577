package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
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
