package foretick

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// record is what was predicted for one tick, in words of the simulation step.
type record struct {
	items []recordItem
	words []int32
	some  bool // the first prediction had an entity

	replayed bool   // it is not the first prediction any more
	first    uint64 // hash of the first prediction, once it was replayed
}

type recordItem struct {
	wire snapshot.WireID
	comp uint8
	off  int32
}

func (r *record) find(wire snapshot.WireID, comp int) []int32 {
	for i := range r.items {
		if r.items[i].wire == wire && int(r.items[i].comp) == comp {
			return r.words[r.items[i].off:]
		}
	}
	return nil
}

// timeline is the client's predicted world, as the predictor drives it, and the
// server's word on it.
type timeline struct{ *Client }

// Save keeps the predicted rows.
func (c timeline) Save(slot int, _ Tick) {
	if c.cfg.NoPrediction {
		return
	}
	c.own.Save(slot)
	if c.p.island {
		c.island.Save(slot)
	}
}

// Load puts them back.
func (c timeline) Load(slot int, _ Tick) {
	if c.cfg.NoPrediction {
		return
	}
	c.own.Restore(slot)
	if c.p.island {
		c.island.Restore(slot)
	}
}

// gather lists the ghosts that are predicted here, in the receiver's order, so
// that predicting does not walk over everybody else's.
func (c *Client) gather() {
	c.ours = c.ours[:0]
	for _, g := range c.receiver.Ghosts() {
		if c.mine(g) {
			c.ours = append(c.ours, g)
		}
	}
}

// mine tells whether a ghost is predicted here, as against drawn in the past.
func (c *Client) mine(g *snapshot.Ghost) bool { return g.Mine && !c.cfg.NoPrediction }

// Step runs the shared systems for the local player.
func (c timeline) Step(t Tick, replay bool) {
	if c.cfg.NoPrediction {
		return
	}
	f := &c.frame
	f.Tick, f.Replay = t, replay
	c.fillCommand(t)
	for _, q := range f.queues {
		q.begin(t)
	}
	c.practice.running, c.practice.again = c.cfg.Rehearse > 0, c.practice.again[:0]
	if c.p.island {
		c.p.schedule.ExecuteParts(c.world, f, c.view.Me, ecs.Island)
	} else {
		c.p.schedule.ExecutePlayer(c.world, f, c.view.Me)
	}
	if c.practice.running {
		c.practice.running = false
		if !c.practice.replay {
			*c.practice.trail.Put(t) = append((*c.practice.trail.Put(t))[:0], c.practice.again...)
			c.checkNumbers(t)
		}
	}
	for _, q := range f.queues {
		q.end(f)
	}
	f.Replay = false
	c.keep(t, replay)
	if replay {
		c.stats.Resimulated++
	}
}

// fillCommand writes tick t's input into the player's rows.
func (c *Client) fillCommand(t Tick) {
	cmd := c.p.command
	if cmd == nil {
		return
	}
	in := c.inputs.Find(t)
	for _, rows := range c.ownRows.Owned(c.world, c.view.Me) {
		base := rows.Column(cmd.id)
		for i := range rows.Len() {
			dst := unsafe.Slice((*byte)(unsafe.Add(base, uintptr(i)*cmd.size)), cmd.size)
			if in == nil {
				clear(dst)
			} else {
				copy(dst, in.value)
			}
		}
	}
}

// keep snaps the predicted values to the simulation step and records them.
func (c *Client) keep(t Tick, replay bool) {
	r := c.records.Put(t)
	if replay && !r.replayed {
		r.first, r.replayed = r.hash(), true
	}
	r.items, r.words = r.items[:0], r.words[:0]
	for _, g := range c.ours {
		if g.Data == 0 {
			continue
		}
		for i := range c.p.components {
			comp := &c.p.components[i]
			if !comp.predicted {
				continue
			}
			at := c.world.Pointer(ecs.Entity(g.Data), comp.id)
			if at == nil {
				continue
			}
			off := len(r.words)
			r.words = append(r.words, c.zeroes(comp.schema.Words())...)
			comp.schema.SnapWords(at, clientRefs{c}, r.words[off:])
			r.items = append(r.items, recordItem{g.Wire, uint8(i), int32(off)})
		}
	}
	if !replay {
		r.some, r.replayed = len(r.items) > 0, false
		if r.some {
			c.stats.PredictedTicks++
		}
	}
}

func (c *Client) zeroes(n int) []int32 {
	for len(c.words) < n {
		c.words = append(c.words, 0)
	}
	clear(c.words[:n])
	return c.words[:n]
}

