package ecs

import (
	"slices"

	"github.com/foretick/foretick/internal/misuse"
)

// An entity record is eight bytes: the current handle of its slot (generation
// on top) XOR a place, which is row (24 bits) and table (16 bits). So a current
// handle XOR the record is the place. For a stale handle the result has
// generation bits above every place, but the table is still right. Table 0
// means that there is no row. Then the row field links the free list (slot +
// 1), or, in a page without an allocator, names the entity's last part + 1. A
// pristine record has generation 0 and equals the slot's number; it also has no
// row.
const (
	rowShift  = 16
	rowMask   = 1<<24 - 1
	tableMask = 1<<rowShift - 1

	pageBits = 6
	pageLen  = 1 << pageBits
	maxSlot  = rowMask - 1
)

func makeRecord(e Entity, table uint16, row uint32) uint64 {
	return uint64(e) ^ (uint64(row)<<rowShift | uint64(table))
}

func tableOf(place uint64) uint16 { return uint16(place) }
func rowOf(place uint64) int32    { return int32(place >> rowShift) }

// pristine resets records to those of slots that were never used.
func pristine(recs []uint64, slot uint32) {
	for i := range recs {
		recs[i] = uint64(slot) + uint64(i)
	}
}

// held returns the handle in a record of a page of range r, and its place.
func held(rec uint64, r Range, slot uint32) (Entity, uint64) {
	e := makeEntity(r, slot, uint32(rec>>genShift))
	if e.Generation() == 0 {
		return e, 0
	}
	return e, rec ^ uint64(e)
}

// A page of records belongs to the part that allocates from it, so an owner's
// part is saved and restored with its own handles only. A restore never undoes
// a claim: a part that runs again after a rollback finds the same pages in the
// same order. (That of an exact history does: see [Control.NewExactHistory].)
//
// All ranges share one array, so that random access need not distinguish them.
// Pages are dealt to them in groups of eight (4 KiB of records). Of every four
// groups, two go to the server, one to prediction and one to local entities.
const (
	homeless = -1 // no part allocates from the page
	shared   = -2 // the page was claimed for Place or Reserve

	groupPages = 8
)

type page struct {
	version uint64 // version identifies the content of the records. 0 means pristine.
	away    uint64 // away has a bit for each record whose entity lives in another part than the page's.
	home    int32  // home is the index of the part, or homeless, or shared.
	pos     int32  // pos is the index of the page in the part's list.
	rng     Range  // rng is the range of the page. It has no meaning while the page is homeless.
	top     uint8  // top is the index from which on records are pristine.
}

// dealt returns the range that a page is meant for. (Place may have put an
// entity of another range there first.)
func dealt(page uint32) Range {
	if g := page / groupPages & 3; g >= 2 {
		return Range(g - 1)
	}
	return RangeServer
}

// allocator hands out the indices of one range for one part.
type allocator struct {
	pages []uint32
	counters
}

// counters is the state of an allocator that a save keeps.
type counters struct {
	used uint32 // used counts the records that were taken from the pages in order.
	free uint32 // free is 1 + the index of the newest free record.
}

// reserve grows the record array to at least that many pages.
func (w *World) reserve(pages int) {
	have := len(w.pages)
	if pages <= have {
		return
	}
	pages = max(pages, 2*have)
	w.pages = slices.Grow(w.pages, pages-have)[:pages]
	for i := have; i < pages; i++ {
		w.pages[i] = page{home: homeless}
	}
	rec := make([]uint64, pages*pageLen)
	pristine(rec[copy(rec, w.rec):], uint32(len(w.rec)))
	w.rec = rec
}

// nextFree finds the next unclaimed page of a range.
func (w *World) nextFree(r Range) uint32 {
	at := w.firstFree[r]
	for dealt(at) != r || int(at) < len(w.pages) && w.pages[at].home != homeless {
		at++
	}
	if at<<pageBits+pageLen > maxSlot {
		misuse.Panicf("ecs: no index left in range %v", r)
	}
	w.reserve(int(at) + 1)
	w.firstFree[r] = at + 1
	w.claimed = max(w.claimed, int(at)+1)
	return at
}

// claim gives a part another page of a range.
func (w *World) claim(p *part, r Range) {
	at := w.nextFree(r)
	pg := &w.pages[at]
	w.claims = w.version
	pg.home, pg.rng, pg.pos = p.index, r, int32(len(p.alloc[r].pages))
	p.alloc[r].pages = append(p.alloc[r].pages, at)
}

// allocate takes an index for a part and returns its handle.
func (w *World) allocate(p *part, r Range) Entity {
	a := &p.alloc[r]
	var slot uint32
	if a.free != 0 {
		slot = a.free - 1
		e, place := held(w.rec[slot], r, slot)
		a.free = uint32(rowOf(place))
		return e
	}
	n := a.used >> pageBits
	if int(n) == len(a.pages) {
		w.claim(p, r)
	}
	slot = a.pages[n]<<pageBits | a.used&(pageLen-1)
	a.used++
	w.pages[slot>>pageBits].top = uint8(slot&(pageLen-1)) + 1
	gen := uint32(w.rec[slot] >> genShift)
	if gen == 0 {
		gen = 1
	}
	return makeEntity(r, slot, gen)
}

