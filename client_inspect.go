package foretick

import (
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// clientInspected is what package inspect adds to a client while somebody looks.
type clientInspected struct {
	tap   atomic.Pointer[probe.Tap] // nil: nobody looks
	clock func() time.Duration      // of Run; nil: that of the tap
	began time.Duration             // of the Step
}

// begin returns the tap of the Step that begins, nil for none.
func (in *clientInspected) begin() *probe.Tap {
	tap := in.tap.Load()
	if tap != nil {
		in.began = in.time(tap)
	}
	return tap
}

// time reads the clock, 0 without one.
func (in *clientInspected) time(tap *probe.Tap) time.Duration {
	switch {
	case in.clock != nil:
		return in.clock()
	case tap.Clock != nil:
		return tap.Clock()
	}
	return 0
}

// finish ends a Step: the figures are shown, and whoever inspects the client looks.
func (c *Client) finish(tap *probe.Tap) {
	if tap == nil {
		c.post()
		return
	}
	took := c.inspected.time(tap) - c.inspected.began
	c.post()
	tap.Call(probe.Tapped{Tick: c.view.Tick, Took: took})
}

func (in clientInternals) Tap() *probe.Tap        { return in.c.inspected.tap.Load() }
func (in clientInternals) SetTap(tap *probe.Tap)  { in.c.inspected.tap.Store(tap) }
func (in clientInternals) Layout() *layout.Layout { return &in.c.cfg.Protocol.compiled.Layout }

func (in clientInternals) Label(component, field string) schema.Label {
	return in.c.cfg.Protocol.compiled.labels.Of(component, field)
}

func (in clientInternals) Graph() (text, dot string) { return in.c.cfg.Protocol.Graph() }

func (in clientInternals) Systems() []ecs.SystemInfo {
	return in.c.cfg.Protocol.compiled.schedule.Systems()
}

func (in clientInternals) Audiences() []string { return in.c.cfg.Protocol.audiences }

func (in clientInternals) Named(e ecs.Entity) (net uint32, prefab string, ok bool) {
	id := in.c.p.identity.Find(in.c.world, e)
	if k := in.c.ownPrefab(id); k != nil && k.ECS != nil {
		return id.Net, k.ECS.Name(), true
	}
	return 0, "", false
}

// Explained puts fn before the game's own OnMisprediction.
func (in clientInternals) Explained(fn func(prediction.Misprediction)) {
	c := in.c
	if c.hooks.explained {
		c.cfg.OnMisprediction, c.hooks.explained, c.hooks.explain = c.hooks.explain, false, nil
	}
	if fn == nil {
		return
	}
	game := c.cfg.OnMisprediction
	c.hooks.explained, c.hooks.explain = true, game
	c.cfg.OnMisprediction = func(m prediction.Misprediction) {
		fn(m)
		if game != nil {
			game(m)
		}
	}
}