// hash covers items and words; see hashWords for the server's side of it.
func (r *record) hash() uint64 {
	h := uint64(fnvOffset)
	for i, it := range r.items {
		end := len(r.words)
		if i+1 < len(r.items) {
			end = int(r.items[i+1].off)
		}
		h = hashWords(h, it.wire, int(it.comp), r.words[it.off:end])
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashWords(h uint64, wire snapshot.WireID, comp int, words []int32) uint64 {
	h = (h ^ (uint64(wire)<<8 | uint64(comp))) * fnvPrime
	for _, w := range words {
		h = (h ^ uint64(uint32(w))) * fnvPrime
	}
	return h
}

// advance moves time on and predicts the ticks that are due.
func (c *Client) advance() int {
	if c.clock == nil || c.view.State == Resuming {
		return 0
	}
	t := c.clock.Advance(c.now)
	if !t.Started {
		return 0
	}
	c.time = t
	c.stats.Interpolation += t.Interpolation
	c.stats.Pictures++
	ahead := int32(t.Predicted - c.predictor.Tick())
	switch {
	case !c.predictor.Started():
		if _, ok := c.receiver.Newest(); !ok {
			return 0 // a level was entered and nothing of it came yet
		}
		c.view.State = Playing
		c.jump(t)
		return 0
	case t.Reset || ahead > int32(c.cfg.History):
		c.stats.HardResets++
		if ahead > 0 {
			c.jump(t)
			return 0
		}
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
		if c.cfg.Rehearse > 0 {
			c.rehearse()
		}
	}
	return n
}

// jump begins the prediction anew from the newest snapshot: at the start, and
// after a stall. No commands are made for the ticks between.
func (c *Client) jump(to netcode.Time) {
	for _, q := range c.frame.queues {
		q.cancel(&c.frame)
	}
	newest, _ := c.receiver.Newest()
	timeline{c}.Adopt(newest)
	c.predictor.Start(newest)
	c.good = newest
	c.othersNewest()
	for int32(to.Predicted-c.predictor.Tick()) > 0 {
		c.predictor.Advance()
	}
	c.sampled = to.Command
	c.fades.clear()
}

// read takes the player's input, once a picture. What is held is as of the last
// picture; what was pressed since the last tick stays pressed until a tick
// takes it, so that a press and release between two ticks is not lost.
func (c *Client) read() {
	if c.p.command == nil || c.cfg.Sample == nil {
		return
	}
	schema, size := c.p.command.schema, c.p.command.size
	copyBytes(c.pressed, c.sample, size)
	clear(unsafe.Slice((*byte)(c.sample), size))
	c.cfg.Sample.sample(c.view, c.sample)
	schema.MergeOneShots(c.sample, c.pressed)
}

// sampleInput makes tick t's command: the player's input as the wire will carry
// it, so that both ends play the same value.
func (c *Client) sampleInput(t Tick) {
	cmd := c.p.command
	if cmd == nil {
		return
	}
	c.scratch = cmd.schema.Pack(c.sample, c.scratch[:0])
	in := c.inputs.Put(t)
	if len(in.value) == 0 {
		in.at = reflect.New(cmd.handle.Type()).UnsafePointer()
		in.value = unsafe.Slice((*byte)(in.at), cmd.size)
	}
	if err := cmd.schema.Unpack(c.scratch, in.at); err != nil {
		clear(in.value)
		c.scratch = cmd.schema.Pack(in.at, c.scratch[:0])
	}
	in.sampled, in.picture = c.now, c.picture
	cmd.schema.ClearOneShots(c.sample)
	c.push(t)
}

// reconcile takes the server's word on tick t.
func (c *Client) reconcile(t Tick) {
	if !c.predictor.Started() {
		return
	}
	if c.transferred() {
		// What was saved before has the entity in another owner's rows.
		timeline{c}.Adopt(t)
		c.predictor.Restart(t)
		c.fades.clear()
		c.good = t
		return
	}
	r := c.predictor.Reconcile(t, timeline{c})
	c.countShown(t, r.Verdict)
	if r.Compared {
		c.stats.Compared++
	}
	if r.Verdict == prediction.Different {
		c.corrected(t)
	} else {
		c.takeUnpredicted()
	}
	c.settleEvents(t, r.Verdict)
	c.good = t
}

// settleEvents confirms what was predicted up to t. Where a correction leaves
// open what the ticks since the last agreement really raised, the server's note
// says it.
func (c *Client) settleEvents(t Tick, v prediction.Verdict) {
	for i, q := range c.frame.queues {
		if v == prediction.Different && c.noteTick == t {
			q.refuse(&c.frame, t, func(k Tick) int {
				if int32(k-c.good) <= 0 {
					return maxRaised
				}
				n := 0
				for _, e := range c.note.raised {
					if t-e.age == k && int(e.event) == i {
						n++
					}
				}
				return n
			})
		}
		q.confirm(&c.frame, t)
	}
}

// transferred moves entities that changed hands into their new owner's rows and
// tells whether there were any that the prediction knew.
func (c *Client) transferred() bool {
	any := false
	for _, ch := range c.receiver.Changes() {
		if !ch.Transferred || ch.Ghost.Data == 0 {
			continue
		}
		any = true
		// A stale handle is no fault here: the ghost is then born again.
		if c.world.Transfer(ecs.Entity(ch.Ghost.Data), ecs.Owner(ch.Ghost.Owner)) != nil {
			ch.Ghost.Data = 0
		}
	}
	return any
}

// corrected counts and tells what went wrong, and lets the picture follow
// slowly.
func (c *Client) corrected(t Tick) {
	if c.wrong.Component != "" {
		c.stats.Mispredictions++
		c.stats.ByCause[c.wrong.Cause]++
		if c.cfg.OnMisprediction != nil {
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
			c.stats.ShownWrong++
		}
		return
	}
	h := uint64(fnvOffset)
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok {
			continue
		}
		for i := range c.p.components {
			if w := s.Component(i); w != nil && c.p.components[i].predicted {
				h = hashWords(h, g.Wire, i, w)
			}
		}
	}
	if h != r.first {
		c.stats.ShownWrong++
	}
}

// Compare holds the prediction for t against the server's words.
func (c timeline) Compare(_ int, t Tick) prediction.Verdict {
	c.wrong = prediction.Misprediction{Tick: t}
	r := c.records.Find(t)
	if r == nil {
		return prediction.Different
	}
	verdict := prediction.Same
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			if ok != (g.Data != 0) {
				verdict = prediction.Different // came or went
			}
			continue
		}
		if c.compareGhost(r, g, s) {
			return prediction.Different
		}
	}
	return verdict
}

