package foretick

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

func (c timeline) explainField(comp *component, f int, ours, theirs []int32) {
	c.wrong.Field = comp.schema.Field(f).Name
	c.wrong.Predicted, c.wrong.Actual = fieldValue(comp, f, ours), fieldValue(comp, f, theirs)
}

// listDifferences lists every field of the player's own in which the prediction r for t
// differs from the server's words. It allocates: for who asked to be told.
func (c timeline) listDifferences(r *record, t Tick) {
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || c.remotePredicted(g) || !r.has(ecs.Entity(g.Data)) {
			continue
		}
		for i := range c.p.components {
			comp := &c.p.components[i]
			ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
			if comp.predicted && (ours != nil || theirs != nil) {
				c.listFields(comp, ecs.Entity(g.Data), c.p.prefabs[g.Prefab].ecs.Name(), ours, c.meant(comp, theirs, ours, t))
			}
		}
	}
}

// listFields lists the fields in which two values of a component differ. nil: there is
// no value.
func (c timeline) listFields(comp *component, e ecs.Entity, prefab string, ours, theirs []int32) {
	w := &c.wrong
	d := prediction.Difference{Entity: uint64(e), Prefab: prefab, Component: comp.name}
	if ours == nil || theirs == nil {
		d.Field, d.Predicted, d.Actual = "(component)", ours != nil, theirs != nil
		w.Differences = append(w.Differences, d)
		return
	}
	ours, theirs = ours[:comp.schema.Words()], theirs[:comp.schema.Words()]
	for f, field := range comp.schema.Fields() {
		if !comp.schema.Differs(f, ours, theirs) {
			continue
		}
		d.Field = field.Name
		d.Predicted, d.Actual = comp.schema.Value(f, ours, snapshot.GridSim), comp.schema.Value(f, theirs, snapshot.GridSim)
		w.Differences = append(w.Differences, d)
	}
}

// explainEntity is for an entity that is there on one end alone.
func (c timeline) explainEntity(e ecs.Entity, prefab *prefab, here bool) {
	w := &c.wrong
	w.Entity, w.Prefab, w.Component, w.Field = uint64(e), prefab.ecs.Name(), prefab.ecs.Name(), "(entity)"
	w.Predicted, w.Actual = 0, 1
	if here {
		w.Predicted, w.Actual = 1, 0
	}
	c.explain()
}

// explain finds the cause: the first that applies since the last agreement.
func (c timeline) explain() {
	w := &c.wrong
	w.System, w.CauseTick = "", 0
	since := func(t Tick) bool { return t != 0 && int32(t-c.good) > 0 && int32(t-w.Tick) <= 0 }
	remade, ticks := c.remadeBy(w.Tick)
	switch told := &c.causes; {
	case since(told.substituted):
		w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Input, told.substituted, told.run+1, told.how
		return
	case since(told.effect):
		w.Cause, w.CauseTick, w.System = prediction.ServerEffect, told.effect, c.p.systemName(told.system)
		return
	case since(told.pushed) && !c.guessed(told.by):
		w.Cause, w.CauseTick, w.Player = prediction.RemoteInput, told.pushed, uint16(told.by)
		return
	case remade != 0: // it may have: the server tells what is certain
		w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Input, remade, ticks, prediction.Replaced
		return
	case c.strayed(w.Tick):
		w.Cause = prediction.RemoteInput
		return
	}
	w.Cause = prediction.Code
	if other := c.othersDiffered(w.Tick); other != nil {
		w.Cause, w.Player = prediction.Untracked, other.Owner
	} else if w.Tick-c.good >= noteWindow {
		w.Cause = prediction.Unknown
	}
}

// guessed reports whether another player is predicted here, and was in the tick that is
// compared as predicted: what its entities pushed then came out here, too.
func (c timeline) guessed(o PlayerID) bool {
	return !c.remotePredictionFailed && slices.ContainsFunc(c.remotePredictedOf, func(f other) bool { return f.owner == o })
}

// takeCauses takes a note's causes in. A command that was replaced by its like has
// changed nothing, and leaves what an earlier note said.
func (c *Client) takeCauses(t Tick) {
	c.causes.take(&c.note, t)
	if n := &c.note; n.substituted != 0 && !c.likeItsOwn(n, t-(n.substituted-1)) {
		c.causes.replaced(n, t)
	}
}

// likeItsOwn reports whether what ran on the server in tick last, and in the run of
// ticks before it, was the client's command all the same.
func (c *Client) likeItsOwn(n *note, last Tick) bool {
	if !n.hasStandIn() || c.p.command == nil {
		return false
	}
	for i := uint32(0); i <= n.run; i++ {
		if k := last - i; i > 0 && (int32(k-c.good) <= 0 || int32(k-c.firstInput) < 0) {
			break // both ends agreed on it, or neither had a command
		}
		// Earlier ticks of the run ran with the same only where it was repeated.
		if !bytes.Equal(c.played(last-i), n.standIn) || i > 0 && n.how != prediction.Repeated {
			return false
		}
	}
	return true
}

