package ecs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// The bytes of a world. Numbers are varints where nothing else is said, and a text is its length and its bytes.
//
//	version    1 byte
//	types      length, then worldTypes.declaration
//	hash       8 bytes: World.Hash(nil)
//	tags       number, then the texts in alphabetical order
//	parts      number; each: owner, and 1 + whose it is for a second part, or 0
//	pages      number; each: pages skipped, home << 2 | range, number of records; a record: see recordLink
//	allocators for each part and range: records used, number of free slots, the slots
//	strays     number, then the slots
//	reserves   for each range: fresh handles left, and the page if there are any; then for each part and
//	           range the number of returned handles, each with slot and generation
//	tables     number; each: part, component set, rows, the slots of its entities, the columns
//	singletons the values
//	watches    for each watch and part: 0 without members, 1 for all that match now, or 2 + their number
//	           and their handles, 8 bytes each
//	check      4 bytes: CRC-32C of all bytes before
//
// Parts are numbered in the order of their owners. A list of slots has each slot as the difference from the
// one that would follow the slot before. Nothing depends on the order in which parts and tables were made, or
// on the ids of tables. So the same state has the same bytes, on every machine.
const worldVersion = 1

// A record is its generation << recordBits and one of these. The further records of a page are pristine.
const (
	recordDead = iota // no entity lives there; its place in a free list follows from the allocators
	recordLive        // an entity lives there; its place follows from the tables
	recordLink        // as recordDead, and 1 + the part where its last entity lived follows
	recordBits = 2
)

