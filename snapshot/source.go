package snapshot

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// SourceConfig configures a [Source].
type SourceConfig struct {
	// History is the number of versions of each entity that are kept to be
	// baselines, rounded up to a power of two. 0 means 64; more costs memory only.
	History int
}

// Source is the server's quantised world: for each entity its newest value and the
// versions before it, for both audiences. What was sent never changes afterwards.
type Source struct {
	reg     *Registry
	history int
	tick    Tick
	open    bool
	slots   []*entity
	hot     []slotHot // what senders ask of every slot in every tick
	removed uint32    // counts removals
	spawned uint32    // and entities put for the first time
	free    []int32
	index   map[NetID]int32
	order   []int32 // live slots by network id
	fresh   []int32 // put for the first time this tick
	tmp     [audiences][]int32
}

// entity is the history of one network id.
type entity struct {
	id     NetID
	slot   int32
	kind   int
	seen   Tick
	stride int // words of one audience of one version
	vers   []version
	words  []int32 // two audiences a version, each without the components it lacks
	head   int     // index of the newest version
	n      int
}

// slotHot is the part of an entity that decides whether there is news of it.
type slotHot struct {
	id    NetID // 0: the slot is free
	owner uint16
	refs  bool // some component may hold references
	// changed is the newest tick at which an audience would see a difference.
	changed [audiences]Tick
}

// version is an entity's value from tick on, until the next version.
type version struct {
	tick  Tick
	owner uint16
	mask  uint64
}

// NewSource returns an empty source and freezes the registry.
func NewSource(r *Registry, cfg SourceConfig) *Source {
	r.frozen = true
	h := cfg.History
	if h <= 0 {
		h = 64
	}
	return &Source{reg: r, history: 1 << bits.Len(uint(h-1)), index: map[NetID]int32{}}
}

// Tick is the tick of the last Begin.
func (s *Source) Tick() Tick { return s.tick }

// Len is the number of entities.
func (s *Source) Len() int { return len(s.order) }

// Begin opens a tick, later than the one before and not 0. It panics with a
// [*UsageError] otherwise.
func (s *Source) Begin(t Tick) {
	if s.open {
		panic(&UsageError{"Source.Begin", "the tick before was not ended: call End"})
	}
	if t == 0 || (s.tick != 0 && !after(t, s.tick)) {
		panic(&UsageError{"Source.Begin", fmt.Sprintf("tick %d after %d: ticks start at 1 and increase", t, s.tick)})
	}
	s.tick, s.open = t, true
}

// Put gives an entity's value in this tick: bit c of mask says that it has
// component c, and comps holds the addresses of the components in the order of
// their ids. Both grids are quantised, and compared with the newest version; only
// what changed makes a new one. A network id keeps its kind. Put panics with a
// [*UsageError] when called wrongly; it does not allocate once an entity's history
// has grown to its length.
func (s *Source) Put(id NetID, kind int, owner uint16, mask uint64, comps []unsafe.Pointer, refs Refs) {
	e := s.entity(id, kind, mask, len(comps))
	n := s.reg.wordsOf(mask)
	for a := range s.tmp {
		if len(s.tmp[a]) < n {
			s.tmp[a] = make([]int32, n)
		}
	}
	own, pub := s.tmp[audienceOwner][:n], s.tmp[audiencePublic][:n]
	off := 0
	for i, m := 0, mask; m != 0; i, m = i+1, m&(m-1) {
		c := s.reg.comps[bits.TrailingZeros64(m)]
		c.Quantise(comps[i], GridSim, refs, own[off:off+c.words])
		off += c.words
	}
	if e.n > 0 {
		v := &e.vers[e.head]
		if v.mask == mask && v.owner == owner && slices.Equal(own, e.lane(e.head, audienceOwner)[:n]) {
			return
		}
	}
	s.publish(mask, own, pub)
	s.push(e, owner, mask, n)
}

// publish makes everybody's words: components of which they receive nothing are
// left out.
func (s *Source) publish(mask uint64, own, pub []int32) {
	from, to := 0, 0
	for m := mask; m != 0; m &= m - 1 {
		c := s.reg.comps[bits.TrailingZeros64(m)]
		if !c.ownerOnly {
			c.publish(own[from:from+c.words], pub[to:to+c.words])
			to += c.words
		}
		from += c.words
	}
}

