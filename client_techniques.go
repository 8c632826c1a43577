package foretick

import (
	"errors"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
)

// Techniques says which techniques a client does without, see [Client.SetTechniques]. It is
// for pages and tools that show what each of them is for. The zero value uses them all.
type Techniques struct {
	// NoPrediction draws the local player in the past: see [ClientConfig].NoPrediction.
	NoPrediction bool
	// NoReconciliation predicts on from what was predicted before, and never compares it
	// with the server. Errors of the prediction stay until it is switched off again.
	NoReconciliation bool
	// NoSmoothing shows each correction at once.
	NoSmoothing bool
	// NoInterpolation draws others at the newest snapshot, without a buffer. They jump from
	// one snapshot to the next.
	NoInterpolation bool
}

var errPartsNeedPrediction = errors.New("foretick: Techniques.NoPrediction is set for a client with ClientConfig.PartialTicks, and only predicted ticks have parts: leave one out")

// SetTechniques switches techniques on and off while the client runs, from the next Step
// on. When prediction or reconciliation comes back, the prediction starts over from the
// newest snapshot. Commands go on, so the server sees no difference. An observer predicts
// nothing, whatever is set. It returns an error for NoPrediction with
// [ClientConfig].PartialTicks. Like Step it is not safe for concurrent use.
func (c *Client) SetTechniques(t Techniques) error {
	if t.NoPrediction && c.cfg.PartialTicks {
		return errPartsNeedPrediction
	}
	t.NoPrediction = t.NoPrediction || c.cfg.Observe
	c.wanted = t
	return nil
}

// changeTechniques applies what SetTechniques asked for. The world holds no drawn values.
func (c *Client) changeTechniques() {
	was, want := c.techniques, c.wanted
	if was == want {
		return
	}
	c.techniques = want
	if want.NoSmoothing {
		c.screen.fades.clear()
	}
	predicts := was.NoPrediction != want.NoPrediction
	if !predicts && was.NoReconciliation == want.NoReconciliation {
		return
	}
	if predicts {
		c.cfg.NoPrediction = want.NoPrediction
		for _, q := range c.frame.queues {
			q.cancel(&c.frame)
			q.wait(want.NoPrediction)
		}
		c.screen.keepFrames()
	}
	if c.ghosts.receiver == nil || !c.timeline.predictor.Started() {
		return
	}
	c.timeline.clearSpawns()
	c.reasons.Clear()
	c.screen.clear()
	if c.timeline.clear() != nil { // cannot be: the same configuration was accepted before
		return
	}
	c.timeline.gather()
}

// keepFrames makes room for the frames that shots are predicted on. Without prediction that
// is long after the frame.
func (sc *screen) keepFrames() {
	if seen, err := lagcomp.NewHistory(sc.framesKept()); err == nil { // a like one was accepted before
		sc.visible = seen
	}
}

// framesKept returns how many rendered frames are kept for the hitboxes in them.
func (sc *screen) framesKept() lagcomp.Config {
	kept := lagcomp.Config{TickRate: sc.p.TickRate, Shapes: sc.p.handlers.shapes}
	if sc.cfg.InputDelay > 0 || sc.cfg.DelayAbove > 0 || sc.cfg.NoPrediction { // a shot is predicted so much later than its frame
		kept.Depth = min(max(delayedFrames*time.Second/time.Duration(sc.p.TickRate), lagcomp.DefaultDepth), 10*time.Second)
	}
	return kept
}

// unreconciled takes a snapshot without a look at the prediction.
func (tl *timeline) unreconciled(t Tick) {
	tl.takeUnpredicted()
	tl.settleEvents(t, prediction.Same)
	tl.settle(t)
}

// Received returns a component's value as the newest snapshot that had it told, with the
// snapshot's tick: neither predicted nor interpolated. Debug overlays draw it. It returns
// false where the server has not sent the entity, or not this component.
func Received[T any](c *Client, component *ecs.Component[T], e ecs.Entity) (v T, at Tick, ok bool) {
	for i := range c.p.Components {
		if comp := &c.p.Components[i]; !comp.Unknown && comp.ID == component.ID() {
			at, ok = c.ghosts.received(e, i, unsafe.Pointer(&v))
			return v, at, ok
		}
	}
	return v, 0, false
}

// received writes the newest received value of a component to v.
func (gs *ghosts) received(e ecs.Entity, i int, v unsafe.Pointer) (at Tick, ok bool) {
	if gs.receiver == nil || e == ecs.None {
		return 0, false
	}
	for _, g := range gs.receiver.Ghosts() {
		if ecs.Entity(g.Data) != e || g.Data == 0 {
			continue
		}
		s := g.Newest()
		words := s.Component(i)
		if words == nil {
			return 0, false
		}
		gs.p.Components[i].Schema.DequantiseFor(s.Audience, words, s.Grid(i), wireRefs{gs}, v)
		return s.Tick, true
	}
	return 0, false
}
