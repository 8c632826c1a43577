package foretick

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// Desync is a fault that a rehearsal found: something in the game's own code
// that makes a tick come out differently when it runs again. See
// ClientConfig.SyncTest.
type Desync struct {
	// Kind of fault.
	Kind DesyncKind
	// Tick that came out differently.
	Tick Tick
	// Entity, Component and Field that differ first. Field is empty where a
	// whole component does.
	Entity    ecs.Entity
	Component string
	Field     string
	// First and Again are the field's values in its own units: of the first run
	// and of the other.
	First, Again float64
	// System is the first that left something else behind, where known.
	System string
}

// DesyncKind says what a rehearsal found.
type DesyncKind uint8

// The prefabs.
const (
	// Impure: the same tick with the same input from the same state computed
	// something else: a clock, chance, a map's order, a counter or a cache kept
	// outside of components.
	Impure DesyncKind = iota + 1
	// RenderWrote: a render system wrote a predicted component.
	RenderWrote
	// NotANumber: a predicted field became NaN or infinite.
	NotANumber
)

// String names the kind.
func (k DesyncKind) String() string {
	switch k {
	case Impure:
		return "ran again with another outcome"
	case RenderWrote:
		return "was written by a render system"
	case NotANumber:
		return "is not a number"
	}
	return "?"
}

// String is one line for a log.
func (d Desync) String() string {
	what := d.Component
	if d.Field != "" {
		what += "." + d.Field
	}
	s := fmt.Sprintf("tick %d: %s of entity %v %s", d.Tick, what, d.Entity, d.Kind)
	if d.Kind == Impure {
		s += fmt.Sprintf(": %.10g, then %.10g", d.First, d.Again)
	}
	if d.System != "" {
		s += fmt.Sprintf("; first in system %q", d.System)
	}
	return s
}

// syncTester is what ClientConfig.SyncTest needs.
type syncTester struct {
	since   Tick                          // the newest tick whose state came from the server: no run leads up to it
	trail   *prediction.History[[]uint64] // hash of the predicted state after each system
	again   []uint64                      // the same, of the run that is on
	running bool                          // a tick runs; its systems are hashed
	due     int                           // the system that is still to be hashed, plus one; 0 for none
	replay  bool
	render  bool
	before  []byte
	kept    []record
}

// syncTest goes back and runs the newest ticks again: their outcome must be the
// same to the last word.
func (c *Client) syncTest() {
	now := c.predictor.Tick()
	n := min(c.cfg.SyncTest, c.cfg.History-1, int(int32(now-c.practice.since)))
	from := now - Tick(n)
	slot, ok := c.predictor.Slot(from)
	if !ok || n <= 0 || c.cfg.NoPrediction {
		return
	}
	line := timeline{c}
	for len(c.practice.kept) < n {
		c.practice.kept = append(c.practice.kept, record{})
	}
	for i := range n {
		c.practice.kept[i].copy(c.records.Find(from + 1 + Tick(i)))
	}
	resimulated := c.stats.Resimulated
	line.Load(slot, from)
	for i := range n {
		k := from + 1 + Tick(i)
		c.practice.replay = true
		line.Step(k, true)
		c.practice.replay = false
		if d, ok := c.diverged(k, &c.practice.kept[i], c.records.Find(k)); ok {
			c.reportDesync(d)
			break
		}
	}
	for i := range n {
		c.records.Put(from + 1 + Tick(i)).copy(&c.practice.kept[i])
	}
	c.predictor.Present()
	c.putLocals()
	for _, e := range c.spawning.practised {
		c.world.Unreserve(e)
	}
	c.spawning.practised = c.spawning.practised[:0]
	c.stats.Resimulated = resimulated
}

func (r *record) copy(from *record) {
	if from == nil {
		r.items, r.words = r.items[:0], r.words[:0]
		return
	}
	items, words, cuts := append(r.items[:0], from.items...), append(r.words[:0], from.words...), append(r.cuts[:0], from.cuts...)
	*r = *from
	r.items, r.words, r.cuts = items, words, cuts
}

// diverged finds the first field in which two runs of a tick differ.
func (c *Client) diverged(t Tick, first, again *record) (Desync, bool) {
	d := Desync{Kind: Impure, Tick: t}
	for _, it := range first.items {
		d.Entity, d.Component = it.e, c.itemName(it)
		if again.item(it.e, int(it.comp)) < 0 {
			d.System = c.firstSystem(t)
			d.First, d.Again = 1, 0
			return d, true
		}
		if it.comp == itself {
			continue
		}
		comp, words := &c.p.components[it.comp], again.find(it.e, int(it.comp))
		n := comp.schema.Words()
		if f := comp.schema.FirstDifference(first.words[it.off:int(it.off)+n], words[:n]); f >= 0 {
			d.Field = comp.schema.Field(f).Name
			d.First, d.Again = fieldValue(comp, f, first.words[it.off:]), fieldValue(comp, f, words)
			d.System = c.firstSystem(t)
			return d, true
		}
	}
	for _, it := range again.items {
		if first.item(it.e, int(it.comp)) < 0 {
			d.Entity, d.Component, d.System = it.e, c.itemName(it), c.firstSystem(t)
			d.First, d.Again = 0, 1
			return d, true
		}
	}
	return d, false
}

