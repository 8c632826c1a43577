package client

import "errors"

// Techniques says which techniques of a client are switched off: see [Client.SetTechniques]. The
// zero value uses them all.
type Techniques struct {
	// NoPrediction draws the local player in the past: see [Config].NoPrediction.
	NoPrediction bool
	// NoReconciliation continues the prediction from earlier predictions, and never compares
	// it with the server. Errors of the prediction stay until this is switched off again.
	NoReconciliation bool
	// NoSmoothing shows each correction at once.
	NoSmoothing bool
	// NoInterpolation draws remote players and objects at the newest snapshot, without a
	// buffer. They jump from one snapshot to the next.
	NoInterpolation bool
}

var errPartsNeedPrediction = errors.New("foretick: client.Techniques.NoPrediction is set for a client with client.Config.PartialTicks, and only predicted ticks have parts: leave one out")

// SetTechniques switches techniques of the client on and off while it runs, from the next Step
// on. It is for pages and tools that show what each of them is for. When prediction or
// reconciliation comes back, the prediction starts over from the newest snapshot. The client
// continues to send commands, so the server sees no difference. An observer predicts nothing,
// whatever is set. SetTechniques returns an error for NoPrediction with [Config].PartialTicks.
// Call it between Steps, in a system or in a handler.
func (c *Client) SetTechniques(t Techniques) error {
	if t.NoPrediction && c.cfg.PartialTicks {
		return errPartsNeedPrediction
	}
	t.NoPrediction = t.NoPrediction || c.cfg.Observe != nil
	c.wanted = t
	return nil
}

// changeTechniques applies what SetTechniques set. It is called when the world has no drawn values.
func (c *Client) changeTechniques() {
	was, want := c.techniques, c.wanted
	if was == want {
		return
	}
	c.techniques = want
	if want.NoSmoothing {
		c.screen.own.fades.clearFades()
	}
	predicts := was.NoPrediction != want.NoPrediction
	if !predicts && was.NoReconciliation == want.NoReconciliation {
		return
	}
	if predicts {
		c.cfg.NoPrediction = want.NoPrediction
		for _, q := range c.frames.Queues {
			q.Cancel(c.frames, &c.frame)
			q.Wait(want.NoPrediction)
		}
		c.screen.keepFrames()
	}
	if c.ghosts.receiver == nil || !c.timeline.predictor.Started() {
		return
	}
	c.timeline.spawning.clearSpawns()
	c.reasons.Clear()
	c.screen.clearScreen()
	if c.timeline.clearLevel() != nil { // impossible: the same configuration was accepted before
		return
	}
	c.timeline.saves.gather()
}
