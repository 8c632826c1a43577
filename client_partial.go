package foretick

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// partialTick is the part of a tick that a frame draws on top of the newest whole one.
type partialTick struct {
	whole  float32 // the position of this frame between the newest two ticks, for all else
	drawn  []partlyDrawn
	next   int            // where find looks first
	made   unsafe.Pointer // scratch: the command of the part
	offset uint8          // … and how far before its tick the player saw itself
}

// partlyDrawn says which predicted components of an entity a partial tick has computed.
type partlyDrawn struct {
	e          ecs.Entity
	components schema.MaskBuilder
}

func (pt *partialTick) clear() { pt.drawn, pt.next = pt.drawn[:0], 0 }

// note adds the components that a system writes of its rows.
func (pt *partialTick) note(rows ecs.Rows, components *schema.MaskBuilder) {
	for _, e := range rows.Entities() {
		if d := pt.find(e); d != nil {
			for k, w := range components {
				d.components[k] |= w
			}
		} else {
			pt.drawn = append(pt.drawn, partlyDrawn{e, *components})
		}
	}
}

// find looks first behind what it found last: all systems see rows in the same order.
func (pt *partialTick) find(e ecs.Entity) *partlyDrawn {
	for i := range pt.drawn {
		k := pt.next + i
		if k >= len(pt.drawn) {
			k -= len(pt.drawn)
		}
		if pt.drawn[k].e == e {
			pt.next = k + 1
			return &pt.drawn[k]
		}
	}
	return nil
}

// runPartial runs the part of the next tick that has passed over the player's rows. undraw
// takes the results back. It comes before others are drawn: systems read these as in a
// whole tick, and what one writes of them is drawn over.
func (sc *screen) runPartial() {
	tl, f := sc.timeline, &sc.frame
	if _, saved := tl.predictor.Slot(tl.predictor.Tick()); !saved {
		return // nothing could take the results back
	}
	t := tl.predictor.Tick() + 1
	part := sc.view.Fraction
	if sc.view.Stalled {
		part = 0 // the next tick does not come
	}
	sc.view.Fraction = 1 + part
	sc.drawn = true
	tl.row.give()
	tl.parents.apply()
	tl.fillOwn(sc.partial.upcoming(sc.input, t, sc.looking()))
	whole := f.DT
	f.Tick, f.DT, f.Replay, f.partial = t, whole*part, true, true
	sc.world.WatchOutside(false)
	sc.p.schedule.ExecutePartial(sc.world, f, sc.view.Player)
	sc.world.WatchOutside(true)
	f.DT, f.Replay, f.partial = whole, false, false
	for _, e := range tl.spawning.passing {
		sc.world.Manager().Destroy(e)
	}
	tl.spawning.passing = tl.spawning.passing[:0]
}

// upcoming returns the command that tick t would get if it were due now, or has got already
// where input is delayed. It returns nil for a zero command.
func (pt *partialTick) upcoming(ip *input, t Tick, looking screenFrame) []byte {
	cmd := ip.p.Command
	if cmd == nil {
		return nil
	}
	if in := ip.history.Find(t); in != nil && int32(ip.sampled-t) >= 0 {
		pt.offset = in.offset
		return in.value
	}
	if pt.made == nil {
		pt.made = reflect.New(cmd.Handle.Type()).UnsafePointer()
	}
	from, looked := ip.pending(cmd, looking)
	pt.offset = ip.behind(t, looked)
	ip.packed = cmd.Schema.Pack(from, ip.packed[:0])
	if cmd.Schema.Unpack(ip.packed, pt.made) != nil {
		return nil
	}
	return unsafe.Slice((*byte)(pt.made), cmd.Size)
}

// drewPartly draws the fading corrections of a component that a partial tick computed. It
// returns false for any other.
func (sc *screen) drewPartly(e ecs.Entity, comp int, at unsafe.Pointer) bool {
	c := &sc.p.Components[comp]
	own := sc.cfg.Protocol.compiled.Index(c.ID) // a server of another build numbers them otherwise
	if d := sc.partial.find(e); d == nil || own < 0 || !d.components.Has(own) {
		return false
	}
	if sc.fades.has(e, comp) {
		words := sc.timeline.zeroes(c.Schema.Words())
		c.Schema.SnapWords(at, recordRefs{sc.timeline}, words)
		sc.drawBetween(c, sc.fades.offset(c, e, comp, sc.p.between(nil, words, 0)), at)
	}
	return true
}

// has reports whether a correction of an entity's component fades.
func (f *fades) has(e ecs.Entity, comp int) bool {
	for i := range f.items {
		if f.items[i].e == e && f.items[i].comp == comp {
			return true
		}
	}
	return false
}

// spawnPartly makes an entity that lasts for the run of a partial tick.
func (tl *timeline) spawnPartly(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	prefab, _ := tl.spawnPrefab(k)
	if !tl.world.Alive(by) {
		return ecs.None
	}
	return tl.spawnPassing(prefab, tl.world.Owner(by))
}

// checkPartialTicks returns the fault of ClientConfig.PartialTicks, if any.
func (c *ClientConfig) checkPartialTicks() error {
	if !c.PartialTicks || c.Protocol == nil {
		return nil
	}
	switch p := &c.Protocol.compiled; {
	case c.Observe:
		return errors.New("foretick: ClientConfig.PartialTicks is set, but an observer predicts nothing: leave it out, or do not set Observe")
	case c.NoPrediction:
		return errors.New("foretick: ClientConfig.PartialTicks is set with NoPrediction, and only predicted ticks have parts: leave one out")
	case len(c.Protocol.partials) == 0:
		return errors.New("foretick: ClientConfig.PartialTicks is set, and no system can run for a part of a tick: declare those that move the player with ecs.Partial")
	case p.Remote.Predicts:
		return errors.New("foretick: ClientConfig.PartialTicks is set in a game that predicts remote players, which would be drawn a part of a tick apart from the own one: leave it out, or leave out PredictRemote")
	case p.physicsObject() != nil:
		return fmt.Errorf("foretick: ClientConfig.PartialTicks is set in a game with shared physics objects such as prefab %q, which would be drawn a part of a tick apart from the player: leave it out, or let Server systems move these objects", p.physicsObject().Name())
	}
	for _, s := range c.Protocol.compiled.schedule.Systems() {
		if layout.Shared(s) && len(s.SingleWrites) > 0 && !layout.KeepsMatch(s) {
			return fmt.Errorf("foretick: ClientConfig.PartialTicks is set, and shared system %q writes a singleton, which would be drawn a part of a tick apart from the player: leave it out, or raise an Event and write in its OnServer handler", s.Name)
		}
	}
	return nil
}
