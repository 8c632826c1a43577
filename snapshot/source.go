package snapshot

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// SourceConfig configures a [Source].
type SourceConfig struct {
	// History is the number of versions kept of each entity as baselines, rounded up to
	// a power of two. 0 means 64; at most 65 536; negative is an error. More costs only
	// memory.
	History int
}

// Source is the server's quantised world. It holds the newest value and earlier
// versions of each entity, for the owner and for others. A value never changes after it
// was sent.
type Source struct {
	reg     *quantise.Registry
	schemas *schema.Registry
	history int
	tick    schema.Tick
	open    bool
	slots   []*entity
	hot     []slotHot    // hot has, by slot, what senders read of every slot in every tick.
	classes []classTicks // classes has, by slot, the newest change that each class sees.
	groups  []uint32     // groups has the groups by slot. It may be shorter than slots.
	// shadow has copies of words without the fields that their audience does not receive.
	shadow []int32
	seq    uint32 // seq counts ticks.
	log    [logLength][]news
	free   []int32
	index  map[NetID]int32
	order  []int32                 // order has the live slots by network id.
	fresh  []int32                 // fresh has the slots that were put for the first time this tick.
	tmp    [quantise.Lanes][]int32 // tmp is scratch for the words of a Put.
	moved  []displacement          // moved has the displacements for the next Put.
	other  []int32                 // other is scratch for the owner's words, displaced.
}

// NewSource returns an empty source and freezes the registry. It panics with a
// [UsageError] when the config is not valid.
func NewSource(r *schema.Registry, cfg SourceConfig) *Source {
	r.Plan().Frozen = true
	h := orDefault("NewSource", "SourceConfig.History", cfg.History, 64, mostHistory)
	s := &Source{reg: r.Plan(), schemas: r, history: 1 << bits.Len(uint(h-1)), index: map[NetID]int32{}}
	for a := range s.tmp {
		s.tmp[a] = make([]int32, s.reg.Words)
	}
	return s
}

// Tick returns the tick of the last Begin.
func (s *Source) Tick() schema.Tick { return s.tick }

// Has reports whether an entity exists: it was put, and not left out of a tick since.
func (s *Source) Has(id NetID) bool { return s.lookup(id) != nil }

// Len returns the number of entities.
func (s *Source) Len() int { return len(s.order) }

// Begin starts a tick. The tick must be later than the last one and not 0, or Begin
// panics with a [UsageError].
func (s *Source) Begin(t schema.Tick) {
	if s.open {
		misuse.Panicf("snapshot: Source.Begin: the tick before was not ended: call End")
	}
	if t == 0 || (s.tick != 0 && !after(t, s.tick)) {
		misuse.Panicf("snapshot: Source.Begin: tick %d after %d: ticks start at 1 and increase", t, s.tick)
	}
	s.tick, s.open, s.shadow = t, true, s.shadow[:0]
	s.seq++
	s.log[s.seq%logLength] = s.log[s.seq%logLength][:0]
}

// Put sets an entity's value in this tick. mask lists its components by id, and
// comps holds the addresses of the components in the order of their ids.
//
// Put quantises to both grids and compares with the newest version; only a change makes
// a new version. A network id keeps its prefab. Put reports whether the source did not have
// the entity in the tick before: it is new, or it comes back. For one that comes back, set
// [Sender.SetVisible] and [Sender.SetAudience] again. Put panics with a [UsageError] when
// called wrongly. It does not allocate once an entity's history has its full length.
func (s *Source) Put(id NetID, prefab int, owner uint16, mask schema.Mask, comps []unsafe.Pointer, refs schema.Refs) (fresh bool) {
	e := s.entityForPut(id, prefab, mask, len(comps))
	fresh = e.head < 0
	own, n, i := s.tmp[quantise.ToOwner], 0, 0
	for k := range mask.Parts() {
		for m := mask.Part(k); m != 0; m &= m - 1 {
			c := s.reg.Comps[k<<6+bits.TrailingZeros64(m)]
			c.Quantise(comps[i], quantise.GridSim, refs, own[n:n+c.Words])
			n, i = n+c.Words, i+1
		}
	}
	own, pub := own[:n], s.tmp[quantise.Public][:n]
	moves := len(s.moved) > 0 || e.moved
	if moves {
		e.moved = len(s.moved) > 0
		s.publish(mask, s.displaced(mask, own), pub)
	}
	if s.same(e, owner, mask, own, pub, moves) {
		return fresh
	}
	if !moves {
		s.publish(mask, own, pub)
	}
	s.pushVersion(e, owner, mask, n, moves)
	return fresh
}