// played is the command that the client ran a tick with, as it travels: a zero one where
// it made none.
func (c *Client) played(t Tick) []byte {
	if in := c.inputs.Find(t); in != nil {
		return in.packed
	}
	cmd := c.p.command
	c.packed = cmd.schema.Pack(reflect.New(cmd.handle.Type()).UnsafePointer(), c.packed[:0])
	return c.packed
}

// counted reports whether a misprediction is of a stall that was counted before: the
// server went on without the client's commands, or with those made first.
func (c *Client) counted() bool {
	w := &c.wrong
	if w.Cause != prediction.Input || w.CauseTicks == 0 {
		return false
	}
	before := c.causes.counted
	c.causes.counted = w.CauseTick
	return before != 0 && int32(w.CauseTick-w.CauseTicks-before) <= 0 && int32(w.CauseTick-before) >= 0
}

// remadeBy is the newest tick up to t, of those on which the ends may have differed,
// whose command was made twice, and how many in a row were; 0 if there is none. The
// second one may have come too late, and the server have run the first.
func (c *Client) remadeBy(t Tick) (last Tick, ticks uint32) {
	for last = t; int32(last-c.doubtful(t)) >= 0; last-- {
		if in := c.inputs.Find(last); in != nil && in.replaced {
			break
		}
	}
	for k := last; ticks <= maxRun; k-- {
		if in := c.inputs.Find(k); in == nil || !in.replaced {
			break
		}
		ticks++
	}
	if int32(last-c.doubtful(t)) < 0 {
		return 0, 0
	}
	return last, ticks
}

// doubtful is the first tick up to t on which the ends may have differed, of those
// that are remembered.
func (c *Client) doubtful(t Tick) Tick {
	if oldest := t - Tick(c.cfg.History); int32(oldest-c.good) > 0 {
		return oldest
	}
	return c.good + 1
}

// othersDiffered finds somebody else who, since the ends agreed last, had another value
// on the server than the newest one that was known here when the tick was predicted, in
// a component that shared systems read of others. nil: nobody.
func (c timeline) othersDiffered(t Tick) *snapshot.Ghost {
	if len(c.others) == 0 {
		return nil
	}
	for k := c.doubtful(t); int32(k-t) <= 0; k++ {
		r := c.records.Find(k)
		if r == nil {
			continue
		}
		for _, g := range c.receiver.Ghosts() {
			if !c.ahead(g) && c.otherDiffered(g, k, r.basis) {
				return g
			}
		}
	}
	return nil
}

func (c timeline) otherDiffered(g *snapshot.Ghost, t, basis Tick) bool {
	then, ok := g.At(t)
	if !ok { // of this tick nothing was received: what came next says whether it changed
		then = g.Newest()
	}
	known, ok := g.At(basis)
	if !ok || g.Data == 0 {
		return true // it came or went
	}
	for _, i := range c.others {
		if !slices.Equal(then.Component(i), known.Component(i)) {
			return true
		}
	}
	return false
}

// systemName names the server's system of a note.
func (p *Protocol) systemName(index uint32) string {
	if p.foreign {
		return "(of another build)"
	}
	switch i := int(index); {
	case i == effectOutside || i > p.hiddenCause():
		return "(outside of systems)"
	case i <= len(p.ordered):
		return p.ordered[i-1]
	case i < p.hiddenCause():
		return p.requests[i-p.requestCause(0)].cause
	}
	return "(hidden from its own player)"
}

// checkUntracked looks at what shared systems may have read and the prediction
// does not cover: if the client's value differed at t, that is the cause.
func (c timeline) checkUntracked(t Tick) {
	if c.wrong.Component == "" || c.wrong.Cause != prediction.Code || c.wrong.Tick != t {
		return
	}
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || c.remotePredicted(g) {
			continue
		}
		for _, i := range c.p.readUnpredicted {
			at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id)
			theirs := s.Component(i)
			if at == nil || theirs == nil {
				continue
			}
			schema := c.p.components[i].schema
			ours := c.zeroes(schema.Words())
			schema.Quantise(at, snapshot.GridPublic, clientRefs{c.Client}, ours)
			if schema.FirstDifference(ours, theirs) >= 0 {
				c.wrong.Cause = prediction.Untracked
				return
			}
		}
	}
}

// explainInputs adds the commands that either end used to the record.
func (c *Client) explainInputs() {
	w, cmd := &c.wrong, c.p.command
	if cmd == nil {
		return
	}
	t := w.CauseTick
	if t == 0 {
		t = w.Tick
	}
	if in := c.inputs.Find(t); in != nil {
		w.Input = cmd.value(in.at)
	}
	if w.Cause != prediction.Input {
		w.Executed = w.Input // where it ran with another one, that is the cause
		return
	}
	executed := c.note.standIn
	if in := c.inputs.Find(t); w.StandIn == prediction.Replaced && in != nil {
		executed = in.first
	}
	if len(executed) > 0 {
		at := reflect.New(cmd.handle.Type())
		if cmd.schema.Unpack(executed, at.UnsafePointer()) == nil {
			w.Executed = at.Elem().Interface()
		}
	}
}
