package foretick

import (
	"errors"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
)

var errPartsNeedPrediction = errors.New("foretick: expert.Techniques.NoPrediction is set for a client with ClientConfig.PartialTicks, and only predicted ticks have parts: leave one out")

// setTechniques switches techniques on and off from the next Step on.
func (c *Client) setTechniques(t probe.Techniques) error {
	if t.NoPrediction && c.cfg.PartialTicks {
		return errPartsNeedPrediction
	}
	t.NoPrediction = t.NoPrediction || c.cfg.Observe
	c.wanted = t
	return nil
}

// changeTechniques applies what setTechniques asked for. The world holds no drawn values.
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

// receivedValue writes a component's value in the newest snapshot that had it to v, with the
// component's type. It returns false without one.
func (c *Client) receivedValue(component ecs.ID, e ecs.Entity, v unsafe.Pointer) (at Tick, ok bool) {
	for i := range c.p.Components {
		if comp := &c.p.Components[i]; !comp.Unknown && comp.ID == component {
			return c.ghosts.received(e, i, v)
		}
	}
	return 0, false
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
