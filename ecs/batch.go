package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// SpawnBatch creates len(out) entities of a prefab at once. It returns their
// rows, which are contiguous, and stores their handles in out. While the world
// is locked the rows are staged, as with [World.Spawn].
func (w *World) SpawnBatch(k *Prefab, owner Owner, out []Entity) Rows {
	return w.spawnBatchIn(RangeServer, k, owner, out)
}

// spawnBatchIn is [Control.SpawnBatchIn].
func (w *World) spawnBatchIn(r Range, k *Prefab, owner Owner, out []Entity) Rows {
	w.checkPrefab(k)
	if k.d.kept != nil {
		w.refuseSpawn(k.d)
	}
	if r >= ranges {
		misuse.Panicf("ecs: spawn in %v: use RangeServer, RangePredicted or RangeLocal", r)
	}
	p := w.partOf(owner)
	t := w.tableOfPrefab(p, k.d)
	if w.locks == 0 && t.part != p { // no room for a table of the owner's
		rows := w.spawnBatchIn(r, k, t.part.owner, out)
		for _, e := range out {
			w.onFull(e, owner)
		}
		return rows
	}
	if len(out) == 0 {
		return Rows{t, t.n, 0}
	}
	if w.locks > 0 {
		lo := w.stageOf(t).n
		for i := range out {
			out[i] = w.spawnIn(r, k, owner)
		}
		return Rows{w.stageOf(t), lo, int32(len(out))}
	}
	w.version++
	lo := t.n
	if need := lo + int32(len(out)); need > t.cap {
		t.growRows(need)
	}
	t.n += int32(len(out))
	w.allocateRun(p, r, out, uint64(t.id)|uint64(lo)<<rowShift)
	copy(t.ids[lo:], out)
	for i, d := range t.arch.types {
		d.fillValues(t.valueAt(d, lo), k.d.defaults[i], len(out))
	}
	w.count += len(out)
	w.touch(t)
	return Rows{t, lo, int32(len(out))}
}

// allocateRun is allocate for many entities, whose rows follow one another from
// the place at on.
func (w *World) allocateRun(p *part, r Range, out []Entity, at uint64) {
	a := &p.alloc[r]
	for len(out) > 0 {
		if a.free != 0 {
			e := w.allocate(p, r)
			slot := e.index()
			w.rec[slot] = uint64(e) ^ at
			w.pages[slot>>pageBits].version = w.version
			out[0], out = e, out[1:]
			at += 1 << rowShift
			continue
		}
		if int(a.used>>pageBits) == len(a.pages) {
			w.claim(p, r)
		}
		n := a.pages[a.used>>pageBits]
		from := a.used & (pageLen - 1)
		run := w.rec[n<<pageBits+from : (n+1)<<pageBits]
		run = run[:min(len(run), len(out))]
		base := makeEntity(r, n<<pageBits+from, 0)
		for i := range run {
			gen := max(1, run[i]>>genShift)
			e := base + Entity(i) | Entity(gen)<<genShift
			out[i] = e
			run[i] = uint64(e) ^ (at + uint64(i)<<rowShift)
		}
		a.used += uint32(len(run))
		at += uint64(len(run)) << rowShift
		w.pages[n].top, w.pages[n].version = uint8(a.used-1)&(pageLen-1)+1, w.version
		out = out[len(run):]
	}
}

// fillValues sets n values from dst on to the value at src.
func (d *typeData) fillValues(dst, src unsafe.Pointer, n int) {
	if d.size == 0 {
		return
	}
	if d.ops.deep != nil {
		for i := range uintptr(n) {
			d.copyDefault(unsafe.Add(dst, i*d.size), src)
		}
		return
	}
	d.moveValue(dst, src)
	for have := 1; have < n; have *= 2 { // the filled part doubles each time
		d.moveN(unsafe.Add(dst, uintptr(have)*d.size), dst, min(have, n-have))
	}
}

// DestroyBatch destroys every living entity in the list and returns their
// number. It is deferred while the world is locked.
func (w *World) DestroyBatch(es []Entity) int {
	n := 0
	for _, e := range es {
		if w.Destroy(e) {
			n++
		}
	}
	return n
}

// DestroyAll destroys every entity that a query matches, with its children. It
// is deferred while the world is locked.
func (w *World) DestroyAll(q *Query) {
	w.lock()
	for _, r := range q.All(w) {
		w.DestroyBatch(r.Entities())
	}
	w.unlock()
}

// ReleaseOwner destroys all entities of an owner, for example when a player
// leaves. Rows of other owners keep their order. It is deferred while the world
// is locked.
func (c *Control) ReleaseOwner(o Owner) {
	w := c.world()
	p := w.findPart(o)
	if p == nil {
		return
	}
	w.lock()
	for _, t := range p.tables {
		w.DestroyBatch(t.ids[:t.n])
	}
	w.unlock()
}
