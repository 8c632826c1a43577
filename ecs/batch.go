package ecs

// SpawnBatch makes len(out) entities of a kind at once, and answers their
// rows, which follow one another, and their handles in out. While the world is
// locked the rows are staged, as with [World.Spawn].
func (w *World) SpawnBatch(k *Kind, owner Owner, out []Entity) Rows {
	return w.SpawnBatchIn(RangeServer, k, owner, out)
}

// SpawnBatchIn is SpawnBatch with the handles from the given range.
func (w *World) SpawnBatchIn(r Range, k *Kind, owner Owner, out []Entity) Rows {
	w.checkKind(k)
	if r >= ranges {
		misuse("spawn in %v: use RangeServer, RangePredicted or RangeLocal", r)
	}
	p := w.partOf(owner)
	t := w.tableOfKind(p, k.d)
	if len(out) == 0 {
		return Rows{t, t.n, 0}
	}
	if w.locks > 0 {
		lo := w.stageOf(t).n
		for i := range out {
			out[i] = w.SpawnIn(r, k, owner)
		}
		return Rows{w.stageOf(t), lo, int32(len(out))}
	}
	w.version++
	lo := t.n
	if need := lo + int32(len(out)); need > t.cap {
		t.grow(need)
	}
	t.n += int32(len(out))
	for i := range out {
		e := w.allocate(p, r)
		out[i] = e
		t.ids[lo+int32(i)] = e
		w.place(e, t, lo+int32(i))
	}
	for i, d := range t.arch.types {
		for row := lo; row < t.n; row++ {
			d.move(t.at(d, row), k.d.defaults[i])
		}
	}
	w.count += len(out)
	w.touch(t)
	return Rows{t, lo, int32(len(out))}
}

// DestroyBatch destroys every entity of the list that lives, and answers how
// many did. It is deferred while the world is locked.
func (w *World) DestroyBatch(es []Entity) int {
	n := 0
	for _, e := range es {
		if w.Destroy(e) {
			n++
		}
	}
	return n
}

// DestroyAll destroys every entity that a query matches, children included. It
// is deferred while the world is locked.
func (w *World) DestroyAll(q *Query) {
	w.Lock()
	for _, r := range q.All(w) {
		w.DestroyBatch(r.Entities())
	}
	w.Unlock()
}

// ReleaseOwner destroys everything that an owner has, as when a player leaves.
// Others' rows keep their order. It is deferred while the world is locked.
func (w *World) ReleaseOwner(o Owner) {
	p := w.findPart(o)
	if p == nil {
		return
	}
	w.Lock()
	for _, t := range p.tables {
		w.DestroyBatch(t.ids[:t.n])
	}
	w.Unlock()
}
