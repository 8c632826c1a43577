package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// recordVisible records the hitboxes of this rendered frame, for Frame.Rewind.
func (sc *screen) recordVisible() {
	sc.rendered++
	sc.visible.Begin(sc.rendered)
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == 0 || PlayerID(g.Owner) == sc.view.Player {
			continue
		}
		e := ecs.Entity(g.Data)
		sc.ghosts.hitboxes.Fit(sc.maskOf(e))
		at := func(comp int) unsafe.Pointer { return sc.world.Pointer(e, sc.p.Components[comp].ID) }
		if vs := sc.ghosts.hitboxes.BuildFrom(at); len(vs) > 0 {
			sc.visible.Put(g.Data, uint32(g.Owner), 0, vs...)
		}
	}
	sc.visible.End()
}

// maskOf returns the replicated components of a local entity.
func (sc *screen) maskOf(e ecs.Entity) schema.Mask {
	var set schema.MaskBuilder
	for i := range sc.p.Components {
		if sc.world.Pointer(e, sc.p.Components[i].ID) != nil {
			set.Set(i)
		}
	}
	sc.masked = set.MaskLike(sc.masked)
	return sc.masked
}

// seen implements Frame.Rewind. For a tick of the simulation it returns the rendered frame
// that its command was given on, for a render system the newest.
func (sc *screen) seen(t Tick) HitView {
	if sc.rendered == 0 {
		return HitView{bare: len(sc.p.Hitboxes) == 0}
	}
	drawn, ahead, whole := sc.rendered, rewind.Keys{}, rewind.Keys{}
	looked := lagcomp.Claim{Tick: sc.shown.tick, Fraction: float32(sc.shown.fraction) / 256}
	if in := sc.input.history.Find(t); in != nil && !sc.rendering && in.frame != 0 {
		drawn, ahead, whole = in.frame, in.ahead, in.whole
		looked = lagcomp.Claim{Tick: whole.A, Fraction: whole.F}
	}
	seen := rewind.View{
		Past: sc.visible.At(drawn, 0), Claimed: looked, Used: looked,
		Filter: lagcomp.Filter{ExcludeOwner: uint32(sc.view.Player), Life: everyLife},
	}
	return HitView{seen: seen, screen: sc, bare: len(sc.p.Hitboxes) == 0, ahead: ahead, whole: whole, Claimed: looked, Used: looked}
}

// everyLife allows hits on everything that was on the screen, whatever happened to it
// since.
func everyLife(lagcomp.ID, uint32) bool { return true }

// held reports whether an entity was last drawn with other values than those of the
// snapshots around the render time, because one of them had left it out.
func (sc *screen) held(id lagcomp.ID) bool {
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == id && !sc.ghosts.ahead(g) {
			return !sc.ghosts.whole(g, sc.shown.tick, -1) || !sc.ghosts.whole(g, sc.shown.tick+1, 1)
		}
	}
	return false
}

// shownThen returns a component's value in the rendered frame of a view. While a tick is
// computed, the rows hold another value.
func (sc *screen) shownThen(s *HitView, e ecs.Entity, id ecs.ID, dst unsafe.Pointer) bool {
	i := sc.p.Index(id)
	if i < 0 || s.ahead.B == 0 {
		return false
	}
	return sc.shownAhead(s.ahead, e, i, dst) || slices.Contains(sc.ghosts.others, i) && sc.shownBehind(s.whole, e, i, dst)
}

// shownBehind returns a component's value in the frame rendered at a time, for an entity
// drawn in the past whose rows have newer values since. It returns false if nothing is
// known.
func (sc *screen) shownBehind(at rewind.Keys, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	g := sc.ghosts.receiver.Find(schema.WireID(wireRefs{sc.ghosts}.Net(uint64(e))))
	if g == nil || g.Data != uint64(e) {
		return false
	}
	gf, ok := sc.ghosts.around(g, at.A, at.F)
	if !ok || gf.from.Component(comp) == nil {
		return false
	}
	sc.p.Components[comp].Schema.Interpolate(gf.from.Audience, gf.knots(comp), gf.from.Grid(comp), wireRefs{sc.ghosts}, dst)
	return true
}

// shownAhead returns a rendered frame's value of a component that is predicted here. It
// returns false if nothing of it was predicted.
func (sc *screen) shownAhead(k rewind.Keys, e ecs.Entity, comp int, dst unsafe.Pointer) bool {
	now, before := sc.timeline.records.Find(k.B), sc.timeline.records.Find(k.A)
	if now == nil {
		return false
	}
	b := now.find(e, comp)
	if b == nil {
		return false
	}
	var a []int32
	if sc.p.Components[comp].Lerped {
		a = sc.timeline.earlier(before, now, e, comp)
	}
	sc.drawBetween(&sc.p.Components[comp], sc.p.between(a, b, k.F), dst)
	return true
}
