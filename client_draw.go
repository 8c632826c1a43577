package foretick

import (
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// push queues tick t's command, packed in scratch, with the time that the
// player saw when giving it.
func (c *Client) push(t Tick) {
	c.commands.Push(netcode.Command{
		Tick: t, Render: c.shown.tick, Fraction: c.shown.fraction, Offset: c.behind(t), Data: c.scratch,
	})
}

// offsetSteps is in how many steps of a tick a command says how far behind it the
// picture lay of what is shown ahead.
const offsetSteps = 32

// showsAhead tells whether others than the player's own are shown ahead.
func (c *Client) showsAhead() bool {
	return (c.p.island || c.p.foresee != nil) && !c.p.apart && !c.cfg.NoPrediction
}

// behind is how far the last picture, in what is predicted, lay behind tick t, in
// steps; 0 where nothing of others was.
func (c *Client) behind(t Tick) uint8 {
	if !c.showsAhead() || c.view.Tick == 0 {
		return 0
	}
	shown := float32(int32(t-c.view.Tick)+1) - c.view.Fraction
	return uint8(min(max(shown*offsetSteps, 1), 255))
}

// undraw takes the picture out of the predicted rows again.
func (c *Client) undraw() {
	if c.drawn {
		c.predictor.Present()
		c.undrawFleeting()
		c.drawn = false
	}
}

// draw writes what is to be shown into the world.
func (c *Client) draw() {
	if c.view.State != Playing {
		return
	}
	since := c.now - c.shown.at
	// The view changes here and not before: a command sampled in this Step was
	// given by somebody who looked at the last picture.
	c.view.Render, c.view.RenderFraction = c.time.Render, c.time.RenderFraction
	c.view.Fraction, c.view.Tick = c.time.Fraction, c.predictor.Tick()
	if c.showsAhead() {
		c.view.Fraction = float32(int(c.view.Fraction*offsetSteps)) / offsetSteps
	}
	// The time is cut to what a command can carry, so that the server rewinds
	// to this very picture.
	fraction := uint8(c.view.RenderFraction * 256)
	c.shown = shownTime{tick: c.view.Render, fraction: fraction, at: c.now}
	c.drawOthers(c.view.Render, float32(fraction)/256)
	c.drawOwn(since)
	c.recordVisible()
	f := &c.frame
	f.Tick, f.DT = c.view.Tick, float32(since.Seconds())
	c.rendering = true
	c.practice.render = c.cfg.Rehearse > 0
	c.p.schedule.ExecuteRender(c.world, f)
	c.practice.render = false
	c.rendering = false
	f.DT = 1 / float32(c.p.tickRate)
}

// drawOthers places every entity that is not predicted here at the render time.
func (c *Client) drawOthers(t Tick, fraction float32) {
	for _, g := range c.receiver.Ghosts() {
		if c.ahead(g) {
			continue
		}
		if g.Gone != 0 && int32(t-g.Gone) >= 0 {
			if g.Data != 0 {
				c.bury(ecs.Entity(g.Data))
				g.Data = 0
			}
			c.released = append(c.released, g)
			continue
		}
		if int32(t-g.Born) < 0 || c.alien(g) {
			continue
		}
		if g.Data == 0 {
			if _, _, _, ok := g.Sample(t, fraction); !ok {
				continue // its first value was put off, and is of a later tick
			}
			c.birth(g)
		}
		c.drawGhost(g, t, fraction)
	}
	c.release()
}

// release gives ghosts back that nothing shows any more.
func (c *Client) release() {
	for _, g := range c.released {
		c.receiver.Release(g)
	}
	if len(c.released) > 0 {
		c.gather()
	}
	c.released = c.released[:0]
}

func (c *Client) drawGhost(g *snapshot.Ghost, t Tick, fraction float32) {
	a, b, f, ok := g.Sample(t, fraction)
	if !ok {
		return
	}
	if f > 0 && c.jumped(g, a, b) {
		f = 0
	}
	if f == 0 && c.p.extrapolates && c.drawBeyond(g, t, fraction) {
		return
	}
	k := snapshot.Knots{Span: float32(b.Tick - a.Tick), Rate: float32(c.p.tickRate), Fraction: f}
	var o snapshot.State
	if f > 0 && c.p.curved {
		if o, ok = g.Before(a); ok && !c.jumped(g, o, a) {
			k.Lead = float32(a.Tick - o.Tick)
		} else {
			o = snapshot.State{}
		}
	}
	for i := range c.p.components {
		comp := &c.p.components[i]
		if comp.unknown {
			continue
		}
		wa, wb := a.Component(i), b.Component(i)
		if wa == nil {
			if c.world.Pointer(ecs.Entity(g.Data), comp.id) != nil {
				c.world.RemoveByID(ecs.Entity(g.Data), comp.id)
			}
			continue
		}
		if wb == nil || !comp.lerped || f == 0 {
			c.writeComponent(g, a, i)
			continue
		}
		k.Before, k.From, k.To = o.Component(i), wa, wb
		comp.schema.Interpolate(a.Audience, k, a.Grid(i), clientRefs{c}, c.pointer(g, i))
	}
}

// drawBeyond lets a ghost go on after everything that is known of it, as far as its
// fields' tags say; false when it is to be drawn as it is known.
func (c *Client) drawBeyond(g *snapshot.Ghost, t Tick, fraction float32) bool {
	a, b, span, beyond, ok := g.Beyond(t, fraction)
	if !ok || c.jumped(g, a, b) {
		return false
	}
	for i := range c.p.components {
		comp := &c.p.components[i]
		if comp.unknown {
			continue
		}
		wa, wb := a.Component(i), b.Component(i)
		switch {
		case wb == nil:
			if c.world.Pointer(ecs.Entity(g.Data), comp.id) != nil {
				c.world.RemoveByID(ecs.Entity(g.Data), comp.id)
			}
		case wa == nil || !comp.schema.Extrapolates():
			c.writeComponent(g, b, i)
		default:
			comp.schema.Extrapolate(b.Audience, wa, wb, span, beyond, b.Grid(i), clientRefs{c}, c.pointer(g, i))
		}
	}
	return true
}

// drawOwn shows the local player between its last two ticks, with corrections
// fading.
func (c *Client) drawOwn(since time.Duration) {
	now := c.records.Find(c.predictor.Tick())
	before := c.records.Find(c.predictor.Tick() - 1)
	if now == nil {
		return
	}
	c.drawn = true
	c.fades.age(since)
	if c.p.fleeting {
		c.drawFleeting()
	}
	for _, e := range c.predictedHere() {
		for i := range c.p.components {
			comp := &c.p.components[i]
			if !comp.predicted || !comp.lerped {
				continue
			}
			at, b := c.world.Pointer(e, comp.id), now.find(e, i)
			if at == nil || b == nil {
				continue
			}
			a := b
			if before != nil && !slices.Contains(now.cuts, e) {
				if w := before.find(e, i); w != nil {
					a = w
				}
			}
			n := comp.schema.Words()
			x, y := c.fades.offset(comp, e, i, a[:n], b[:n])
			c.drawBetween(comp, x, y, at)
		}
	}
}

// drawBetween shows a predicted component between two ticks in a row.
func (c *Client) drawBetween(comp *component, a, b []int32, at unsafe.Pointer) {
	k := snapshot.Knots{From: a, To: b, Span: 1, Rate: float32(c.p.tickRate), Fraction: c.view.Fraction}
	comp.schema.Interpolate(^snapshot.Audience(0), k, snapshot.GridSim, clientRefs{c}, at)
}

// recordVisible remembers the volumes of this picture, for Frame.Seen.
func (c *Client) recordVisible() {
	c.picture++
	c.visible.Begin(c.picture)
	for _, g := range c.receiver.Ghosts() {
		if g.Data == 0 || ecs.Owner(g.Owner) == c.view.Me {
			continue
		}
		e := ecs.Entity(g.Data)
		c.bodies.fit(c.maskOf(e))
		at := func(comp int) unsafe.Pointer { return c.world.Pointer(e, c.p.components[comp].id) }
		if vs := c.bodies.build(at); len(vs) > 0 {
			c.visible.Put(g.Data, uint32(g.Owner), 0, vs...)
		}
	}
	c.visible.End()
}

// maskOf tells which replicated components a local entity has.
func (c *Client) maskOf(e ecs.Entity) uint64 {
	var mask uint64
	for i := range c.p.components {
		if c.world.Pointer(e, c.p.components[i].id) != nil {
			mask |= 1 << i
		}
	}
	return mask
}

// seen answers Frame.Seen: for a tick of the simulation the picture that its
// command was given on, for a render system the newest.
func (c *Client) seen(t Tick) Seen {
	if c.picture == 0 {
		return Seen{}
	}
	picture := c.picture
	if in := c.inputs.Find(t); in != nil && !c.rendering && in.picture != 0 {
		picture = in.picture
	}
	return Seen{
		valid: true, client: c, past: c.visible.At(picture, 0),
		filter: lagcomp.Filter{ExcludeOwner: uint32(c.view.Me), Epoch: everyLife},
	}
}

// everyLife lets what was on the screen be hit on it, whatever became of it.
func everyLife(lagcomp.ID, uint32) bool { return true }

// held tells whether an entity was last drawn by other values than those of the
// snapshots around the picture's time: it had been put off in one of them.
func (c *Client) held(id lagcomp.ID) bool {
	for _, g := range c.receiver.Ghosts() {
		if g.Data == id && !c.ahead(g) {
			return !c.whole(g, c.shown.tick, -1) || !c.whole(g, c.shown.tick+1, 1)
		}
	}
	return false
}

// whole tells whether the nearest snapshot received from tick t on, downwards
// or upwards, says what the entity then was.
func (c *Client) whole(g *snapshot.Ghost, t Tick, step int32) bool {
	newest, _ := c.receiver.Newest()
	for range c.cfg.History {
		if int32(t-newest) > 0 {
			return true // nothing newer: the picture stood still
		}
		if received, _, _ := c.receiver.Complete(t); received {
			_, ok := g.At(t)
			return ok || g.Gone != 0 && int32(t-g.Gone) >= 0
		}
		t += Tick(step)
	}
	return false
}

// jumped tells whether an entity's life changed between two keyframes, so that
// nothing may be interpolated.
func (c *Client) jumped(g *snapshot.Ghost, a, b snapshot.State) bool {
	for _, l := range c.p.lives {
		wa, wb := a.Component(l.comp), b.Component(l.comp)
		if wa == nil || wb == nil {
			continue
		}
		schema, at := c.p.components[l.comp].schema, c.bodies.values[l.comp]
		grid := c.receiver.Grid(g, l.comp)
		schema.DequantiseMasked(wa, grid, clientRefs{c}, at)
		before := l.epoch(at)
		schema.DequantiseMasked(wb, grid, clientRefs{c}, at)
		if l.epoch(at) != before {
			return true
		}
	}
	return false
}