// entity finds or makes the entity of a Put, and checks the call.
func (s *Source) entity(id NetID, kind int, mask uint64, comps int) *entity {
	switch {
	case !s.open:
		panic(&UsageError{"Source.Put", "no tick is open: call Begin"})
	case id == 0:
		panic(&UsageError{"Source.Put", "network id 0 is none: start at 1"})
	case kind < 0 || kind >= len(s.reg.kinds):
		panic(&UsageError{"Source.Put", fmt.Sprintf("kind %d is not registered", kind)})
	case bits.OnesCount64(mask) != comps || mask>>len(s.reg.comps) != 0 && len(s.reg.comps) < 64:
		panic(&UsageError{"Source.Put", fmt.Sprintf("mask %b does not fit %d pointers and %d registered components", mask, comps, len(s.reg.comps))})
	}
	if slot, ok := s.index[id]; ok {
		e := s.slots[slot]
		if e.kind != kind {
			panic(&UsageError{"Source.Put", fmt.Sprintf("entity %d changes from kind %d to %d: give it a new network id", id, e.kind, kind)})
		}
		if e.seen == s.tick {
			panic(&UsageError{"Source.Put", fmt.Sprintf("entity %d is put twice in tick %d", id, s.tick)})
		}
		e.seen = s.tick
		return e
	}
	var slot int32
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	} else {
		slot = int32(len(s.slots))
		s.slots = append(s.slots, &entity{})
		s.hot = append(s.hot, slotHot{})
	}
	e := s.slots[slot]
	*e = entity{id: id, slot: slot, kind: kind, seen: s.tick, stride: e.stride, vers: e.vers, words: e.words, head: -1}
	s.hot[slot] = slotHot{id: id}
	s.index[id] = slot
	s.fresh = append(s.fresh, slot)
	s.spawned++
	return e
}

// push makes a version of the words in tmp.
func (s *Source) push(e *entity, owner uint16, mask uint64, n int) {
	own, pub := s.tmp[audienceOwner][:n], s.tmp[audiencePublic][:n]
	sawOwn, sawPub := true, true
	if e.n > 0 {
		if v := &e.vers[e.head]; v.owner == owner {
			sawOwn = v.mask != mask || s.differ(mask, own, e.lane(e.head, audienceOwner))
			pm := s.reg.visibleMask(mask, audiencePublic)
			sawPub = pm != s.reg.visibleMask(v.mask, audiencePublic) || s.differ(pm, pub, e.lane(e.head, audiencePublic))
		}
	}
	s.room(e, n)
	e.head = (e.head + 1) & (len(e.vers) - 1)
	e.n = min(e.n+1, len(e.vers))
	e.vers[e.head] = version{s.tick, owner, mask}
	copy(e.lane(e.head, audienceOwner), own)
	copy(e.lane(e.head, audiencePublic), pub)
	h := &s.hot[e.slot]
	h.owner, h.refs = owner, h.refs || s.hasRefs(mask)
	if sawOwn {
		h.changed[audienceOwner] = s.tick
	}
	if sawPub {
		h.changed[audiencePublic] = s.tick
	}
}

// differ compares the words of equal masks, references apart: what they mean to a
// viewer is the sender's business.
func (s *Source) differ(mask uint64, a, b []int32) bool { return s.reg.differ(mask, a, b) }

func (r *Registry) differ(mask uint64, a, b []int32) bool {
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		c := r.comps[bits.TrailingZeros64(m)]
		if c.differ(a[off:off+c.words], b[off:off+c.words]) {
			return true
		}
		off += c.words
	}
	return false
}

// differ tells whether two vectors differ in a word that is no reference.
func (s *Schema) differ(a, b []int32) bool {
	if len(s.refWords) == 0 {
		return !slices.Equal(a, b)
	}
	from := 0
	for _, w := range s.refWords {
		if !slices.Equal(a[from:w], b[from:w]) {
			return true
		}
		from = w + 1
	}
	return !slices.Equal(a[from:], b[from:])
}

