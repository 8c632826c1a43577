package ecs

import "github.com/foretick/foretick/internal/misuse"

// reserved hands out the indices that Reserve takes out of circulation. They
// belong to no part, so no restore brings back a handle that was given out.
type reserved struct {
	page uint32 // page is the page of fresh indices.
	left uint32 // left is the number of fresh indices left in page.
}

// Reserve takes a fresh handle out of circulation, for a later [Control.Place]
// with that owner. Spawn never returns such a handle, and no restore frees it.
// So an entity keeps its handle when it is placed, rolled back and placed
// again. [Control.Unreserve] returns the handle. Reserve panics with [UsageError]
// when the range does not exist or is used up.
func (c *Control) Reserve(r Range, owner Owner) Entity {
	w := c.world()
	if r >= ranges {
		misuse.Panicf("ecs: reserve in %v: use RangeServer, RangePredicted or RangeLocal", r)
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

// Unreserve returns a handle to the pool, to be reserved again with the next
// generation. The caller must not place it again, or restore a save that
// contains its entity. It returns false when the entity is alive or the handle
// is not reserved, such as [None].
func (c *Control) Unreserve(e Entity) bool {
	w := c.world()
	slot := e.index()
	if uint64(slot) >= uint64(len(w.rec)) || w.pages[slot>>pageBits].home != shared || e.Range() >= ranges {
		return false
	}
	_, place := held(w.rec[slot], e.Range(), slot)
	if tableOf(place) != 0 || e.Generation() == 0 { // None has index 0, which may be another handle's
		return false
	}
	// The part where the entity died can place the handle again without voiding any saves.
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
