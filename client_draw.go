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
func (c *Client) push(t Tick, f frame) {
	c.commands.Push(netcode.Command{
		Tick: t, Render: f.shown.tick, Fraction: f.shown.fraction, Offset: c.behind(t, f), Data: c.scratch,
	})
}

// showsAhead tells whether others than the player's own are shown ahead.
func (c *Client) showsAhead() bool {
	return (c.p.common || c.p.predictRemote != nil) && !c.p.apart && !c.cfg.NoPrediction
}

// behind is how far a frame, in what is predicted, was behind tick t, in steps; 0
// where nothing of others was.
func (c *Client) behind(t Tick, f frame) uint8 {
	if !c.showsAhead() || f.tick == 0 {
		return 0
	}
	shown := float32(int32(t-f.tick)+1) - f.fraction
	return packOffset(shown * offsetSteps)
}

// undraw takes the picture out of the predicted rows again.
func (c *Client) undraw() {
	if c.drawn {
		c.predictor.Present()
		if c.putLocals() {
			c.predictor.Rewrite() // so that the next frame finds them there
		}
		c.undrawClientOnly()
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
	c.practice.render = c.cfg.SyncTest > 0
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
	o, a, b, k, ok := c.statesAround(g, t, fraction)
	if !ok {
		return
	}
	f := k.Fraction
	if f == 0 && c.p.extrapolates && c.drawBeyond(g, t, fraction) {
		return
	}
	for i := range c.p.components {
		comp := &c.p.components[i]
		if comp.unknown {
			continue
		}
		wa, wb := a.Component(i), b.Component(i)
		if wa == nil {
			if c.world.Pointer(ecs.Entity(g.Data), comp.id) != nil {
				c.takeAway(ecs.Entity(g.Data), comp.id)
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

// statesAround are what a ghost is drawn between at a time, and how; o is what it was
// before them, where a curve is drawn.
func (c *Client) statesAround(g *snapshot.Ghost, t Tick, fraction float32) (o, a, b snapshot.State, k snapshot.Knots, ok bool) {
	a, b, f, ok := g.Sample(t, fraction)
	if !ok {
		return o, a, b, k, false
	}
	if f > 0 && c.jumped(g, a, b) {
		f = 0
	}
	k = snapshot.Knots{Span: float32(b.Tick - a.Tick), Rate: float32(c.p.tickRate), Fraction: f}
	if f > 0 && c.p.curved {
		if before, ok := g.Before(a); ok && !c.jumped(g, before, a) {
			o, k.Lead = before, float32(a.Tick-before.Tick)
		}
	}
	return o, a, b, k, true
}

// shownBehind is what a picture at a time showed of a component of what is drawn in the
// past, where its rows have taken newer values since; false when nothing is known.
func (c *Client) shownBehind(at keys, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	g := c.receiver.Find(snapshot.WireID(clientRefs{c}.Net(uint64(e))))
	if g == nil || g.Data != uint64(e) {
		return false
	}
	o, a, b, k, ok := c.statesAround(g, at.a, at.f)
	if !ok || a.Component(comp) == nil {
		return false
	}
	schema := c.p.components[comp].schema
	if b.Component(comp) == nil || k.Fraction == 0 {
		schema.DequantiseFor(a.Audience, a.Component(comp), a.Grid(comp), clientRefs{c}, dst)
		return true
	}
	k.Before, k.From, k.To = o.Component(comp), a.Component(comp), b.Component(comp)
	schema.Interpolate(a.Audience, k, a.Grid(comp), clientRefs{c}, dst)
	return true
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
				c.takeAway(ecs.Entity(g.Data), comp.id)
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
	if c.p.clientOnly {
		c.drawClientOnly()
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
			a := c.earlier(before, now, e, i, b)
			n := comp.schema.Words()
			x, y := c.fades.offset(comp, e, i, a[:n], b[:n])
			c.drawBetween(comp, x, y, at)
		}
	}
}

// earlier is what a component is shown from, towards b of the predicted tick now: its
// value in the tick before, or b itself where the two are no one life.
func (c *Client) earlier(before, now *record, e ecs.Entity, comp int, b []int32) []int32 {
	if before == nil || slices.Contains(now.cuts, e) || c.reborn(before, now, e) {
		return b
	}
	if a := before.find(e, comp); a != nil {
		return a
	}
	return b
}

// reborn tells whether an entity's life changed between two predicted ticks.
func (c *Client) reborn(before, now *record, e ecs.Entity) bool {
	for _, l := range c.p.lives {
		a, b := before.find(e, l.comp), now.find(e, l.comp)
		if a == nil || b == nil {
			continue
		}
		schema, at := c.p.components[l.comp].schema, c.bodies.values[l.comp]
		n := schema.Words()
		schema.Dequantise(a[:n], snapshot.GridSim, clientRefs{c}, at)
		was := l.epoch(at)
		schema.Dequantise(b[:n], snapshot.GridSim, clientRefs{c}, at)
		if l.epoch(at) != was {
			return true
		}
	}
	return false
}

// shownThen is a component's value on the picture that a view rests on, where the rows
// hold another one while a tick is computed.
func (c *Client) shownThen(s *HitView, e ecs.Entity, id ecs.ID, dst unsafe.Pointer) bool {
	i := c.p.index(id)
	if i < 0 || s.ahead.b == 0 {
		return false
	}
	return c.shownAhead(s.ahead, e, i, dst) || slices.Contains(c.others, i) && c.shownBehind(s.whole, e, i, dst)
}

// shownAhead is what a picture showed of a component that is predicted here; false
// when nothing of it was predicted.
func (c *Client) shownAhead(k keys, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	now, before := c.records.Find(k.b), c.records.Find(k.a)
	if now == nil {
		return false
	}
	b := now.find(e, comp)
	if b == nil {
		return false
	}
	s := c.p.components[comp].schema
	n := s.Words()
	if !c.p.components[comp].lerped {
		s.Dequantise(b[:n], snapshot.GridSim, clientRefs{c}, dst)
		return true
	}
	between := snapshot.Knots{From: c.earlier(before, now, e, comp, b)[:n], To: b[:n], Span: 1, Rate: float32(c.p.tickRate), Fraction: k.f}
	s.Interpolate(^snapshot.Audience(0), between, snapshot.GridSim, clientRefs{c}, dst)
	return true
}

// drawBetween shows a predicted component between two ticks in a row.
func (c *Client) drawBetween(comp *component, a, b []int32, at unsafe.Pointer) {
	k := snapshot.Knots{From: a, To: b, Span: 1, Rate: float32(c.p.tickRate), Fraction: c.view.Fraction}
	comp.schema.Interpolate(^snapshot.Audience(0), k, snapshot.GridSim, clientRefs{c}, at)
}

// recordVisible remembers the volumes of this picture, for Frame.Rewind.
func (c *Client) recordVisible() {
	c.picture++
	c.visible.Begin(c.picture)
	for _, g := range c.receiver.Ghosts() {
		if g.Data == 0 || PlayerID(g.Owner) == c.view.Player {
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

// seen answers Frame.Rewind: for a tick of the simulation the picture that its
// command was given on, for a render system the newest.
func (c *Client) seen(t Tick) HitView {
	if c.picture == 0 {
		return HitView{}
	}
	picture, ahead, whole := c.picture, keys{}, keys{}
	looked := lagcomp.Claim{Tick: c.shown.tick, Fraction: float32(c.shown.fraction) / 256}
	if in := c.inputs.Find(t); in != nil && !c.rendering && in.picture != 0 {
		picture, ahead, whole = in.picture, in.ahead, in.whole
		looked = lagcomp.Claim{Tick: whole.a, Fraction: whole.f}
	}
	return HitView{
		valid: true, client: c, past: c.visible.At(picture, 0), ahead: ahead, whole: whole, Claimed: looked, Used: looked,
		filter: lagcomp.Filter{ExcludeOwner: uint32(c.view.Player), Life: everyLife},
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