func (s *Source) hasRefs(mask uint64) bool {
	for m := mask; m != 0; m &= m - 1 {
		if len(s.reg.comps[bits.TrailingZeros64(m)].refWords) > 0 {
			return true
		}
	}
	return false
}

// room makes place for one more version of n words: histories start small, double
// when full, and stop at the configured length.
func (s *Source) room(e *entity, n int) {
	slots, stride := len(e.vers), max(e.stride, n)
	if e.n == slots && slots < s.history {
		slots = min(max(2*slots, 4), s.history)
	}
	if slots == len(e.vers) && stride == e.stride {
		return
	}
	vers, words := make([]version, slots), make([]int32, slots*stride*int(audiences))
	old := *e
	e.vers, e.words, e.stride = vers, words, stride
	for i := range old.n { // oldest first, from index 0
		from := (old.head - old.n + 1 + i + len(old.vers)) & (len(old.vers) - 1)
		vers[i] = old.vers[from]
		for a := range audiences {
			copy(e.lane(i, a), old.lane(from, a))
		}
	}
	e.head = old.n - 1
}

// lane is the storage of one audience's words in version i.
func (e *entity) lane(i int, a audience) []int32 {
	from := (i*int(audiences) + int(a)) * e.stride
	return e.words[from : from+e.stride]
}

// find returns the version that held in tick t, or −1.
func (e *entity) find(t Tick) int {
	if e.n == 0 {
		return -1
	}
	// There is at most one version a tick: look no farther back than ticks went by.
	k := 0
	if d := e.vers[e.head].tick - t; int32(d) > 0 {
		k = min(int(d), e.n-1)
	}
	i := (e.head - k) & (len(e.vers) - 1)
	if after(e.vers[i].tick, t) {
		return -1
	}
	for ; k > 0; k-- {
		j := (i + 1) & (len(e.vers) - 1)
		if after(e.vers[j].tick, t) {
			break
		}
		i = j
	}
	return i
}

// End closes the tick. Entities that were not put in it are removed.
func (s *Source) End() {
	if !s.open {
		panic(&UsageError{"Source.End", "no tick is open: call Begin"})
	}
	s.open = false
	keep := s.order[:0]
	for _, slot := range s.order {
		if e := s.slots[slot]; e.seen == s.tick {
			keep = append(keep, slot)
		} else {
			e.n, s.hot[slot] = 0, slotHot{}
			s.removed++
			delete(s.index, e.id)
			s.free = append(s.free, slot)
		}
	}
	s.order = keep
	if len(s.fresh) == 0 {
		return
	}
	grown := true // ids usually increase, and then nothing needs sorting
	for _, slot := range s.fresh {
		if n := len(s.order); n > 0 && s.slots[s.order[n-1]].id > s.slots[slot].id {
			grown = false
		}
		s.order = append(s.order, slot)
	}
	s.fresh = s.fresh[:0]
	if !grown {
		slices.SortFunc(s.order, func(a, b int32) int {
			if s.slots[a].id < s.slots[b].id {
				return -1
			}
			return 1
		})
	}
}

func (s *Source) lookup(id NetID) *entity {
	if slot, ok := s.index[id]; ok {
		return s.slots[slot]
	}
	return nil
}

// PublicWords are the words that everybody may see of a component in the current
// tick, on the public grid, fields for the owner being 0; nil if there are none.
// References are network ids. The slice holds until the next Begin.
func (s *Source) PublicWords(id NetID, comp int) []int32 {
	return s.current(id, comp, audiencePublic)
}

// OwnerWords are the words of a component in the current tick on the simulation
// grid, as its owner receives them; nil if there are none.
func (s *Source) OwnerWords(id NetID, comp int) []int32 { return s.current(id, comp, audienceOwner) }

func (s *Source) current(id NetID, comp int, a audience) []int32 {
	e := s.lookup(id)
	if e == nil || e.n == 0 {
		return nil
	}
	mask := s.reg.visibleMask(e.vers[e.head].mask, a)
	return s.reg.component(mask, e.lane(e.head, a), comp)
}