// compareGhost finds the first predicted field that differs, and explains it.
func (c timeline) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State) bool {
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted {
			continue
		}
		ours, theirs := r.find(g.Wire, i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		c.wrong.Entity, c.wrong.Component = g.Data, comp.name
		if ours == nil || theirs == nil {
			c.wrong.Field = "(component)"
			c.explain()
			return true
		}
		if f := comp.schema.FirstDifference(ours[:comp.schema.Words()], theirs); f >= 0 {
			c.explainField(comp, f, ours, theirs)
			c.explain()
			return true
		}
		c.wrong.Component = ""
	}
	return false
}

func (c timeline) explainField(comp *component, f int, ours, theirs []int32) {
	field := comp.schema.Fields()[f]
	c.wrong.Field = field.Name
	c.wrong.Predicted, c.wrong.Actual = fieldValue(field, ours), fieldValue(field, theirs)
}

// fieldValue is a field's value on the simulation grid, in its own units.
func fieldValue(field snapshot.Field, words []int32) float64 {
	step := field.Sim
	if step == 0 {
		step = 1
	}
	return float64(words[field.Word]) * step
}

// explain finds the cause: the first that applies since the last agreement.
func (c timeline) explain() {
	w := &c.wrong
	within := func(age uint32) (Tick, bool) {
		if age == 0 || c.noteTick != w.Tick {
			return 0, false
		}
		t := w.Tick - (age - 1)
		return t, int32(t-c.good) > 0
	}
	if t, ok := within(c.note.substituted); ok {
		w.Cause, w.CauseTick = prediction.Input, t
		return
	}
	if t, ok := within(c.note.effect); ok {
		w.Cause, w.CauseTick, w.System = prediction.ServerEffect, t, c.p.systemName(c.note.system)
		return
	}
	w.Cause = prediction.Code
	if len(c.others) > 0 {
		w.Cause = prediction.Untracked
	}
}

// systemName names the server's system of a note.
func (p *Protocol) systemName(index uint32) string {
	systems := p.schedule.Systems()
	if index == effectOutside || int(index) > len(systems) {
		return "(outside of systems)"
	}
	return systems[index-1].Name
}

