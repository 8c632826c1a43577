package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// zeroSized is the target of columns of zero-sized types, which must not be
// nil.
var zeroSized [64]byte

// archetype is a component set, shared by the tables of all parts.
type archetype struct {
	mask  Mask
	index int32 // index is the number in order of creation. It is never an order of iteration.
	types []*typeData
	add   []*archetype // add has, by slot, the archetype with that component added.
	// remove has, by slot, the archetype with that component removed.
	remove []*archetype
	rigid  []*typeData // rigid has the types with pointers, which are cleared when a row is removed.
	linked bool        // linked is true if the set has the parent component.
	kept   *typeData   // kept is the component that makes the entities managed. nil means none.
}

// plainColumn is the data needed to copy a plain column.
type plainColumn struct {
	p    unsafe.Pointer
	size uintptr // size is the size of a value.
}

// table holds the rows of one archetype and one part, one column per component.
type table struct {
	cols []unsafe.Pointer // cols has the columns by slot. nil means that the component is absent.
	// plain has the columns with a size and without pointers, in the order of arch.types.
	plain  []plainColumn
	ids    []Entity // ids has cap elements. The first n are the rows.
	n, cap int32
	id     uint16
	// staging is true if the table holds rows spawned while the world is locked. Queries do not see it.
	staging bool
	gone    bool // gone is true once the table was recycled.
	rigid   bool // rigid is true if there are columns with pointers: see arch.rigid.
	arch    *archetype
	part    *part
	world   *World
	stage   *table
	inWorld int32  // inWorld is the index in histories of the world.
	inPart  int32  // inPart is the index in histories of the part.
	version uint64 // version identifies the content of ids. It is never reused.
}

func align64(n uintptr) uintptr { return (n + 63) &^ 63 }

// allocBytes returns zeroed memory without pointers, aligned to 64 bytes.
func allocBytes(n uintptr) []byte {
	if n == 0 {
		return nil
	}
	b := make([]byte, n+63)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63
	return b[skip : skip+n : skip+n]
}

func copyBytes(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// moveValue copies one value to unused memory.
func (d *typeData) moveValue(dst, src unsafe.Pointer) {
	if !d.plain {
		d.ops.copy(dst, src, 1)
		return
	}
	switch d.size {
	case 4:
		*(*[4]byte)(dst) = *(*[4]byte)(src)
	case 8:
		*(*[8]byte)(dst) = *(*[8]byte)(src)
	case 12:
		*(*[12]byte)(dst) = *(*[12]byte)(src)
	case 16:
		*(*[16]byte)(dst) = *(*[16]byte)(src)
	case 32:
		*(*[32]byte)(dst) = *(*[32]byte)(src)
	default:
		copyBytes(dst, src, d.size)
	}
}

func (d *typeData) moveN(dst, src unsafe.Pointer, n int) {
	if d.plain {
		copyBytes(dst, src, uintptr(n)*d.size)
		return
	}
	d.ops.copy(dst, src, n)
}

// stride returns the distance from a column of n bytes to the next one: a whole
// number of cache lines, and no large power of two, because that would share
// cache sets.
func stride(n uintptr) uintptr {
	if n = align64(n); n >= 1024 {
		n += 64
	}
	return n
}

// growRows makes room for at least n rows.
func (t *table) growRows(n int32) {
	c := max(16, t.cap*2)
	for c < n {
		c *= 2
	}
	if c > rowMask {
		misuse.Panicf("ecs: more than %d rows in one table", rowMask)
	}
	var size uintptr
	for _, d := range t.arch.types {
		if d.plain {
			size += stride(d.size * uintptr(c))
		}
	}
	block := allocBytes(size)
	var at uintptr
	t.plain = t.plain[:0]
	for _, d := range t.arch.types {
		p := unsafe.Pointer(&zeroSized)
		switch {
		case !d.plain:
			p = d.ops.alloc(int(c))
		case d.size > 0:
			p = unsafe.Pointer(&block[at])
			t.plain = append(t.plain, plainColumn{p, d.size})
			at += stride(d.size * uintptr(c))
		}
		if t.n > 0 {
			d.moveN(p, t.cols[d.slot], int(t.n))
		}
		t.cols[d.slot] = p
		t.world.cols[d.slot].base[t.id] = column{p, uint64(c) << rowShift}
	}
	ids := make([]Entity, c)
	copy(ids, t.ids[:t.n])
	t.ids, t.cap = ids, c
}

// pushRow appends a row whose values the caller sets.
func (t *table) pushRow(e Entity) int32 {
	row := t.n
	if row == t.cap {
		t.growRows(row + 1)
	}
	t.ids[row] = e
	t.n = row + 1
	return row
}

func (t *table) valueAt(d *typeData, row int32) unsafe.Pointer {
	return unsafe.Add(t.cols[d.slot], uintptr(row)*d.size)
}

// fillRow sets a row's values to a prefab's defaults. The table has exactly the
// prefab's components.
func (t *table) fillRow(row int32, k *prefabData) {
	for i, d := range t.arch.types {
		switch dst, src := t.valueAt(d, row), k.defaults[i]; {
		case d.plain && d.size == 16: // the most common size, copied without a call
			*(*[16]byte)(dst) = *(*[16]byte)(src)
		default:
			d.copyDefault(dst, src)
		}
	}
}

// copyDefault copies a default into an empty row.
func (d *typeData) copyDefault(dst, src unsafe.Pointer) {
	if d.ops.deep != nil { // so that rows share nothing with the default
		d.ops.deep(dst, src, 1)
		return
	}
	d.moveValue(dst, src)
}

// dropRow removes a row; the last row takes its place.
func (t *table) dropRow(row int32) {
	last := t.n - 1
	if row != last {
		for _, d := range t.arch.types {
			d.moveValue(t.valueAt(d, row), t.valueAt(d, last))
		}
		moved := t.ids[last]
		t.ids[row] = moved
		t.world.placeRecord(moved, t, row)
	}
	for _, d := range t.arch.rigid {
		d.ops.clear(t.valueAt(d, last), 1)
	}
	if t.n = last; last == 0 {
		t.world.emptied = true
	}
}