// Teleport marks an entity's next Put as a jump to another place: no client shows a
// value between the old and the new one (see [State.Jumps]). Call it before the Put
// with the new place. It returns false for an entity that was never put, which has
// nothing to interpolate.
func (s *Source) Teleport(id NetID) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	e.jumps++
	return true
}

// publish makes the words of the public lane.
func (s *Source) publish(mask quantise.Mask, own, pub []int32) {
	off := 0
	for k := range mask.Parts() {
		for m := mask.Part(k); m != 0; m &= m - 1 {
			c := s.reg.Comps[k<<6+bits.TrailingZeros64(m)]
			c.Publish(own[off:off+c.Words], pub[off:off+c.Words])
			off += c.Words
		}
	}
}

// entityForPut finds or makes the entity of a Put, and checks the call.
func (s *Source) entityForPut(id NetID, prefab int, mask quantise.Mask, comps int) *entity {
	switch {
	case !s.open:
		misuse.Panicf("snapshot: Source.Put: no tick is open: call Begin")
	case id == 0:
		misuse.Panicf("snapshot: Source.Put: network id 0 is none: start at 1")
	case prefab < 0 || prefab >= len(s.reg.Prefabs):
		misuse.Panicf("snapshot: Source.Put: prefab %d is not registered", prefab)
	case mask.Len() != comps || !s.reg.Holds(mask):
		misuse.Panicf("snapshot: Source.Put: a mask of %d components up to id %d does not fit %d pointers and %d registered components", mask.Len(), mask.End()-1, comps, len(s.reg.Comps))
	}
	if slot, ok := s.index[id]; ok {
		e := s.slots[slot]
		if e.prefab != prefab {
			misuse.Panicf("snapshot: Source.Put: entity %d changes from prefab %d to %d: give it a new network id", id, e.prefab, prefab)
		}
		if e.seen == s.tick {
			misuse.Panicf("snapshot: Source.Put: entity %d is put twice in tick %d", id, s.tick)
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
		s.classes = append(s.classes, classTicks{})
	}
	e := s.slots[slot]
	*e = entity{id: id, slot: slot, prefab: prefab, seen: s.tick, stride: e.stride, vers: e.vers, words: e.words, high: e.high, news: e.news, head: -1}
	s.hot[slot], s.classes[slot] = slotHot{id: id}, classTicks{}
	if int(slot) < len(s.groups) {
		s.groups[slot] = 0
	}
	s.index[id] = slot
	s.fresh = append(s.fresh, slot)
	return e
}

// pushVersion makes a version of the words in tmp. moves is set if the public words are or were displaced.
func (s *Source) pushVersion(e *entity, owner uint16, mask quantise.Mask, n int, moves bool) {
	own, pub := s.tmp[quantise.ToOwner][:n], s.tmp[quantise.Public][:n]
	saw := newsAll
	if e.n > 0 {
		if v := &e.vers[e.head]; v.owner == owner && v.jumps == e.jumps {
			if saw = s.saw(e, mask, own, pub, moves); moves {
				saw |= newsAll &^ (newsOwner | newsPublic) // the classes are judged by the owner's words
			}
		}
	}
	s.makeVersionRoom(e, n)
	e.head = (e.head + 1) & (len(e.vers) - 1)
	e.n = min(e.n+1, len(e.vers))
	v := &e.vers[e.head]
	copy(e.lane(e.head, quantise.ToOwner), own)
	copy(e.lane(e.head, quantise.Public), pub)
	h := &s.hot[e.slot]
	h.owner, h.refs = owner, h.refs || s.reg.HasRefs(mask)
	if saw&newsOwner != 0 {
		h.changed[quantise.ToOwner] = s.tick
	}
	if saw&newsPublic != 0 {
		h.changed[quantise.Public] = s.tick
	}
	v.tick, v.owner, v.jumps = s.tick, owner, e.jumps
	v.changed = h.changed
	e.setMask(e.head, mask)
	if s.reg.Shared() {
		for i := range s.classes[e.slot] {
			if saw&(newsClass<<i) != 0 {
				s.classes[e.slot][i] = s.tick
			}
		}
		e.news[e.head] = s.classes[e.slot]
	}
	s.logNews(news{e.slot, owner, saw, h.refs})
}

// End closes the tick and removes entities that were not put in it.
func (s *Source) End() {
	if !s.open {
		misuse.Panicf("snapshot: Source.End: no tick is open: call Begin")
	}
	s.open = false
	keep := s.order[:0]
	for _, slot := range s.order {
		if e := s.slots[slot]; e.seen == s.tick {
			keep = append(keep, slot)
		} else {
			e.n, s.hot[slot] = 0, slotHot{}
			s.logNews(news{slot: slot, what: newsGone})
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
	if !grown {
		byID := func(a, b int32) int { return cmp.Compare(s.slots[a].id, s.slots[b].id) }
		slices.SortFunc(s.order, byID)
		slices.SortFunc(s.fresh, byID)
	}
	for _, slot := range s.fresh {
		s.logNews(news{slot: slot, what: newsBorn})
	}
	s.fresh = s.fresh[:0]
}

// PublicWords returns the words of a component that every viewer may see in the current
// tick, on the public grid. Other fields are 0. It returns nil if there are none.
// References are network ids. The slice is valid until the next Begin.
func (s *Source) PublicWords(id NetID, comp int) []int32 { return s.Words(id, comp, 0) }

// OwnerWords returns the words of a component in the current tick on the simulation
// grid, with every field that any audience receives. It returns nil if there are none.
func (s *Source) OwnerWords(id NetID, comp int) []int32 {
	return s.Words(id, comp, schema.Audience(quantise.Everything))
}

// OwnerWordsAt returns the words of a component at the end of an earlier tick, on the
// simulation grid. It returns nil if there were none, or they are no longer kept: see
// [SourceConfig.History]. The slice is valid until the next Begin.
func (s *Source) OwnerWordsAt(id NetID, comp int, t schema.Tick) []int32 {
	e := s.lookup(id)
	if e == nil {
		return nil
	}
	i := e.versionAt(t)
	if i < 0 {
		return nil
	}
	return s.reg.Component(e.mask(i), e.lane(i, quantise.ToOwner), comp)
}

// Words returns the words of a component that an audience receives in the current tick.
// They are on the simulation grid if the audience includes the owner. Other fields are
// 0. It returns nil if there are none. The slice is valid until the next Begin.
func (s *Source) Words(id NetID, comp int, to schema.Audience) []int32 {
	a := quantise.Audience(to)
	e := s.lookup(id)
	if e == nil || e.n == 0 {
		return nil
	}
	words := s.reg.Component(e.mask(e.head), e.lane(e.head, a), comp)
	if words == nil || !s.reg.Comps[comp].SeenBy(a) {
		return nil
	}
	if s.reg.Comps[comp].Classes&^quantise.ToOwner == 0 { // the owner's fields are not in the public lane
		return words
	}
	from := len(s.shadow)
	s.shadow = append(s.shadow, words...)
	words = s.shadow[from:len(s.shadow):len(s.shadow)]
	s.reg.Comps[comp].Hide(words, a)
	return words
}
