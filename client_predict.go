package foretick

import (
	"bytes"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// advance moves time on and predicts the ticks that are due.
func (c *Client) advance() int {
	if c.clock == nil || c.view.State == Resuming {
		c.view.Stalled = false
		return 0
	}
	t := c.clock.Advance(c.now)
	if !t.Started {
		return 0
	}
	c.time = t
	c.view.InputDelay = time.Duration(int32(t.Command-t.Predicted)) * time.Second / time.Duration(c.p.tickRate)
	c.stats.Interpolation += t.Interpolation
	c.stats.Frames++
	if t.Command != t.Predicted {
		c.stats.InputDelayed++
	}
	ahead := int32(t.Predicted - c.predictor.Tick())
	switch {
	case !c.predictor.Started():
		if !c.reaches(t.Predicted) {
			return 0 // a level was entered and nothing of it came yet
		}
		c.view.State = Playing
		c.jump(t)
		return 0
	case t.Reset || ahead > int32(c.cfg.History):
		c.stats.HardResets++
		if ahead > 0 {
			if c.reaches(t.Predicted) {
				c.jump(t)
			}
			return 0
		}
		c.unsample(t)
	}
	c.stall(t)
	if c.overdue {
		c.takeUnpredicted()
	}
	c.othersNewest()
	c.read()
	n := 0
	for int32(t.Command-c.sampled) > 0 {
		c.sampled++
		c.sampleInput(c.sampled)
		n++
	}
	for int32(t.Predicted-c.predictor.Tick()) > 0 {
		c.predictor.Advance()
		n++
		if c.cfg.SyncTest > 0 {
			c.syncTest()
		}
	}
	return n
}

// reaches tells whether the prediction of t can begin from the newest snapshot. It
// always can of an honest server's: the clock leads no further than the history.
func (c *Client) reaches(t Tick) bool {
	newest, ok := c.receiver.Newest()
	return ok && int32(t-newest) <= int32(c.cfg.History)
}

// unsample takes back the input of ticks that the clock, set back, comes to only
// now, except where it was predicted with: a server that stood still refused
// commands so far ahead, or has some that the player gave seconds ago. It takes the
// new ones in their place.
func (c *Client) unsample(t netcode.Time) {
	last := t.Command
	if k := c.predictor.Tick(); int32(k-last) > 0 {
		last = k
	}
	if int32(c.sampled-last) > 0 {
		c.sampleAfter(last)
	}
}

// sampleAfter has the tick after last be the next whose input is sampled, though some
// later ones may have been.
func (c *Client) sampleAfter(last Tick) {
	c.sampled = last
}

// stallTicks is for how many ticks the server must have been silent for the limit
// of the history to be called a stall: a round trip beyond it is bridged by input
// delay, and the snapshots go on coming.
const stallTicks = 10

// stall notes whether the prediction waits for the server: the clock lets it go no
// further ahead of the newest snapshot than the history reaches.
func (c *Client) stall(t netcode.Time) {
	newest, _ := c.receiver.Newest()
	silent := (c.now - c.heard) * time.Duration(c.p.tickRate) / time.Second
	stalled := int32(t.Command-newest) > int32(c.cfg.History) && silent > stallTicks
	if stalled && !c.view.Stalled {
		c.stats.Stalls++
	}
	c.view.Stalled = stalled
}

// jump begins the prediction anew from the newest snapshot: at the start, and
// after a stall. No commands are made for the ticks between.
func (c *Client) jump(to netcode.Time) {
	for _, q := range c.frame.queues {
		q.cancel(&c.frame)
	}
	newest, _ := c.receiver.Newest()
	c.match()
	c.spawns.Open(func(k Tick, s spawned) bool {
		if int32(k-newest) > 0 { // its tick runs again
			c.world.Manager().Destroy(s.e)
		}
		return true
	})
	c.stashLocals()
	timeline{c}.Adopt(newest)
	c.predictor.Start(newest)
	c.putLocals()
	c.settle(newest)
	c.practice.since = newest
	c.good, c.sure, c.unsure = 0, 0, false
	c.agree(newest)
	c.othersNewest()
	for int32(to.Predicted-c.predictor.Tick()) > 0 {
		c.predictor.Advance()
	}
	c.sampleAfter(to.Command)
	c.fades.clear()
}

// read takes the player's input, once a frame. What is held is as of the last
// frame; what was pressed since the last tick stays pressed until a tick takes it,
// so that a press and release between two ticks is not lost. The newest press is kept
// with what its frame showed.
func (c *Client) read() {
	if c.p.command == nil || c.cfg.Sample == nil {
		return
	}
	schema, size := c.p.command.schema, c.p.command.size
	copyBytes(c.pressed, c.sample, size)
	clear(unsafe.Slice((*byte)(c.sample), size))
	c.cfg.Sample.sample(c.view, c.sample)
	if schema.Pressed(c.sample) {
		c.press.frame, c.press.read = c.looking(), c.now
		copyBytes(c.press.at, c.sample, size)
	}
	schema.MergeOneShots(c.sample, c.pressed)
}

// sampleInput makes tick t's command: the player's input as the wire will carry
// it, so that both ends play the same value.
func (c *Client) sampleInput(t Tick) {
	cmd := c.p.command
	if cmd == nil {
		return
	}
	from, looked := c.commanded(cmd)
	c.losses.sent(cmd.name, cmd.schema, from)
	c.scratch = cmd.schema.Pack(from, c.scratch[:0])
	if c.firstInput == 0 {
		c.firstInput = t
	}
	again := c.inputs.Find(t) != nil
	in := c.inputs.Put(t)
	if len(in.value) == 0 {
		in.at = reflect.New(cmd.handle.Type()).UnsafePointer()
		in.value = unsafe.Slice((*byte)(in.at), cmd.size)
	}
	if err := cmd.schema.Unpack(c.scratch, in.at); err != nil {
		clear(in.value)
		c.scratch = cmd.schema.Pack(in.at, c.scratch[:0])
	}
	if in.replaced = again && (in.replaced || !bytes.Equal(in.packed, c.scratch)); in.replaced {
		in.first = append(in.first[:0], in.packed...)
	}
	in.packed = append(in.packed[:0], c.scratch...)
	in.sampled, in.picture = c.now, looked.picture
	in.ahead = keys{a: looked.tick - 1, b: looked.tick, f: looked.fraction}
	in.whole = keys{a: looked.shown.tick, f: float32(looked.shown.fraction) / 256}
	cmd.schema.ClearOneShots(c.sample)
	c.push(t, looked)
}

// reconcile takes the server's word on tick t.
func (c *Client) reconcile(t Tick) {
	if !c.predictor.Started() {
		return
	}
	c.match()
	c.noteGone(t)
	if c.transferred(t) || !c.restorable(t) {
		// What was saved before has the entity in another owner's rows.
		c.stashLocals()
		timeline{c}.Adopt(t)
		c.predictor.Restart(t)
		c.putLocals()
		c.noteBack()
		c.practice.since = t
		c.fades.clear()
		c.settleEvents(t, prediction.Different)
		c.agree(t)
		c.settle(t)
		return
	}
	c.ownVerdict = prediction.Same
	r := c.predictor.Reconcile(t, timeline{c})
	if c.putLocals() {
		c.predictor.Rewrite()
	}
	c.noteBack()
	c.countShown(t, c.ownVerdict)
	if r.Compared {
		c.stats.Compared++
	}
	switch r.Verdict {
	case prediction.Different:
		c.practice.since = t
		c.corrected(t)
	case prediction.Near:
		c.practice.since = c.predictor.Tick()
		c.stats.SoftCorrections++
		c.fades.correct(c, c.records.Find(c.predictor.Tick()))
		c.takeUnpredicted()
	default:
		c.takeUnpredicted()
	}
	c.settleEvents(t, r.Verdict)
	c.settle(t)
	c.agree(t)
}

// agree notes that both ends agree on t, as far as that is known: what the snapshot put
// off may differ, and nobody knows since when. Of another who just came, nothing may be
// known at all.
func (c *Client) agree(t Tick) {
	_, all, _ := c.receiver.Complete(t)
	if c.unsure = !all; all {
		c.good, c.sure = t, t
	} else if c.whollyTold(t) {
		c.good = t
	}
}

// whollyTold tells whether a snapshot said everything of what is the player's own. What is
// his here may have become another's on the server, and be put off as such.
func (c *Client) whollyTold(t Tick) bool {
	_, all, own := c.receiver.Complete(t)
	if all || !own {
		return all
	}
	return !slices.ContainsFunc(c.ours, func(g *snapshot.Ghost) bool {
		_, ok := g.At(t)
		return !ok && !c.remotePredicted(g) && int32(t-g.Born) >= 0 && (g.Gone == 0 || int32(t-g.Gone) < 0)
	})
}

// settleEvents confirms what was predicted up to t. A note comes where the server
// ran another command, or wrote predicted state: what the ticks since the last
// agreement raised is then what the note says, even if the state agrees, in which not
// every event leaves a trace. Where others are foreseen, a note comes whenever anything
// was raised, and counts after a correction or what the snapshot put off.
func (c *Client) settleEvents(t Tick, v prediction.Verdict) {
	open := c.noteTick == t
	if c.p.predictRemote != nil && !c.doubted(t) {
		open = v == prediction.Different || !c.whollyTold(t)
	}
	for i, q := range c.frame.queues {
		if open {
			q.refuse(&c.frame, t, func(k Tick) int {
				return c.executed(i, k, t)
			})
		}
		q.confirm(&c.frame, t)
	}
}

// doubted reports whether a note says that the server ran another command, or wrote
// predicted state.
func (c *Client) doubted(t Tick) bool {
	return c.noteTick == t && (c.note.substituted != 0 || c.note.effect != 0)
}

// executed is how many events of an index the server raised in tick k, by its note on
// tick t; maxRaised where both are known to agree, or the note did not hold them all.
func (c *Client) executed(event int, k, t Tick) int {
	told, n := c.raisedAt(t), 0
	full := len(told) == maxRaised && int32(k-(t-told[maxRaised-1].age)) >= 0
	if full || int32(k-c.good) <= 0 || t-k >= noteWindow {
		return maxRaised
	}
	for _, e := range told {
		if t-e.age == k && int(e.event) == event {
			n++
		}
	}
	return n
}

// raisedAt is what the server told that the player's entities raised until t.
func (c *Client) raisedAt(t Tick) []noteEvent {
	if c.noteTick != t {
		return nil
	}
	return c.note.raised
}

// transferred moves entities that changed hands into their new owner's rows, in
// the world as it was at t, and tells whether there were any that the prediction
// knew.
func (c *Client) transferred(t Tick) bool {
	any := false
	for _, ch := range c.receiver.Changes() {
		if !ch.Transferred || ch.Ghost.Data == 0 {
			continue
		}
		if slot, ok := c.predictor.Slot(t); ok && !any && c.restorable(t) {
			timeline{c}.Load(slot, t)
		}
		any = true
		// A stale handle is no fault here: the ghost is then born again.
		if c.world.Transfer(ecs.Entity(ch.Ghost.Data), c.partOf(ch.Ghost)) != nil {
			c.bury(ecs.Entity(ch.Ghost.Data))
			ch.Ghost.Data = 0
		}
	}
	return any
}

// restorable tells whether the save of a tick, if there is one, is good for
// anything: an entity's change of owner makes those of before void.
func (c *Client) restorable(t Tick) bool {
	slot, ok := c.predictor.Slot(t)
	if !ok || c.cfg.NoPrediction {
		return true
	}
	for i := range c.remotePredictedOf { // of one who is new here no save holds anything
		if o := &c.remotePredictedOf[i]; o.voids(slot) {
			return false
		}
	}
	return c.own.Holds(slot) && (!c.p.common || c.common.Holds(slot))
}

// corrected counts and tells what went wrong, and lets the picture follow
// slowly.
func (c *Client) corrected(t Tick) {
	if c.wrong.Component == "" && c.remotePredictionFailed {
		c.swayed()
	}
	if c.wrong.Component != "" && !c.counted() {
		c.stats.Mispredictions++
		c.stats.ByCause[c.wrong.Cause]++
		if c.cfg.OnMisprediction != nil {
			if debugBuild && c.wrong.Cause == prediction.Code {
				c.wrong.System, c.wrong.CauseTick = c.blame(t)
			}
			c.explainInputs()
			c.cfg.OnMisprediction(c.wrong)
		}
	}
	c.fades.correct(c, c.records.Find(c.predictor.Tick()))
}

// countShown holds the first prediction of each tick against the server's
// state.
func (c *Client) countShown(t Tick, v prediction.Verdict) {
	r := c.records.Find(t)
	if r == nil || !r.some {
		return
	}
	if !r.replayed { // what was compared is the first prediction itself
		if v == prediction.Different {
			c.stats.MispredictedFrames++
		}
		return
	}
	if v == prediction.Same { // then the last prediction is the server's state
		if r.hash() != r.first {
			c.stats.MispredictedFrames++
		}
		return
	}
	h := uint64(0)
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || c.remotePredicted(g) {
			continue
		}
		h += hashItem(ecs.Entity(g.Data), itself, nil)
		for i := range c.p.components {
			if w := s.Component(i); w != nil && c.p.components[i].predicted {
				h += hashItem(ecs.Entity(g.Data), i, c.meant(&c.p.components[i], w, r.find(ecs.Entity(g.Data), i), t))
			}
		}
	}
	if h != r.first {
		c.stats.MispredictedFrames++
	}
}

// othersNewest gives others' rows their newest received values, where shared
// systems look at them.
func (c *Client) othersNewest() {
	if len(c.others) == 0 {
		return
	}
	for _, g := range c.receiver.Ghosts() {
		if c.ahead(g) || g.Data == 0 || g.Gone != 0 {
			continue
		}
		s := g.Newest()
		for _, i := range c.others {
			if words := s.Component(i); words != nil {
				c.writeComponent(g, s, i)
			}
		}
	}
}
