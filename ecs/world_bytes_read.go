package ecs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"unsafe"
)

// ReadWorld replaces everything in the world by what [Control.AppendWorld] wrote. Saves of the world are
// released, and watches that are polled outside of the ticks keep what they have reported.
//
// most is the most entities that the bytes may have room for. ReadWorld needs memory and time in proportion to
// it and to the bytes, even if the bytes claim more. An error that wraps [ErrTooMany] asks for a larger most. ReadWorld
// checks all of b before it changes the world. So after an error the world is as it was. There are two exceptions: a
// [Coder] that fails at bytes that it read before, and a hash that differs from the one that was written. Then the world
// is empty.
//
// b may come from a build with other types. Components, singletons, watches and fields are matched by name. What
// this build lacks is left out, and what only this build has is zero. Numbers are converted; one that does not
// fit becomes the nearest that does. The hash is only compared if both builds declare the same.
//
// It panics with [UsageError] in a locked world.
func (c *Control) ReadWorld(b []byte, most int) error {
	w := c.world()
	w.refuseLocked("ReadWorld")
	r := worldReader{w: w, types: w.types.worldTypes(), most: most, b: b}
	if r.types.err != nil {
		return r.types.err
	}
	r.readAll()
	if r.err != nil {
		return r.err
	}
	w.takeWorld(&r)
	if r.err == nil && r.same && w.Hash(nil) != r.hash {
		r.fail("the world has another hash than the one that was written")
	}
	if r.err != nil {
		w.empty()
	}
	return r.err
}

// worldReader reads the bytes of a world and checks them. It does not change the world.
type worldReader struct {
	w     *World
	types *worldTypes
	most  int
	b     []byte // b has the bytes that were not read yet.
	err   error  // err is the first fault.
	next  uint32 // next is the slot that would follow the last one.

	same    bool       // same is true if the writer declared the same.
	comps   []readType // comps has the writer's components by id.
	singles []readType
	watches []int // watches has this build's watch for each of the writer's, or -1.
	link    readType

	hash       uint64
	tags       uint64
	parts      []readPart
	pages      []readPage
	pageAt     []int32 // pageAt has 1 + the index in pages, by the number of the page.
	records    []readRecord
	slots      []uint32 // slots has the free slots, by part and range.
	strays     []uint32
	reserves   [ranges]reserved
	live       int // live is the number of entities.
	tables     []readTable
	singleData [][]byte
	members    []readMembers
}

// readType is a type of the writer.
type readType struct {
	own   *worldType // own is this build's type. nil means that it has none of the name.
	node  *typeNode
	fixed bool // fixed is true if own is fixed and the writer's type is the same.
}

type readPart struct {
	owner, of Owner
	pages     [ranges]uint32
	used      [ranges]uint32
	free      [ranges]int // free has the numbers of free slots.
	reserved  [ranges][]Entity
}

type readPage struct {
	n    uint32
	home int32 // home is the number of the part, or shared.
	pos  uint32
	rng  Range
	top  uint8
	from int // from is the index in records.
	away uint64
}

type readRecord struct {
	gen   uint32
	link  int32 // link is 1 + the number of the part where the last entity lived.
	state uint8
}

// recordFree and recordPlaced are states of records that an allocator or a table has named.
const (
	recordFree = iota + 1<<recordBits
	recordPlaced
)

type readTable struct {
	part    int
	mask    Mask
	ids     []Entity
	types   []*readType
	columns [][]byte
}

type readMembers struct {
	watch, part int
	now         bool
	list        []byte
}

func (r *worldReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("ecs: the bytes of a world are malformed: "+format, args...)
	}
	r.b = nil
}

