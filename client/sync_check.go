package client

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
)

func newSyncTester(b *base, gs *ghosts, pr *predicted, pd *prediction.Predictor, row *game.SingletonRow) syncTester {
	return syncTester{base: b, ghosts: gs, predicted: pr, predictor: pd, row: row, hashes: prediction.NewHistory[[]uint64](b.cfg.History)}
}

// syncTest goes back and runs the newest ticks again. Every word of their results must be the same.
func (tl *timeline) syncTest() {
	tl.runAgain(tl.hooks.syncTest, func(k foretick.Tick, first *record) bool {
		d, ok := tl.tester.diverged(k, first, tl.records.Find(k))
		if ok {
			tl.reportDesync(d)
		}
		return !ok
	})
}

// runAgain runs up to n of the newest ticks again, and restores everything. It calls ran after each
// tick, with the tick's first record, and stops when ran returns false.
func (tl *timeline) runAgain(n int, ran func(k foretick.Tick, first *record) bool) {
	now := tl.predictor.Tick()
	n = min(n, tl.cfg.History-1, int(int32(now-tl.tester.since)))
	from := now - foretick.Tick(n)
	slot, ok := tl.predictor.Slot(from)
	if !ok || n <= 0 || tl.cfg.NoPrediction {
		return
	}
	for len(tl.tester.kept) < n {
		tl.tester.kept = append(tl.tester.kept, record{})
	}
	for i := range n {
		tl.tester.kept[i].copyFrom(tl.records.Find(from + 1 + foretick.Tick(i)))
	}
	resimulated := tl.stats.Resimulated
	tl.Load(slot, from)
	for i := range n {
		k := from + 1 + foretick.Tick(i)
		tl.practice = true
		tl.Step(k, true)
		tl.practice = false
		if !ran(k, &tl.tester.kept[i]) {
			break
		}
	}
	for i := range n {
		tl.records.Put(from + 1 + foretick.Tick(i)).copyFrom(&tl.tester.kept[i])
	}
	tl.predictor.Present()
	tl.saves.putLocals()
	tl.spawning.forgetPractised()
	tl.stats.Resimulated = resimulated
}

// othersCame notes that the remote entities' components which shared systems read have changed. The
// earlier ticks ran with other values, so a sync test does not run them again.
func (st *syncTester) othersCame() {
	if len(st.ghosts.others) > 0 {
		st.since = st.predictor.Tick()
	}
}

// diverged finds the first field in which two runs of a tick differ.
func (st *syncTester) diverged(t foretick.Tick, first, again *record) (probe.Desync, bool) {
	d := probe.Desync{Kind: probe.Impure, Tick: t}
	for _, it := range first.items {
		d.Entity, d.Component = it.e, st.predicted.itemName(it)
		if again.item(it.e, int(it.comp)) < 0 {
			d.System = st.firstSystem(t)
			d.First, d.Again = 1, 0
			return d, true
		}
		if it.comp == itself {
			continue
		}
		comp, words := &st.p.Components[it.comp], again.wordsOf(it.e, int(it.comp))
		n := comp.Schema.Words()
		if f := comp.Schema.FirstDifference(first.words[it.off:int(it.off)+n], words[:n]); f >= 0 {
			d.Field = comp.Schema.Field(f).Name
			d.First, d.Again = fieldValue(comp, f, first.words[it.off:]), fieldValue(comp, f, words)
			d.System = st.firstSystem(t)
			return d, true
		}
	}
	for _, it := range again.items {
		if first.item(it.e, int(it.comp)) < 0 {
			d.Entity, d.Component, d.System = it.e, st.predicted.itemName(it), st.firstSystem(t)
			d.First, d.Again = 0, 1
			return d, true
		}
	}
	return d, false
}

// firstSystem returns the name of the system after which the runs of t first differ.
func (st *syncTester) firstSystem(t foretick.Tick) string {
	first := st.hashes.Find(t)
	if first == nil {
		return ""
	}
	for i := 0; i+1 < len(*first) && i+1 < len(st.again); i += 2 {
		if (*first)[i+1] != st.again[i+1] {
			return st.p.SystemName(uint32((*first)[i]) + 1)
		}
	}
	return ""
}

// beforeSystem and afterSystem are called around each system during a sync test.
func (st *syncTester) beforeSystem() {
	if st.rendering {
		st.before = st.predicted.appendBytes(st.before[:0])
	}
}

func (st *syncTester) afterSystem(system int) {
	switch {
	case st.rendering:
		now := st.predicted.appendBytes(nil)
		if !bytes.Equal(now, st.before) {
			d := probe.Desync{Kind: probe.RenderWrote, Tick: st.frame.Tick, System: st.p.SystemName(uint32(system) + 1)}
			d.Entity, d.Component = st.predicted.whose(now, st.before)
			st.reportDesync(d)
		}
	case st.running:
		st.due = system + 1
	}
}

// hashSystem adds the hash of the predicted state after a system.
func (st *syncTester) hashSystem(system int) {
	var words []int32
	st.row.TakeRow()
	h := uint64(0) // a sum, because spawns are listed in another order
	st.predicted.eachComponent(func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		x := (game.FNVOffset^uint64(e))*game.FNVPrime ^ uint64(comp.ID)
		for _, b := range comp.AppendBytes(nil, at, &words) {
			x = (x ^ uint64(b)) * game.FNVPrime
		}
		h += x
	})
	st.again = append(st.again, uint64(system), h)
}

// checkNumbers looks for NaN and infinity, which rounding changes into other numbers.
func (st *syncTester) checkNumbers(t foretick.Tick) {
	st.predicted.eachComponent(func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		v := reflect.NewAt(comp.Handle.Type(), at).Elem()
		if path, bad := notANumber(v, ""); bad {
			st.reportDesync(probe.Desync{Kind: probe.NotANumber, Tick: t, Entity: e, Component: comp.Name, Field: path})
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

// syncTester has the state of a sync test: see probe.Client.
type syncTester struct {
	*base
	ghosts    *ghosts
	predicted *predicted
	predictor *prediction.Predictor
	row       *game.SingletonRow

	// since is the newest tick whose state came from the server. It cannot be run again.
	since foretick.Tick
	// hashes has the hashes of each tick's predicted state, one after each system.
	hashes  *prediction.History[[]uint64]
	again   []uint64 // the hashes of the present run
	running bool     // a tick runs whose systems are hashed
	due     int      // the system whose state has to be hashed, plus one; 0: none
	before  []byte
	kept    []record
}