const (
	membersNone = iota
	membersNow
	membersListed
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendWorld appends the whole world as bytes to dst: entities with their handles and owners, row order,
// parents, values, singletons, tags of the world, what watches have reported, and which handles are free.
// A world that [Control.ReadWorld] made of the bytes goes on exactly as this one: the next entities get the
// same handles, and queries visit rows in the same order. The same state gives the same bytes on every machine,
// so a hash of them compares states more closely than [World.Hash].
//
// An empty slice in a component is written as nil is, because a [Copier] may make one of the other.
//
// The error names components that cannot be written: see [Types.WorldErr]. Then dst is returned as it was.
// AppendWorld panics with [UsageError] in a locked world.
func (c *Control) AppendWorld(dst []byte) ([]byte, error) {
	w := c.world()
	w.refuseLocked("AppendWorld")
	types := w.types.worldTypes()
	if types.err != nil {
		return dst, types.err
	}
	e := worldWriter{w: w, types: types, b: dst}
	e.b = append(e.b, worldVersion)
	e.text(types.declaration)
	e.b = binary.LittleEndian.AppendUint64(e.b, w.Hash(nil))
	e.tags()
	e.parts()
	if err := e.pages(); err != nil {
		return dst, err
	}
	e.allocators()
	e.reserves()
	e.tables()
	e.singletons()
	e.watches()
	return binary.LittleEndian.AppendUint32(e.b, crc32.Checksum(e.b[len(dst):], castagnoli)), nil
}

func (w *World) refuseLocked(call string) {
	if w.locks > 0 || w.blind != 0 {
		misuse.Panicf("ecs: %s of a locked world: call it between systems", call)
	}
}

// worldWriter writes a world as bytes.
type worldWriter struct {
	w       *World
	types   *worldTypes
	b       []byte
	numbers []int // numbers has the parts' numbers by index. -1 means that the part is left out.
	kept    []*part
	next    uint32 // next is the slot that would follow the last one.
}

func (e *worldWriter) number(v int) { e.b = binary.AppendUvarint(e.b, uint64(v)) }

func (e *worldWriter) text(s string) {
	e.number(len(s))
	e.b = append(e.b, s...)
}

// slot appends a slot as the difference from the one that would follow the slot before.
func (e *worldWriter) slot(s uint32) {
	e.b = binary.AppendVarint(e.b, int64(s)-int64(e.next))
	e.next = s + 1
}

func (e *worldWriter) tags() {
	t := e.w.types
	t.tagsMu.Lock()
	var names []string
	for i, name := range t.tags {
		if e.w.tags>>i&1 != 0 {
			names = append(names, name)
		}
	}
	t.tagsMu.Unlock()
	slices.Sort(names)
	e.number(len(names))
	for _, name := range names {
		e.text(name)
	}
}

// parts numbers the parts that have anything, and writes them.
func (e *worldWriter) parts() {
	w := e.w
	has := make([]bool, len(w.parts))
	for i, p := range w.parts {
		has[i] = p.of != p.owner || slices.ContainsFunc(p.made, func(t *table) bool { return t.n > 0 })
		for r := range ranges {
			has[i] = has[i] || len(p.alloc[r].pages) > 0 || len(p.reserved[r]) > 0
		}
		for k := range w.watches {
			has[i] = has[i] || i < len(w.watches[k].seen) && len(w.watches[k].seen[i].list) > 0
		}
	}
	e.eachPage(func(n uint32, pg *page) {
		for k := range uint32(pg.top) {
			if _, link := e.record(n*pageLen+k, pg); link > 0 {
				has[link-1] = true
			}
		}
	})
	e.numbers = make([]int, len(w.parts))
	for i := range e.numbers {
		e.numbers[i] = -1
	}
	for _, p := range w.sorted {
		if has[p.index] {
			e.numbers[p.index] = len(e.kept)
			e.kept = append(e.kept, p)
		}
	}
	e.number(len(e.kept))
	for _, p := range e.kept {
		e.number(int(p.owner))
		if p.of == p.owner {
			e.number(0)
		} else {
			e.number(int(p.of) + 1)
		}
	}
}

func (e *worldWriter) eachPage(visit func(n uint32, pg *page)) {
	for n := range e.w.claimed {
		if pg := &e.w.pages[n]; pg.home != homeless {
			visit(uint32(n), pg)
		}
	}
}

// record returns a record as it is written, and 1 + the index of the part where the last entity lived.
func (e *worldWriter) record(slot uint32, pg *page) (v uint64, link int) {
	h, place := held(e.w.rec[slot], pg.rng, slot)
	v = uint64(h.Generation()) << recordBits
	switch {
	case tableOf(place) != 0:
		return v | recordLive, 0
	case rowOf(place) != 0 && (pg.home == shared || pg.away>>(slot&(pageLen-1))&1 != 0):
		return v | recordLink, int(rowOf(place))
	}
	return v, 0
}

func (e *worldWriter) pages() error {
	pages, last := 0, 0
	e.eachPage(func(n uint32, _ *page) { pages, last = pages+1, int(n) })
	if last > farthestPage(pages) {
		return fmt.Errorf("ecs: AppendWorld: handles are too far apart: %d pages up to page %d; give a world that Place fills no gaps", pages, last)
	}
	e.number(pages)
	next := 0
	e.eachPage(func(n uint32, pg *page) {
		e.number(int(n) - next)
		next = int(n) + 1
		home := 0
		if pg.home != shared {
			home = e.numbers[pg.home] + 1
		}
		e.number(home<<2 | int(pg.rng))
		e.b = append(e.b, pg.top)
		for k := range uint32(pg.top) {
			v, link := e.record(n*pageLen+k, pg)
			if e.b = binary.AppendUvarint(e.b, v); link > 0 {
				e.number(e.numbers[link-1])
			}
		}
	})
	return nil
}

// farthestPage returns the highest page that a world with so many pages may have. Pages are dealt to the ranges
// in groups, and the rarest range gets every fourth group.
func farthestPage(pages int) int { return 4 * (pages + groupPages) }

func (e *worldWriter) allocators() {
	for _, p := range e.kept {
		for r := range ranges {
			a := &p.alloc[r]
			if e.number(int(a.used)); a.used == 0 {
				continue
			}
			free := 0
			e.eachFree(a, r, func(uint32) { free++ })
			e.number(free)
			e.next = 0
			e.eachFree(a, r, e.slot)
		}
	}
	e.number(len(e.w.strays))
	e.next = 0
	for _, s := range e.w.strays {
		e.slot(s)
	}
}

func (e *worldWriter) eachFree(a *allocator, r Range, visit func(slot uint32)) {
	for at := a.free; at != 0; {
		_, place := held(e.w.rec[at-1], r, at-1)
		visit(at - 1)
		at = uint32(rowOf(place))
	}
}

func (e *worldWriter) reserves() {
	for r := range ranges {
		if s := &e.w.reserves[r]; s.left == 0 {
			e.number(0)
		} else {
			e.number(int(s.left))
			e.number(int(s.page))
		}
	}
	for _, p := range e.kept {
		for r := range ranges {
			e.number(len(p.reserved[r]))
			for _, h := range p.reserved[r] {
				e.number(int(h.index()))
				e.number(int(h.Generation()))
			}
		}
	}
}

func (e *worldWriter) tables() {
	n := 0
	for _, t := range e.w.ordered {
		if t.n > 0 {
			n++
		}
	}
	e.number(n)
	for _, t := range e.w.ordered {
		if t.n > 0 {
			e.table(t)
		}
	}
}

func (e *worldWriter) table(t *table) {
	e.number(e.numbers[t.part.index])
	e.number(len(t.arch.types))
	for _, d := range t.arch.types {
		e.b = append(e.b, byte(d.id))
	}
	e.number(int(t.n))
	e.next = 0
	for _, h := range t.ids[:t.n] {
		e.slot(h.index())
	}
	for _, d := range t.arch.types {
		e.b = e.types.bySlot(d.slot).appendValues(e.b, t.cols[d.slot], int(t.n))
	}
}

func (e *worldWriter) singletons() {
	for i := range e.types.singles {
		e.b = e.types.singles[i].appendValues(e.b, e.w.singles[i], 1)
	}
}

func (e *worldWriter) watches() {
	for i, v := range e.w.types.watches {
		for _, p := range e.kept {
			var list []Entity
			if seen := e.w.watches[i].seen; int(p.index) < len(seen) {
				list = seen[p.index].list
			}
			switch {
			case len(list) == 0:
				e.number(membersNone)
			case v.matchesNow(p, list):
				e.number(membersNow)
			default:
				e.number(membersListed + len(list))
				for _, h := range list {
					e.b = binary.LittleEndian.AppendUint64(e.b, uint64(h))
				}
			}
		}
	}
}

// matchesNow reports whether a list has the entities of a part that match now, in the order of queries.
func (v *Watch) matchesNow(p *part, list []Entity) bool {
	for _, t := range p.tables {
		if t.n > 0 && v.query.matches(t.arch.mask) {
			n := int(t.n)
			if len(list) < n || !slices.Equal(list[:n], t.ids[:n]) {
				return false
			}
			list = list[n:]
		}
	}
	return len(list) == 0
}

// WorldErr returns an error that names each component and singleton that [Control.AppendWorld] cannot write, or
// nil. Such a type holds pointers other than strings and slices, and has no [Coder].
func (t *Types) WorldErr() error {
	if !t.frozen {
		return t.describeBytes().err // further types may be registered
	}
	return t.worldTypes().err
}

// Coder sets how values of a type become bytes in [Control.AppendWorld], and are made of them in
// [Control.ReadWorld]. A type needs one if it holds pointers other than strings and slices. appendTo appends a
// value to dst. read sets *v, which is zero, and refuses malformed bytes with an error; b is valid during the
// call. Both depend on nothing but their arguments.
func Coder[T any](appendTo func(dst []byte, v *T) []byte, read func(b []byte, v *T) error) TypeOption {
	return func(d *typeData) error {
		if appendTo == nil || read == nil {
			return errors.New("a Coder with a nil function: give both, or leave it out")
		}
		d.coder = &typeCoder{
			appendTo: func(dst []byte, v unsafe.Pointer) []byte { return appendTo(dst, (*T)(v)) },
			read:     func(b []byte, v unsafe.Pointer) error { return read(b, (*T)(v)) },
		}
		return nil
	}
}

// typeCoder is a [Coder].
type typeCoder struct {
	appendTo func(dst []byte, v unsafe.Pointer) []byte
	read     func(b []byte, v unsafe.Pointer) error
}
