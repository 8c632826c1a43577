package ecs

import (
	"math/bits"
	"slices"
)

// SkipRow is the order key of rows that a hash leaves out.
const SkipRow = ^uint64(0)

type hashScratch struct {
	rows []uint64
}

// Hash returns a hash of the world's values. It is the same on every machine, and does not depend on the place
// of rows in tables. order returns a key for each row, usually a network id. [SkipRow] leaves a row out.
// Padding does not count; floats count by their bits. With ids, only these components count, and only rows that
// have any of them. Without ids everything counts: all components, the parents' keys, the singletons, and the
// living entities that watches have delivered. A nil order uses the handles as keys. Handles inside components
// count as numbers: leave such components out where handles may differ. For a component with pointers only its
// presence counts.
func (w *World) Hash(order func(r Rows, i int) uint64, ids ...ID) uint64 {
	var want Mask
	for _, id := range ids {
		want.Set(id)
	}
	var total, count uint64
	for _, t := range w.ordered {
		if t.n > 0 && (len(ids) == 0 || t.arch.mask.Overlaps(want)) {
			sum, n := w.hashTable(t, order, want, len(ids) == 0)
			total, count = total+sum, count+n
		}
	}
	h := mix(mix(count, hashSeed), total)
	if len(ids) == 0 {
		for i, d := range w.types.singles {
			if d.plain {
				h = mix(h, d.hash(hashSeed+uint64(i), w.singles[i]))
			}
		}
		h = w.hashWatches(h, order)
	}
	return h
}

// hashTable returns the sum of the hashes of a table's rows, and their number. A sum does not depend on the
// order.
func (w *World) hashTable(t *table, order func(Rows, int) uint64, want Mask, all bool) (total, count uint64) {
	n := int(t.n)
	sums := slices.Grow(w.scratch.rows[:0], n)[:n]
	w.scratch.rows = sums
	for i := range sums {
		sums[i] = hashSeed
	}
	for _, d := range t.arch.types {
		if d.id == linkID || !all && !want.Has(d.id) {
			continue
		}
		d.hashColumn(sums, t.valueAt(d, 0), uint64(d.id))
	}
	if all && t.arch.linked {
		for i := range sums {
			if p := (*link)(t.valueAt(w.types.link, int32(i))).Parent; w.Alive(p) {
				sums[i] = mix(sums[i], w.keyOf(p, order))
			}
		}
	}
	r := Rows{t, 0, t.n}
	for i, s := range sums {
		key := uint64(t.ids[i])
		if order != nil {
			key = order(r, i)
		}
		if key != SkipRow {
			total += mix(key^hashSeed, s)
			count++
		}
	}
	return total, count
}

const hashSeed = 0x9E3779B97F4A7C15

// mix folds the 128-bit product of two words.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xD6E8FEB86659FD93, b^0xA0761D6478BD642F)
	return hi ^ lo + a
}