// Adopt writes the server's state of the local player at t into the world.
func (c timeline) Adopt(t Tick) {
	c.fades.remember(c.records.Find(c.predictor.Tick()))
	c.checkUntracked(t)
	for _, g := range c.ours {
		s, ok := g.At(t)
		switch {
		case ok && g.Data == 0:
			c.birth(g)
			c.write(g, s)
		case ok:
			c.write(g, s)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			c.world.Destroy(ecs.Entity(g.Data))
			g.Data = 0
			c.released = append(c.released, g)
		}
	}
	c.release()
}

// checkUntracked looks at what shared systems may have read and the prediction
// does not cover: if the client's value differed at t, that is the cause.
func (c timeline) checkUntracked(t Tick) {
	if c.wrong.Component == "" || c.wrong.Cause != prediction.Code || c.wrong.Tick != t {
		return
	}
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			continue
		}
		for _, i := range c.p.readUnpredicted {
			at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id)
			theirs := s.Component(i)
			if at == nil || theirs == nil {
				continue
			}
			schema := c.p.components[i].schema
			ours := c.zeroes(schema.Words())
			schema.Quantise(at, snapshot.GridPublic, clientRefs{c.Client}, ours)
			if schema.FirstDifference(ours, theirs) >= 0 {
				c.wrong.Cause = prediction.Untracked
				return
			}
		}
	}
}

// birth makes the local entity of a ghost.
func (c *Client) birth(g *snapshot.Ghost) {
	k := c.p.kinds[g.Kind].ecs
	e := c.world.Spawn(k, ecs.Owner(g.Owner))
	*c.p.identity.Get(c.world, e) = Identity{Net: uint32(g.Wire), Kind: uint16(g.Kind)}
	g.Data = uint64(e)
}

// write puts a ghost's state into the world as it is.
func (c *Client) write(g *snapshot.Ghost, s snapshot.State) {
	for i := range c.p.components {
		if words := s.Component(i); words != nil {
			c.writeComponent(g, i, words)
		} else if at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id); at != nil {
			c.world.RemoveByID(ecs.Entity(g.Data), c.p.components[i].id)
		}
	}
}

func (c *Client) writeComponent(g *snapshot.Ghost, i int, words []int32) {
	at := c.pointer(g, i)
	grid := c.receiver.Grid(g, i)
	if g.Mine {
		c.p.components[i].schema.Dequantise(words, grid, clientRefs{c}, at)
	} else {
		c.p.components[i].schema.DequantiseMasked(words, grid, clientRefs{c}, at)
	}
}

// pointer is where a ghost's component lies in the world; it is added where it
// was missing.
func (c *Client) pointer(g *snapshot.Ghost, i int) unsafe.Pointer {
	e, comp := ecs.Entity(g.Data), &c.p.components[i]
	at := c.world.Pointer(e, comp.id)
	if at == nil {
		c.world.AddByID(e, comp.id, nil)
		at = c.world.Pointer(e, comp.id)
	}
	return at
}

// takeUnpredicted brings the local player's other components, which the server
// alone computes, up to date.
func (c *Client) takeUnpredicted() {
	changed := false
	for _, ch := range c.receiver.Changes() {
		g := ch.Ghost
		if !c.mine(g) || g.Data == 0 {
			continue
		}
		s := g.Newest()
		for i := range c.p.components {
			if words := s.Component(i); words != nil && !c.p.components[i].predicted {
				c.writeComponent(g, i, words)
				changed = true
			}
		}
	}
	if changed {
		c.predictor.Rewrite()
	}
}

// othersNewest gives others' rows their newest received values, where shared
// systems look at them.
func (c *Client) othersNewest() {
	if len(c.others) == 0 {
		return
	}
	for _, g := range c.receiver.Ghosts() {
		if c.mine(g) || g.Data == 0 || g.Gone != 0 {
			continue
		}
		s := g.Newest()
		for _, i := range c.others {
			if words := s.Component(i); words != nil {
				c.writeComponent(g, i, words)
			}
		}
	}
}

// clientRefs maps entity references to wire ids and back.
type clientRefs struct{ c *Client }

// Net is the wire id of a local entity.
func (r clientRefs) Net(entity uint64) uint32 {
	if id := r.c.p.identity.Find(r.c.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is the local entity of a wire id.
func (r clientRefs) Entity(ref uint32) uint64 {
	if ref == 0 || ref > math.MaxUint16 {
		return 0
	}
	if g := r.c.receiver.Find(snapshot.WireID(ref)); g != nil && g.Gone == 0 {
		return g.Data
	}
	return 0
}
