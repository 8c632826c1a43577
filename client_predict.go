package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

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
	c.practice.since = newest
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
		c.practice.since = t
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
		c.practice.since = t
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
		c.practice.since = c.predictor.Tick()
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
