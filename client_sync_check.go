package foretick

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
)

// syncTest goes back and runs the newest ticks again. Every word of their results must be
// the same.
func (tl *timeline) syncTest() {
	tl.runAgain(tl.hooks.syncTest, func(k Tick, first *record) bool {
		d, ok := tl.diverged(k, first, tl.records.Find(k))
		if ok {
			tl.reportDesync(d)
		}
		return !ok
	})
}

// runAgain runs up to n of the newest ticks again, and restores everything. It calls ran
// after each with its first record, and stops where ran returns false.
func (tl *timeline) runAgain(n int, ran func(k Tick, first *record) bool) {
	now := tl.predictor.Tick()
	n = min(n, tl.cfg.History-1, int(int32(now-tl.tester.since)))
	from := now - Tick(n)
	slot, ok := tl.predictor.Slot(from)
	if !ok || n <= 0 || tl.cfg.NoPrediction {
		return
	}
	for len(tl.tester.kept) < n {
		tl.tester.kept = append(tl.tester.kept, record{})
	}
	for i := range n {
		tl.tester.kept[i].copy(tl.records.Find(from + 1 + Tick(i)))
	}
	resimulated := tl.stats.Resimulated
	tl.Load(slot, from)
	for i := range n {
		k := from + 1 + Tick(i)
		tl.tester.replay = true
		tl.Step(k, true)
		tl.tester.replay = false
		if !ran(k, &tl.tester.kept[i]) {
			break
		}
	}
	for i := range n {
		tl.records.Put(from + 1 + Tick(i)).copy(&tl.tester.kept[i])
	}
	tl.predictor.Present()
	tl.putLocals()
	for _, e := range tl.spawning.practised {
		tl.world.Unreserve(e)
	}
	tl.spawning.practised = tl.spawning.practised[:0]
	tl.stats.Resimulated = resimulated
}

// othersCame notes that what shared systems read of remote entities changed: the ticks
// before ran with something else, and a sync test does not run them again.
func (tl *timeline) othersCame() {
	if len(tl.ghosts.others) > 0 {
		tl.tester.since = tl.predictor.Tick()
	}
}

// diverged finds the first field in which two runs of a tick differ.
func (tl *timeline) diverged(t Tick, first, again *record) (probe.Desync, bool) {
	d := probe.Desync{Kind: probe.Impure, Tick: t}
	for _, it := range first.items {
		d.Entity, d.Component = it.e, tl.itemName(it)
		if again.item(it.e, int(it.comp)) < 0 {
			d.System = tl.firstSystem(t)
			d.First, d.Again = 1, 0
			return d, true
		}
		if it.comp == itself {
			continue
		}
		comp, words := &tl.p.Components[it.comp], again.find(it.e, int(it.comp))
		n := comp.Schema.Words()
		if f := comp.Schema.FirstDifference(first.words[it.off:int(it.off)+n], words[:n]); f >= 0 {
			d.Field = comp.Schema.Field(f).Name
			d.First, d.Again = fieldValue(comp, f, first.words[it.off:]), fieldValue(comp, f, words)
			d.System = tl.firstSystem(t)
			return d, true
		}
	}
	for _, it := range again.items {
		if first.item(it.e, int(it.comp)) < 0 {
			d.Entity, d.Component, d.System = it.e, tl.itemName(it), tl.firstSystem(t)
			d.First, d.Again = 0, 1
			return d, true
		}
	}
	return d, false
}

// itemName returns the name of a component, or of the prefab if the item is the entity
// itself.
func (tl *timeline) itemName(it recordItem) string {
	if it.comp != itself {
		return tl.p.Components[it.comp].Name
	}
	kind := -1
	for _, g := range tl.ghosts.ours {
		if ecs.Entity(g.Data) == it.e {
			kind = tl.p.Prefabs[g.Prefab].Own
		}
	}
	tl.spawning.waiting.Open(func(_ Tick, s spawned) bool {
		if s.e == it.e {
			kind = s.kind
		}
		return true
	})
	if kind >= 0 {
		return tl.cfg.Protocol.compiled.Prefabs[kind].ECS.Name()
	}
	if k := tl.ownPrefab(tl.p.identity.Find(tl.world, it.e)); k != nil {
		return k.ECS.Name()
	}
	return "(entity)"
}

// firstSystem names the system after which the runs of t first differ.
func (tl *timeline) firstSystem(t Tick) string {
	first := tl.tester.hashes.Find(t)
	if first == nil {
		return ""
	}
	for i := 0; i+1 < len(*first) && i+1 < len(tl.tester.again); i += 2 {
		if (*first)[i+1] != tl.tester.again[i+1] {
			return tl.p.systemName(uint32((*first)[i]) + 1)
		}
	}
	return ""
}

// beforeSystem and afterSystem watch each system during a sync test.
func (tl *timeline) beforeSystem() {
	if tl.tester.render {
		tl.tester.before = tl.predictedBytes(tl.tester.before[:0])
	}
}

func (tl *timeline) afterSystem(system int) {
	switch {
	case tl.tester.render:
		now := tl.predictedBytes(nil)
		if !bytes.Equal(now, tl.tester.before) {
			d := probe.Desync{Kind: probe.RenderWrote, Tick: tl.frame.Tick, System: tl.p.systemName(uint32(system) + 1)}
			d.Entity, d.Component = tl.whose(now, tl.tester.before)
			tl.reportDesync(d)
		}
	case tl.tester.running:
		tl.tester.due = system + 1
	}
}

// hashSystem notes the hash of the predicted state after a system.
func (tl *timeline) hashSystem(system int) {
	var words []int32
	tl.row.take()
	h := uint64(0) // a sum: what was spawned in the meantime is listed elsewhere
	tl.eachPredicted(func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		x := (fnvOffset^uint64(e))*fnvPrime ^ uint64(comp.ID)
		for _, b := range comp.AppendBytes(nil, at, &words) {
			x = (x ^ uint64(b)) * fnvPrime
		}
		h += x
	})
	tl.tester.again = append(tl.tester.again, uint64(system), h)
}

// eachPredicted visits the predicted components of all entities that are predicted here.
func (tl *timeline) eachPredicted(visit func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer)) {
	for _, e := range tl.predictedHere() {
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			if at := tl.world.Pointer(e, comp.ID); at != nil && comp.Predicted {
				visit(e, comp, at)
			}
		}
	}
}

func (tl *timeline) predictedBytes(dst []byte) []byte {
	var words []int32
	tl.eachPredicted(func(_ ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		dst = comp.AppendBytes(dst, at, &words)
	})
	return dst
}

// whose finds the component in which two images of the predicted state differ.
func (tl *timeline) whose(a, b []byte) (entity ecs.Entity, name string) {
	off := 0
	tl.eachPredicted(func(e ecs.Entity, comp *layout.Component, _ unsafe.Pointer) {
		end := off + comp.ByteSize()
		if name == "" && end <= len(a) && end <= len(b) && !bytes.Equal(a[off:end], b[off:end]) {
			entity, name = e, comp.Name
		}
		off = end
	})
	return entity, name
}

// checkNumbers looks for NaN and infinity, which rounding turns into other numbers.
func (tl *timeline) checkNumbers(t Tick) {
	tl.eachPredicted(func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		v := reflect.NewAt(comp.Handle.Type(), at).Elem()
		if path, bad := notANumber(v, ""); bad {
			tl.reportDesync(probe.Desync{Kind: probe.NotANumber, Tick: t, Entity: e, Component: comp.Name, Field: path})
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
