package client

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// partialTick is the part of a tick that a frame draws on top of the newest whole one.
type partialTick struct {
	*base
	input     *input
	predictor *prediction.Predictor
	controls  *controls
	spawning  *spawning
	row       *game.SingletonRow
	parents   *game.Hierarchy

	// whole is the frame's position between the newest two ticks, for all that no partial tick
	// computes.
	whole  float32
	drawn  []partlyDrawn
	next   int            // findDrawn begins its search here
	made   unsafe.Pointer // scratch for the command of the partial tick
	offset uint8          // how far before its tick the player saw itself
}

// partlyDrawn has the predicted components of an entity that a partial tick computed.
type partlyDrawn struct {
	e          ecs.Entity
	components schema.MaskBuilder
}

func (pt *partialTick) clearDrawn() { pt.drawn, pt.next = pt.drawn[:0], 0 }

// noteWritten adds the components that a system writes to its rows.
func (pt *partialTick) noteWritten(rows ecs.Rows, components *schema.MaskBuilder) {
	for _, e := range rows.Entities() {
		if d := pt.findDrawn(e); d != nil {
			for k, w := range components {
				d.components[k] |= w
			}
		} else {
			pt.drawn = append(pt.drawn, partlyDrawn{e, *components})
		}
	}
}

// findDrawn begins its search after the entity that it found last, since all systems see rows in the
// same order.
func (pt *partialTick) findDrawn(e ecs.Entity) *partlyDrawn {
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

// runPartial runs the part of the next tick that has passed, for the player's rows. undraw removes the
// results. It is called before others are drawn, so systems read others as in a whole tick, and their
// writes to others are overwritten.
func (pt *partialTick) runPartial(looking screenFrame) bool {
	f := &pt.frame
	if _, saved := pt.predictor.Slot(pt.predictor.Tick()); !saved {
		return false // the results could not be removed
	}
	t := pt.predictor.Tick() + 1
	part := pt.view.Fraction
	if pt.view.Stalled {
		part = 0 // there is no next tick yet
	}
	pt.view.Fraction = 1 + part
	pt.row.Give()
	pt.parents.ApplyParents()
	pt.controls.fillOwn(pt.upcoming(t, looking))
	whole := f.DT
	f.Tick, f.DT, f.Replay, pt.running.Partial = t, whole*part, true, true
	ecs.Engine(pt.world).WatchOutside(false)
	pt.p.Schedule.ExecutePartial(pt.world, f, pt.view.Player)
	ecs.Engine(pt.world).WatchOutside(true)
	f.DT, f.Replay, pt.running.Partial = whole, false, false
	for _, e := range pt.spawning.passing {
		ecs.Engine(pt.world).Manager().Destroy(e)
	}
	pt.spawning.passing = pt.spawning.passing[:0]
	return true
}

// upcoming returns the command that tick t would have if it were due now, or already has if input is
// delayed. It returns nil for a zero command.
func (pt *partialTick) upcoming(t foretick.Tick, looking screenFrame) []byte {
	cmd := pt.p.Command
	if cmd == nil {
		return nil
	}
	if in := pt.input.history.Find(t); in != nil && int32(pt.input.sampled-t) >= 0 {
		pt.offset = in.offset
		return in.value
	}
	if pt.made == nil {
		pt.made = reflect.New(cmd.Handle.Type()).UnsafePointer()
	}
	from, looked := pt.input.pending(looking)
	pt.offset = pt.input.behind(t, looked)
	pt.input.packed = cmd.Schema.Pack(from, pt.input.packed[:0])
	if cmd.Schema.Unpack(pt.input.packed, pt.made) != nil {
		return nil
	}
	return unsafe.Slice((*byte)(pt.made), cmd.Size)
}

// checkPartialTicks returns the fault of Config.PartialTicks. It is nil if there is none.
func (c *Config) checkPartialTicks() error {
	if !c.PartialTicks || c.Protocol == nil {
		return nil
	}
	switch p := compiledOf(c.Protocol); {
	case c.Observe != nil:
		return errors.New("foretick: client.Config.PartialTicks is set, but an observer predicts nothing: leave it out, or do not set Observe")
	case c.NoPrediction:
		return errors.New("foretick: client.Config.PartialTicks is set with NoPrediction, and only predicted ticks have parts: leave one out")
	case !slices.ContainsFunc(p.Schedule.Systems(), func(s ecs.SystemInfo) bool { return s.Partial }):
		return errors.New("foretick: client.Config.PartialTicks is set, and no system can run for a part of a tick: declare those that move the player with ecs.Partial")
	case p.Remote.Predicts:
		return errors.New("foretick: client.Config.PartialTicks is set in a game that predicts remote players, which would be drawn a part of a tick apart from the own one: leave it out, or leave out PredictRemote")
	case p.PhysicsObject() != nil:
		return fmt.Errorf("foretick: client.Config.PartialTicks is set in a game with shared physics objects such as prefab %q, which would be drawn a part of a tick apart from the player: leave it out, or let Server systems move these objects", p.PhysicsObject().Name())
	}
	for _, s := range compiledOf(c.Protocol).Schedule.Systems() {
		if layout.Shared(s) && len(s.SingleWrites) > 0 && !layout.KeepsMatch(s) {
			return fmt.Errorf("foretick: client.Config.PartialTicks is set, and shared system %q writes a singleton, which would be drawn a part of a tick apart from the player: leave it out, or raise an Event and write in its OnServer handler", s.Name)
		}
	}
	return nil
}