// placeRecord records where a living entity's row is.
func (w *World) placeRecord(e Entity, t *table, row int32) {
	slot := e.index()
	w.rec[slot] = makeRecord(e, t.id, uint32(row))
	w.pages[slot>>pageBits].version = w.version
}

// releaseIndex frees the index of an entity that lived in part p.
func (w *World) releaseIndex(e Entity, p *part) {
	slot := e.index()
	gen := e.Generation() + 1
	if gen > genMask {
		gen = 1
	}
	pg := &w.pages[slot>>pageBits]
	pg.version = w.version
	next := makeEntity(pg.rng, slot, gen)
	if pg.home != p.index {
		w.rec[slot] = makeRecord(next, 0, uint32(p.index)+1)
		if pg.home >= 0 {
			w.strays = append(w.strays, slot)
		}
		return
	}
	a := &p.alloc[pg.rng]
	w.rec[slot] = makeRecord(next, 0, a.free)
	a.free = slot + 1
}

// maxStrays is the most indices of entities that died in a foreign part and
// wait to be returned. Returning them voids the histories of the parts
// concerned.
const maxStrays = 256

// returnStrays returns the indices of entities that died in a foreign part to
// the part that owns the page.
func (w *World) returnStrays() {
	w.version++
	for _, slot := range w.strays {
		pg := &w.pages[slot>>pageBits]
		e, place := held(w.rec[slot], pg.rng, slot)
		if tableOf(place) != 0 || pg.away>>(slot&(pageLen-1))&1 == 0 {
			continue // taken again by Place
		}
		home := w.parts[pg.home]
		home.cut = w.version
		if last := rowOf(place); last > 0 {
			w.parts[last-1].cut = w.version
		}
		a := &home.alloc[pg.rng]
		pg.away &^= 1 << (slot & (pageLen - 1))
		pg.version = w.version
		w.rec[slot] = makeRecord(e, 0, a.free)
		a.free = slot + 1
	}
	w.strays = w.strays[:0]
}

// takeIndex prepares a given index for Place: claimed, and in no free list.
func (w *World) takeIndex(e Entity, p *part) error {
	r, slot := e.Range(), e.index()
	if r >= ranges || slot > maxSlot || e.Generation() == 0 || e != makeEntity(r, slot, e.Generation()) {
		return ErrStale
	}
	w.reserve(int(slot>>pageBits) + 1)
	pg := &w.pages[slot>>pageBits]
	if pg.home == homeless {
		pg.home, pg.rng, pg.top = shared, r, pageLen
		w.claimed = max(w.claimed, int(slot>>pageBits)+1)
	}
	if pg.rng != r {
		return ErrOccupied
	}
	_, place := held(w.rec[slot], r, slot)
	if tableOf(place) != 0 {
		return ErrOccupied
	}
	bit := uint64(1) << (slot & (pageLen - 1))
	if pg.home == shared || pg.away&bit != 0 {
		if last := rowOf(place); last > 0 && last-1 != p.index {
			w.parts[last-1].cut = w.version // the saves of that part would bring the old entity back
		}
		if pg.home == p.index {
			pg.away &^= bit
			p.cut = w.version
		}
		return nil
	}
	home := w.parts[pg.home]
	w.unlink(home, slot, pg)
	if home != p {
		pg.away |= bit
		home.cut = w.version
		p.cut = w.version
	}
	return nil
}

// unlink removes a dead index from an allocator.
func (w *World) unlink(p *part, slot uint32, pg *page) {
	a := &p.alloc[pg.rng]
	nth := uint32(pg.pos)<<pageBits | slot&(pageLen-1)
	if nth >= a.used {
		for ; a.used < nth; a.used++ { // skipped indices become free
			s := a.pages[a.used>>pageBits]<<pageBits | a.used&(pageLen-1)
			w.rec[s] = makeRecord(makeEntity(pg.rng, s, max(1, uint32(w.rec[s]>>genShift))), 0, a.free)
			w.pages[s>>pageBits].version = w.version
			w.pages[s>>pageBits].top = uint8(s&(pageLen-1)) + 1
			a.free = s + 1
		}
		a.used = nth + 1
		pg.top = uint8(slot&(pageLen-1)) + 1
		return
	}
	_, place := held(w.rec[slot], pg.rng, slot)
	if a.free == slot+1 {
		a.free = uint32(rowOf(place))
		return
	}
	for at := a.free; at != 0; {
		e, link := held(w.rec[at-1], pg.rng, at-1)
		next := uint32(rowOf(link))
		if next == slot+1 {
			w.rec[at-1] = makeRecord(e, 0, uint32(rowOf(place)))
			w.pages[(at-1)>>pageBits].version = w.version
			return
		}
		at = next
	}
}
