package snapshot

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/schema"
)

// The memory that a receiver allocates for a snapshot is bounded by the snapshot's length,
// because a few bytes can name very many values. An honest snapshot may need more at once
// when very much begins to move. It is refused, as if it were lost, until enough credit is
// saved up. Memory allocated until then is kept.

const (
	readCredit = 52 << 10 // bytes, plus twice the snapshot's length
	chunkWords = 2048
	chunkOf    = 128 // records

	leastVersions = 8  // versions that a new ghost has room for
	mustVersions  = 32 // versions that a ghost must have room for before its oldest is replaced
)

// Sizes in memory.
const (
	spanBytes    = int(unsafe.Sizeof(span{}))
	ghostBytes   = int(unsafe.Sizeof(Ghost{}))
	versionBytes = int(unsafe.Sizeof(ghostVersion{}))
	pointerBytes = int(unsafe.Sizeof((*ghostVersion)(nil)))
	changeBytes  = int(unsafe.Sizeof(Change{}))
	chunkBytes   = int(unsafe.Sizeof([chunkOf]record{}))
	pageBytes    = int(unsafe.Sizeof([pageSlots]wireSlot{}))
	maskBytes    = 32 // the part of a mask for ids from 64 on
)

// grantCredit gives a snapshot of n bytes its memory credit.
func (r *Receiver) grantCredit(n int) {
	r.credit = readCredit*max(r.cfg.Spawns, maxSpawns)/maxSpawns + 2*n
}

// spend takes n bytes of the credit, if it has them. If n is more than any snapshot's
// credit, it saves up for them.
func (r *Receiver) spend(n int) bool {
	switch {
	case n <= r.credit:
		r.credit -= n
		return true
	case n <= readCredit:
	case n <= r.credit+r.saved:
		r.credit, r.saved = 0, 0
		return true
	default:
		r.credit, r.saved = 0, r.saved+r.credit
	}
	return false
}

// recordList stores records in chunks, so that adding one moves none.
type recordList struct {
	chunks []*[chunkOf]record
	n      int
}

func (l *recordList) reset() { l.n = 0 }

func (l *recordList) recordAt(i int) *record { return &l.chunks[i/chunkOf][i%chunkOf] }

func (l *recordList) addRecord(r *Receiver, rec *record) bool {
	if l.n == len(l.chunks)*chunkOf {
		if !r.spend(chunkBytes) {
			return false
		}
		l.chunks = append(l.chunks, new([chunkOf]record))
	}
	l.n++
	*l.recordAt(l.n - 1) = *rec
	return true
}

// wordArena stores words in chunks.
type wordArena struct {
	chunks   [][]int32
	at, used int
}

func (a *wordArena) reset() { a.at, a.used = 0, 0 }

// takeWords returns room for n words, or false if there is no credit for it.
func (a *wordArena) takeWords(r *Receiver, n int) ([]int32, bool) {
	for ; a.at < len(a.chunks); a.at, a.used = a.at+1, 0 {
		if c := a.chunks[a.at]; a.used+n <= len(c) {
			a.used += n
			return c[a.used-n : a.used : a.used], true
		}
	}
	size := max(n, chunkWords)
	if !r.spend(4 * size) {
		return nil, false
	}
	a.chunks, a.used = append(a.chunks, make([]int32, size)), n
	return a.chunks[a.at][:n:n], true
}

// charge counts a record and gives it room for its n words.
func (r *Receiver) charge(rec *record, n int) (err error) {
	slot := r.wireSlot(rec.wire)
	fresh := slot == nil || slot.ghost == nil || slot.ghost.Born != rec.born
	if !r.load.addCandidate(&candidate{spawn: fresh, words: int32(n)}) {
		return malformed("too many records or spawns")
	}
	words, ok := r.words.takeWords(r, n)
	if !ok || !rec.stale && !r.reserve(slot, fresh, n) {
		return ErrHeavy
	}
	rec.words = words
	return nil
}

// reserve allocates the memory to apply a record of n words. The memory is kept if the
// snapshot is refused.
func (r *Receiver) reserve(slot *wireSlot, fresh bool, n int) bool {
	var g *Ghost
	switch {
	case !fresh:
		g = slot.ghost
	case r.load.n <= len(r.pool):
		g = r.pool[len(r.pool)-r.load.n]
	case !r.spend(ghostBytes + leastVersions*pointerBytes):
		return false
	default:
		g = &Ghost{r: r}
		r.pool = slices.Insert(r.pool, 0, g)
	}
	if g.mustGrow() {
		slots := g.slots()
		if !fresh && !r.spend(slots*pointerBytes) {
			return false
		}
		g.lengthen(slots)
	}
	at := (g.head + 1) & (len(g.vers) - 1)
	if g.vers[at] == nil {
		if !r.spend(versionBytes) {
			return false
		}
		g.vers[at] = r.newVersion()
	}
	if v := g.vers[at]; cap(v.words) < n {
		if !r.spend(4 * n) {
			return false
		}
		v.words = append(r.newWords(n), v.words...)
	}
	return true
}

// newVersion and newWords cut memory from bigger chunks. The caller has spent credit for it.
func (r *Receiver) newVersion() *ghostVersion {
	if len(r.newVers) == 0 {
		r.newVers = make([]ghostVersion, 64)
	}
	v := &r.newVers[0]
	r.newVers = r.newVers[1:]
	return v
}

func (r *Receiver) newWords(n int) []int32 {
	if n > len(r.newInts) {
		if n > chunkWords/8 {
			return make([]int32, 0, n)
		}
		r.newInts = make([]int32, chunkWords/2)
	}
	w := r.newInts[:0:n]
	r.newInts = r.newInts[n:]
	return w
}

// prepare pays for the remaining memory of a snapshot and allocates its lists. After it the snapshot cannot be
// refused.
func (r *Receiver) prepare(t schema.Tick) error {
	if !r.spend(r.opened * pageBytes) {
		return ErrHeavy
	}
	if r.wholes = 0; len(r.rooms) > 0 && !r.reserveRooms() {
		return ErrHeavy
	}
	if n := len(r.gone) + r.records.n + r.wholes; n > cap(r.changes) {
		if n = max(n, min(2*cap(r.changes), maxRecords+maxLeaving)); !r.spend(n * changeBytes) {
			return ErrHeavy
		}
		r.changes = make([]Change, 0, n)
	}
	if e := &r.ring[int(t)&(len(r.ring)-1)]; len(r.spans) > cap(e.late) {
		if !r.spend(len(r.spans) * spanBytes) {
			return ErrHeavy
		}
		e.late = make([]span, 0, len(r.spans))[:0]
	}
	return nil
}