// itemName is the name of a component, or of the prefab where the item is the
// entity.
func (c *Client) itemName(it recordItem) string {
	if it.comp != itself {
		return c.p.components[it.comp].name
	}
	kind := -1
	for _, g := range c.ours {
		if ecs.Entity(g.Data) == it.e {
			kind = c.p.prefabs[g.Prefab].own
		}
	}
	c.spawns.Open(func(_ Tick, s spawned) bool {
		if s.e == it.e {
			kind = s.kind
		}
		return true
	})
	if kind >= 0 {
		return c.cfg.Protocol.prefabs[kind].ecs.Name()
	}
	if k := c.ownPrefab(c.p.identity.Find(c.world, it.e)); k != nil {
		return k.ecs.Name()
	}
	return "(entity)"
}

// firstSystem names the system after which the runs of t first differ.
func (c *Client) firstSystem(t Tick) string {
	first := c.practice.trail.Find(t)
	if first == nil {
		return ""
	}
	for i := 0; i+1 < len(*first) && i+1 < len(c.practice.again); i += 2 {
		if (*first)[i+1] != c.practice.again[i+1] {
			return c.p.systemName(uint32((*first)[i]) + 1)
		}
	}
	return ""
}

func (c *Client) reportDesync(d Desync) {
	if c.cfg.OnDesync != nil {
		c.cfg.OnDesync(d)
	}
}

// beforeSystem and afterSystem watch each system while a rehearsal is on.
func (c *Client) beforeSystem() {
	if c.practice.render {
		c.practice.before = c.predictedBytes(c.practice.before[:0])
	}
}

func (c *Client) afterSystem(system int) {
	switch {
	case c.practice.render:
		now := c.predictedBytes(nil)
		if !bytes.Equal(now, c.practice.before) {
			d := Desync{Kind: RenderWrote, Tick: c.frame.Tick, System: c.p.systemName(uint32(system) + 1)}
			d.Entity, d.Component = c.whose(now, c.practice.before)
			c.reportDesync(d)
		}
	case c.practice.running:
		c.practice.due = system + 1
	}
}

// hashSystem notes the hash of the predicted state as a system left it.
func (c *Client) hashSystem(system int) {
	var words []int32
	h := uint64(0) // a sum: what was spawned in the meantime is listed elsewhere
	c.eachPredicted(func(e ecs.Entity, comp *component, at unsafe.Pointer) {
		x := (fnvOffset^uint64(e))*fnvPrime ^ uint64(comp.id)
		for _, b := range comp.image(nil, at, &words) {
			x = (x ^ uint64(b)) * fnvPrime
		}
		h += x
	})
	c.practice.again = append(c.practice.again, uint64(system), h)
}

// eachPredicted visits the predicted components of what is predicted here.
func (c *Client) eachPredicted(visit func(e ecs.Entity, comp *component, at unsafe.Pointer)) {
	for _, e := range c.predictedHere() {
		for i := range c.p.components {
			comp := &c.p.components[i]
			if at := c.world.Pointer(e, comp.id); at != nil && comp.predicted {
				visit(e, comp, at)
			}
		}
	}
}

func (c *Client) predictedBytes(dst []byte) []byte {
	var words []int32
	c.eachPredicted(func(_ ecs.Entity, comp *component, at unsafe.Pointer) {
		dst = comp.image(dst, at, &words)
	})
	return dst
}

// whose finds the component in which two images of the predicted state differ.
func (c *Client) whose(a, b []byte) (entity ecs.Entity, name string) {
	off := 0
	c.eachPredicted(func(e ecs.Entity, comp *component, _ unsafe.Pointer) {
		end := off + comp.imageSize()
		if name == "" && end <= len(a) && end <= len(b) && !bytes.Equal(a[off:end], b[off:end]) {
			entity, name = e, comp.name
		}
		off = end
	})
	return entity, name
}

// checkNumbers looks for what arithmetic must not leave behind; the wire would
// quietly make it 0.
func (c *Client) checkNumbers(t Tick) {
	c.eachPredicted(func(e ecs.Entity, comp *component, at unsafe.Pointer) {
		v := reflect.NewAt(comp.handle.Type(), at).Elem()
		if path, bad := notANumber(v, ""); bad {
			c.reportDesync(Desync{Kind: NotANumber, Tick: t, Entity: e, Component: comp.name, Field: path})
		}
	})
}

func notANumber(v reflect.Value, path string) (string, bool) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return path, math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			if p, bad := notANumber(v.Field(i), name); bad {
				return p, true
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			if p, bad := notANumber(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); bad {
				return p, true
			}
		}
	}
	return "", false
}