func (r *worldReader) bytes(n int) []byte {
	if n > len(r.b) {
		r.fail("they end too early")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *worldReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads a number from 0 to most.
func (r *worldReader) number(most int) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || most < 0 || v > uint64(most) {
		r.fail("a number is missing, or not from 0 to %d", most)
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

// count reads a number of things that take at least so many bytes each.
func (r *worldReader) count(least int) int { return r.number(len(r.b) / least) }

func (r *worldReader) text(most int) string { return string(r.bytes(r.number(min(most, len(r.b))))) }

// slot reads a slot that worldWriter.slot wrote.
func (r *worldReader) slot() uint32 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail("a slot is missing")
		return 0
	}
	r.b = r.b[n:]
	if v += int64(r.next); v < 0 || v > maxSlot {
		r.fail("there is no slot %d", v)
		return 0
	}
	r.next = uint32(v) + 1
	return uint32(v)
}

func (r *worldReader) readAll() {
	n := len(r.b) - 4
	if n < 1 || crc32.Checksum(r.b[:n], castagnoli) != binary.LittleEndian.Uint32(r.b[n:]) {
		r.fail("the checksum is wrong")
		return
	}
	r.b = r.b[:n]
	if v := r.byte(); v != worldVersion {
		r.fail("version %d, and this build reads version %d", v, worldVersion)
		return
	}
	r.readTypes()
	r.hash = binary.LittleEndian.Uint64(append(slices.Clone(r.bytes(8)), make([]byte, 8)...))
	r.readTags()
	r.readParts()
	r.readPages()
	r.readAllocators()
	r.readReserves()
	r.readTables()
	r.checkParents()
	r.singleData = make([][]byte, len(r.singles))
	for i := range r.singles {
		r.singleData[i] = r.values(&r.singles[i], 1)
	}
	r.readWatches()
	if len(r.b) > 0 {
		r.fail("%d bytes are left", len(r.b))
	}
}

// readTypes reads the declaration, and finds this build's types by name if it is another one.
func (r *worldReader) readTypes() {
	text := r.bytes(r.number(len(r.b)))
	t := r.types
	r.link = readType{own: &t.link, node: t.link.node, fixed: t.link.fixed}
	if r.same = string(text) == t.declaration; r.same {
		for i := range t.comps {
			r.comps = append(r.comps, readType{&t.comps[i], t.comps[i].node, t.comps[i].fixed})
		}
		for i := range t.singles {
			r.singles = append(r.singles, readType{&t.singles[i], t.singles[i].node, t.singles[i].fixed})
		}
		for i := range r.w.types.watches {
			r.watches = append(r.watches, i)
		}
		return
	}
	rest := r.b
	r.b = text
	r.comps = r.readTypeList(t.comps, MaxTypes)
	r.singles = r.readTypeList(t.singles, maxSingletons)
	taken := make([]bool, len(r.w.types.watches))
	for range r.count(2) {
		with, ok := r.readMask()
		without, known := r.readMask()
		at := slices.IndexFunc(r.w.types.watches, func(v *Watch) bool {
			return ok && known && !taken[v.index] && v.query.with == with && v.query.without == without
		})
		if at >= 0 {
			taken[at] = true
		}
		r.watches = append(r.watches, at)
	}
	if len(r.b) > 0 {
		r.fail("the declaration is too long")
	}
	if r.err == nil {
		r.b = rest
	}
}

func (r *worldReader) readTypeList(own []worldType, most int) (out []readType) {
	n := r.number(most)
	for i := 0; i < n && r.err == nil; i++ {
		name := r.text(maxTypeName)
		from := r.b
		t := readType{node: r.readNode(0)}
		for k := range own {
			if own[k].d.name == name {
				tree := from[:len(from)-len(r.b)]
				t.own = &own[k]
				t.fixed = t.own.fixed && string(own[k].node.appendNode(nil)) == string(tree)
			}
		}
		if t.own != nil && (t.node.kind == reflect.Invalid) != (t.own.node.kind == reflect.Invalid) {
			t.own = nil // only one of the builds has a Coder for it
		}
		out = append(out, t)
	}
	return out
}

// readMask reads a component set of the declaration. ok is false if this build lacks one of the components.
func (r *worldReader) readMask() (m Mask, ok bool) {
	ok = true
	for _, id := range r.bytes(int(r.byte())) {
		if int(id) >= len(r.comps) || r.comps[id].own == nil {
			ok = false
			continue
		}
		m.Set(r.comps[id].own.d.id)
	}
	return m, ok
}

// readTags reads the tags. Those that no system and no world of this build has are left out.
func (r *worldReader) readTags() {
	t := r.w.types
	t.tagsMu.Lock()
	defer t.tagsMu.Unlock()
	for range r.count(1) {
		if i := slices.Index(t.tags, r.text(maxTypeName)); i >= 0 {
			r.tags |= 1 << i
		}
	}
}

func (r *worldReader) readParts() {
	n := r.count(2)
	for i := range n {
		p := readPart{owner: Owner(r.number(1<<16 - 1))}
		p.of = p.owner
		if of := r.number(1 << 16); of > 0 {
			p.of = Owner(of - 1)
		}
		if i > 0 && p.owner <= r.parts[i-1].owner {
			r.fail("the parts are not in order")
			return
		}
		r.parts = append(r.parts, p)
	}
}

func (r *worldReader) readPages() {
	n := r.count(3)
	if room := r.most/pageLen + int(ranges)*(len(r.parts)+1); n > room {
		if r.fail("%d pages of handles: there may be %d", n, room); n*pageLen <= maxSlot {
			r.err = fmt.Errorf("%w: %d pages of handles, of which %d may be read", ErrTooMany, n, room)
		}
		return
	}
	last := 0
	r.pages, r.records = make([]readPage, 0, n), make([]readRecord, 0, min(n*pageLen, len(r.b)))
	for i := 0; i < n && r.err == nil; i++ {
		page := readPage{n: uint32(last + r.number(farthestPage(n)-last)), from: len(r.records)}
		last = int(page.n) + 1
		home := r.number(len(r.parts)<<2 | 3)
		page.rng, page.home = Range(home&3), int32(home>>2)-1
		page.top = r.byte()
		if page.rng >= ranges || page.top > pageLen || last > maxSlot/pageLen {
			r.fail("page %d", page.n)
			return
		}
		if page.home < 0 {
			page.home = shared
		} else {
			p := &r.parts[page.home]
			page.pos = p.pages[page.rng]
			p.pages[page.rng]++
		}
		for k := range page.top {
			v := r.number(genMask<<recordBits | (1<<recordBits - 1))
			rec := readRecord{gen: uint32(v >> recordBits), state: uint8(v & (1<<recordBits - 1))}
			switch {
			case rec.state > recordLink || rec.state != recordDead && rec.gen == 0:
				r.fail("record %d of page %d", k, page.n)
			case rec.state == recordLink:
				rec.link = 1 + int32(r.number(len(r.parts)-1))
				if page.home != shared {
					page.away |= 1 << k
				}
			case rec.state == recordLive:
				r.live++
			}
			r.records = append(r.records, rec)
		}
		r.pages = append(r.pages, page)
	}
	r.pageAt = make([]int32, last)
	for i := range r.pages {
		r.pageAt[r.pages[i].n] = int32(i) + 1
	}
	if r.live > maxSlot/4 {
		r.fail("%d entities", r.live)
	}
}

// pageOf returns the page of a slot. It returns nil if there is none.
func (r *worldReader) pageOf(slot uint32) *readPage {
	if n := slot >> pageBits; int(n) < len(r.pageAt) && r.pageAt[n] > 0 {
		return &r.pages[r.pageAt[n]-1]
	}
	return nil
}

// record returns the record of a slot with its page. It returns nil if there is none.
func (r *worldReader) record(slot uint32) (*readRecord, *readPage) {
	page := r.pageOf(slot)
	if page == nil || slot&(pageLen-1) >= uint32(page.top) {
		return nil, page
	}
	return &r.records[page.from+int(slot&(pageLen-1))], page
}

// nth returns the place of a slot among those of its allocator.
func (p *readPage) nth(slot uint32) uint32 { return p.pos<<pageBits | slot&(pageLen-1) }

func (r *worldReader) readAllocators() {
	for i := range r.parts {
		p := &r.parts[i]
		for rng := range ranges {
			used := r.number(int(p.pages[rng]) << pageBits)
			if p.used[rng] = uint32(used); used == 0 {
				continue
			}
			p.free[rng] = r.count(1)
			r.next = 0
			for range p.free[rng] {
				slot := r.slot()
				rec, page := r.record(slot)
				if rec == nil || page.home != int32(i) || page.rng != rng || rec.state != recordDead || rec.gen == 0 || page.nth(slot) >= p.used[rng] {
					r.fail("slot %d is not free", slot)
					return
				}
				rec.state = recordFree
				r.slots = append(r.slots, slot)
			}
		}
	}
	r.next = 0
	for range r.count(1) {
		slot := r.slot()
		rec, page := r.record(slot)
		if rec == nil || page.home == shared {
			r.fail("slot %d does not wait for its part", slot)
			return
		}
		r.strays = append(r.strays, slot)
	}
}

func (r *worldReader) readReserves() {
	for rng := range ranges {
		if left := r.number(pageLen); left > 0 {
			n := r.number(maxSlot >> pageBits)
			page := r.pageOf(uint32(n) << pageBits)
			if page == nil || page.home != shared || page.rng != rng {
				r.fail("page %d is not reserved", n)
				return
			}
			r.reserves[rng] = reserved{uint32(n), uint32(left)}
		}
	}
	for i := range r.parts {
		for rng := range ranges {
			for range r.count(2) {
				slot, gen := uint32(r.number(maxSlot)), uint32(r.number(genMask))
				page := r.pageOf(slot)
				if page == nil || page.home != shared || page.rng != rng || gen == 0 {
					r.fail("slot %d is not reserved", slot)
					return
				}
				p := &r.parts[i]
				p.reserved[rng] = append(p.reserved[rng], makeEntity(rng, slot, gen))
			}
		}
	}
}

func (r *worldReader) readTables() {
	n := r.count(4)
	if n > tableMask-nobodysTables {
		r.fail("%d tables", n)
	}
	for i := 0; i < n && r.err == nil; i++ {
		r.readTable()
	}
	for _, t := range r.tables {
		r.live -= len(t.ids)
	}
	if r.live != 0 {
		r.fail("%d entities are in no table", r.live)
	}
}

func (r *worldReader) readTable() {
	t := readTable{part: r.number(len(r.parts) - 1)}
	before := -1
	for _, id := range r.bytes(r.number(MaxTypes + 1)) {
		if int(id) <= before || ID(id) != linkID && int(id) >= len(r.comps) {
			r.fail("component %d of a table", id)
			return
		}
		before = int(id)
		of := &r.link
		if ID(id) != linkID {
			of = &r.comps[id]
		}
		if t.types = append(t.types, of); of.own != nil {
			t.mask.Set(of.own.d.id)
		}
	}
	rows := r.count(1)
	if rows == 0 {
		r.fail("a table without rows")
	}
	r.next, t.ids = 0, make([]Entity, 0, rows)
	for range rows {
		slot := r.slot()
		if r.err != nil {
			return
		}
		rec, page := r.record(slot)
		if rec == nil || rec.state != recordLive {
			r.fail("slot %d has no entity, or is in two tables", slot)
			return
		}
		if page.home != shared {
			if page.nth(slot) >= r.parts[page.home].used[page.rng] {
				r.fail("slot %d has an entity and was never used", slot)
				return
			}
			if page.home != int32(t.part) {
				page.away |= 1 << (slot & (pageLen - 1))
			}
		}
		rec.state = recordPlaced
		t.ids = append(t.ids, makeEntity(page.rng, slot, rec.gen))
	}
	for _, of := range t.types {
		t.columns = append(t.columns, r.values(of, rows))
	}
	r.tables = append(r.tables, t)
}

// values passes over n values of a type, checks them and returns their bytes.
func (r *worldReader) values(t *readType, n int) []byte {
	from := r.b
	switch {
	case t.node.least == 0:
	case n > len(r.b)/t.node.least:
		r.fail("the values end too early")
	case t.fixed:
		b := r.bytes(n * t.own.length)
		for _, at := range t.own.bools {
			for i := at; i < len(b); i += t.own.length {
				if b[i] > 1 {
					r.fail("a bool is neither true nor false")
					return nil
				}
			}
		}
	case t.node.kind == reflect.Invalid:
		for i := 0; i < n && r.err == nil; i++ {
			if b := r.bytes(r.number(len(r.b))); t.own != nil && r.err == nil {
				if err := t.own.d.coder.read(b, t.own.d.ops.alloc(1)); err != nil {
					r.fail("%s: %w", t.own.d.name, err)
				}
			}
		}
	default:
		var own *typeNode
		if t.own != nil {
			own = t.own.node
		}
		for i := 0; i < n && r.err == nil; i++ {
			r.skipValue(t.node, own)
		}
	}
	if r.err != nil {
		return nil
	}
	return from[:len(from)-len(r.b)]
}

// checkParents refuses entities that are above themselves.
func (r *worldReader) checkParents() {
	var parents []Entity // parents has the parents by record.
	for _, t := range r.tables {
		if n := len(t.types) - 1; n >= 0 && t.types[n] == &r.link && r.err == nil {
			if parents == nil {
				parents = make([]Entity, len(r.records))
			}
			for i, e := range t.ids {
				parents[r.recordOf(e)] = Entity(binary.LittleEndian.Uint64(t.columns[n][8*i:]))
			}
		}
	}
	done := make([]bool, len(parents))
	var path []int
	for from := range parents {
		path = path[:0]
		for at := from; at >= 0 && !done[at] && parents[at] != None; at = r.recordOf(parents[at]) {
			if len(path) > 0 && at == from || len(path) > len(parents) {
				r.fail("an entity is above itself")
				return
			}
			path = append(path, at)
		}
		for _, at := range path {
			done[at] = true
		}
		done[from] = true
	}
}

// recordOf returns the index of a living entity's record, or -1.
func (r *worldReader) recordOf(e Entity) int {
	rec, page := r.record(e.index())
	if rec == nil || rec.state != recordPlaced || makeEntity(page.rng, e.index(), rec.gen) != e {
		return -1
	}
	return page.from + int(e.index()&(pageLen-1))
}

func (r *worldReader) readWatches() {
	for _, own := range r.watches {
		for part := range r.parts {
			n := r.number(membersListed + len(r.b)/8)
			if n == membersNone {
				continue
			}
			m := readMembers{watch: own, part: part, now: n == membersNow}
			if n >= membersListed {
				m.list = r.bytes(8 * (n - membersListed))
			}
			for i := 0; i < len(m.list); i += 8 {
				if e := Entity(binary.LittleEndian.Uint64(m.list[i:])); int(e.index()>>pageBits) >= len(r.pageAt) {
					r.fail("a watch has reported %v, which never was", e)
					return
				}
			}
			if own >= 0 {
				r.members = append(r.members, m)
			}
		}
	}
}

// takeValues reads n values into memory. b is what values returned for them.
func (r *worldReader) takeValues(t *readType, b []byte, p unsafe.Pointer, n int) {
	if t.own == nil || t.own.d.size == 0 {
		return
	}
	d := t.own.d
	switch {
	case t.fixed && d.solid:
		copy(unsafe.Slice((*byte)(p), uintptr(n)*d.size), b)
		return
	case t.fixed:
		for i := range uintptr(n) {
			for _, s := range d.spans {
				b = b[copy(unsafe.Slice((*byte)(unsafe.Add(p, i*d.size+s.from)), s.to-s.from), b):]
			}
		}
		return
	}
	d.ops.clear(p, n)
	in := worldReader{b: b}
	for i := range uintptr(n) {
		at := unsafe.Add(p, i*d.size)
		if d.coder == nil {
			in.takeValue(t.node, t.own.node, at)
			continue
		}
		if err := d.coder.read(in.bytes(in.number(len(in.b))), at); err != nil {
			r.fail("%s: %w", d.name, err)
		}
	}
}
