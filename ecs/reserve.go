package ecs

// reserved hands out the indices that Reserve takes out of circulation. They
// are no part's, so that no restore brings a handle back that was given out.
type reserved struct {
	page uint32 // where fresh ones come from
	left uint32 // how many it still has
}

// Reserve takes a fresh handle out of circulation, for [World.Place] to make an
// entity of that owner's with. No Spawn answers it, and no restore makes it fresh
// again: what is placed with it, rolled back and placed anew keeps its handle.
// [World.Unreserve] gives it back. It panics with [UsageError] when the range
// does not exist or is used up.
func (w *World) Reserve(r Range, owner Owner) Entity {
	if r >= ranges {
		misuse("reserve in %v: use RangeServer, RangePredicted or RangeLocal", r)
	}
	p := w.partOf(owner)
	if n := len(p.reserved[r]); n > 0 {
		e := p.reserved[r][n-1]
		p.reserved[r] = p.reserved[r][:n-1]
		return e
	}
	s := &w.reserves[r]
	if s.left == 0 {
		s.page, s.left = w.nextFree(r), pageLen
		pg := &w.pages[s.page]
		pg.home, pg.rng, pg.top = shared, r, pageLen
	}
	slot := s.page<<pageBits | (pageLen - s.left)
	s.left--
	return makeEntity(r, slot, 1)
}

// Unreserve gives a handle back, to be reserved again with the next generation.
// The caller must not place it again, nor restore a save in which it lives. False
// when its entity lives, or it is no reserved one.
func (w *World) Unreserve(e Entity) bool {
	slot := e.slot()
	if uint64(slot) >= uint64(len(w.rec)) || w.pages[slot>>pageBits].home != shared || e.Range() >= ranges {
		return false
	}
	_, place := held(w.rec[slot], e.Range(), slot)
	if tableOf(place) != 0 {
		return false
	}
	// Where it died it can be placed again without voiding anybody's saves.
	p := w.parts[0]
	if last := rowOf(place); last > 0 {
		p = w.parts[last-1]
	}
	gen := e.Generation() + 1
	if gen > genMask {
		gen = 1
	}
	p.reserved[e.Range()] = append(p.reserved[e.Range()], makeEntity(e.Range(), slot, gen))
	return true
}
