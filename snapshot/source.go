package snapshot

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// SourceConfig configures a [Source].
type SourceConfig struct {
	// History is the number of versions of each entity that are kept to be
	// baselines, rounded up to a power of two. 0 means 64; negative is an error. More
	// costs memory only; at most 65 536.
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
	hot     []slotHot    // what senders ask of every slot in every tick
	classes []classTicks // and, where there are such audiences, of each of these
	groups  []uint32     // by slot, as far as there are any
	shadow  []int32      // words with what only some receive taken out
	seq     uint32       // counts ticks
	log     [logLength][]news
	free    []int32
	index   map[NetID]int32
	order   []int32 // live slots by network id
	fresh   []int32 // put for the first time this tick
	tmp     [lanes][]int32
}

// entity is the history of one network id.
type entity struct {
	id     NetID
	slot   int32
	prefab int
	seen   Tick
	stride int // words of one lane of one version
	vers   []version
	words  []int32 // two lanes a version, each without the components it lacks
	head   int     // index of the newest version
	n      int
	news   []classTicks // of each version, where there are such audiences
	jumps  uint16       // times it was somewhere else at once, modulo 2¹⁶
}

// classTicks are the newest ticks at which the classes from ToAllies on would see a
// difference in what is for them.
type classTicks [7]Tick

// slotHot is the part of an entity that decides whether there is news of it.
type slotHot struct {
	id    NetID // 0: the slot is free
	owner uint16
	refs  bool // some component may hold references
	team  uint8
	// changed is the newest tick at which an audience would see a difference.
	changed [lanes]Tick
}

// logLength is how many ticks a sender may leave out and still follow the log.
const logLength = 16

// news is what happened to an entity in a tick.
type news struct {
	slot  int32
	owner uint16
	what  uint16
	refs  bool // some component may hold references
}

const (
	newsPublic uint16 = 1 << iota // everybody sees a difference
	newsOwner                     // the owner does
	newsClass                     // the classes from ToAllies on, a bit for each
	newsAll    uint16 = 1<<9 - 1
	newsBorn   uint16 = 1 << 9
	newsGone   uint16 = 1 << 10
	newsTeam   uint16 = 1 << 11 // it is of another team
)

// sight is what an audience sees of the news.
func (a Audience) sight() uint16 { return newsPublic<<(a&ToOwner) | uint16(a>>1)*newsClass }

func (s *Source) tell(n news) {
	l := &s.log[s.seq%logLength]
	*l = append(*l, n)
}

// version is an entity's value from tick on, until the next version.
type version struct {
	tick  Tick
	owner uint16
	jumps uint16
	mask  uint64
	// changed is slotHot's as of this version.
	changed [lanes]Tick
}

// NewSource returns an empty source and freezes the registry. It panics with a
// [*UsageError] when the config is not valid.
func NewSource(r *Registry, cfg SourceConfig) *Source {
	r.frozen = true
	h := orDefault("NewSource", "SourceConfig.History", cfg.History, 64, mostHistory)
	return &Source{reg: r, history: 1 << bits.Len(uint(h-1)), index: map[NetID]int32{}}
}

// Tick is the tick of the last Begin.
func (s *Source) Tick() Tick { return s.tick }

// Has reports whether an entity has a network id: one that was put, and not left out
// of a tick since.
func (s *Source) Has(id NetID) bool { return s.lookup(id) != nil }

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
	s.tick, s.open, s.shadow = t, true, s.shadow[:0]
	s.seq++
	s.log[s.seq%logLength] = s.log[s.seq%logLength][:0]
}

// Put gives an entity's value in this tick: bit c of mask says that it has
// component c, and comps holds the addresses of the components in the order of
// their ids. Both grids are quantised, and compared with the newest version; only
// what changed makes a new one. A network id keeps its prefab. Put panics with a
// [*UsageError] when called wrongly; it does not allocate once an entity's history
// has grown to its length.
func (s *Source) Put(id NetID, prefab int, owner uint16, mask uint64, comps []unsafe.Pointer, refs Refs) {
	e := s.entity(id, prefab, mask, len(comps))
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
		if v.mask == mask && v.owner == owner && v.jumps == e.jumps && slices.Equal(own, e.lane(e.head, audienceOwner)[:n]) {
			return
		}
	}
	s.publish(mask, own, pub)
	s.push(e, owner, mask, n)
}

// Teleport marks an entity: from its next Put on it is somewhere else at once, so
// that nothing between is shown, on any client (see [State.Jumps]). Call it before
// the Put that gives the new place. It is false for an entity that was never put,
// of which there is nothing to interpolate.
func (s *Source) Teleport(id NetID) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	e.jumps++
	return true
}

// publish makes the words of the public lane.
func (s *Source) publish(mask uint64, own, pub []int32) {
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		c := s.reg.comps[bits.TrailingZeros64(m)]
		c.publish(own[off:off+c.words], pub[off:off+c.words])
		off += c.words
	}
}

// entity finds or makes the entity of a Put, and checks the call.
func (s *Source) entity(id NetID, prefab int, mask uint64, comps int) *entity {
	switch {
	case !s.open:
		panic(&UsageError{"Source.Put", "no tick is open: call Begin"})
	case id == 0:
		panic(&UsageError{"Source.Put", "network id 0 is none: start at 1"})
	case prefab < 0 || prefab >= len(s.reg.prefabs):
		panic(&UsageError{"Source.Put", fmt.Sprintf("prefab %d is not registered", prefab)})
	case bits.OnesCount64(mask) != comps || mask>>len(s.reg.comps) != 0 && len(s.reg.comps) < 64:
		panic(&UsageError{"Source.Put", fmt.Sprintf("mask %b does not fit %d pointers and %d registered components", mask, comps, len(s.reg.comps))})
	}
	if slot, ok := s.index[id]; ok {
		e := s.slots[slot]
		if e.prefab != prefab {
			panic(&UsageError{"Source.Put", fmt.Sprintf("entity %d changes from prefab %d to %d: give it a new network id", id, e.prefab, prefab)})
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
		s.classes = append(s.classes, classTicks{})
	}
	e := s.slots[slot]
	*e = entity{id: id, slot: slot, prefab: prefab, seen: s.tick, stride: e.stride, vers: e.vers, words: e.words, news: e.news, head: -1}
	s.hot[slot], s.classes[slot] = slotHot{id: id}, classTicks{}
	if int(slot) < len(s.groups) {
		s.groups[slot] = 0
	}
	s.index[id] = slot
	s.fresh = append(s.fresh, slot)
	return e
}

// push makes a version of the words in tmp.
func (s *Source) push(e *entity, owner uint16, mask uint64, n int) {
	own, pub := s.tmp[audienceOwner][:n], s.tmp[audiencePublic][:n]
	saw := newsAll
	if e.n > 0 {
		if v := &e.vers[e.head]; v.owner == owner && v.jumps == e.jumps {
			saw = s.saw(e, mask, own, pub)
		}
	}
	s.room(e, n)
	e.head = (e.head + 1) & (len(e.vers) - 1)
	e.n = min(e.n+1, len(e.vers))
	v := &e.vers[e.head]
	copy(e.lane(e.head, audienceOwner), own)
	copy(e.lane(e.head, audiencePublic), pub)
	h := &s.hot[e.slot]
	h.owner, h.refs = owner, h.refs || s.hasRefs(mask)
	if saw&newsOwner != 0 {
		h.changed[audienceOwner] = s.tick
	}
	if saw&newsPublic != 0 {
		h.changed[audiencePublic] = s.tick
	}
	*v = version{s.tick, owner, e.jumps, mask, h.changed}
	if s.reg.shared() {
		for i := range s.classes[e.slot] {
			if saw&(newsClass<<i) != 0 {
				s.classes[e.slot][i] = s.tick
			}
		}
		e.news[e.head] = s.classes[e.slot]
	}
	s.tell(news{e.slot, owner, saw, h.refs})
}

// saw tells who sees a difference between an entity's newest version and the words
// at hand: newsPublic, newsOwner, and newsClass << i for class i from ToAllies on.
func (s *Source) saw(e *entity, mask uint64, own, pub []int32) (saw uint16) {
	v := &e.vers[e.head]
	if !s.reg.shared() {
		if v.mask != mask || s.differ(mask, own, e.lane(e.head, audienceOwner)) {
			saw |= newsOwner
		}
		pm := s.reg.visibleMask(mask, audiencePublic)
		if pm != s.reg.visibleMask(v.mask, audiencePublic) || v.mask == mask && s.differ(mask, pub, e.lane(e.head, audiencePublic)) || v.mask != mask && s.reg.differWithin(pm, audiencePublic, mask, pub, v.mask, e.lane(e.head, audiencePublic)) {
			saw |= newsPublic
		}
		return saw
	}
	look := func(a audience, now []int32) bool {
		vm := s.reg.visibleMask(mask, a)
		return vm != s.reg.visibleMask(v.mask, a) || s.reg.differWithin(vm, a, mask, now, v.mask, e.lane(e.head, a))
	}
	if look(audiencePublic, pub) {
		saw |= newsPublic
	}
	if look(ToOwner|ToAllies, own) {
		saw |= newsOwner
	}
	// Of the others the owner may be one: what changes on his grid counts.
	for i := range s.classes[e.slot] {
		c := ToAllies << i
		if s.reg.classes&c == 0 {
			continue
		}
		vm := s.reg.visibleMask(mask, c)
		if vm != s.reg.visibleMask(v.mask, c) || s.reg.differWithin(vm, c, mask, own, v.mask, e.lane(e.head, audienceOwner)) {
			saw |= newsClass << i
		}
	}
	return saw
}

// shared tells whether there are audiences besides the owner and everybody.
func (r *Registry) shared() bool { return r.classes&^ToOwner != 0 }

// differWithin tells whether an audience sees a difference between the words of two
// sets of components, in those that both have.
func (r *Registry) differWithin(within uint64, a audience, mx uint64, x []int32, my uint64, y []int32) bool {
	ox, oy := 0, 0
	for m := mx | my; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.comps[i]
		if within>>i&1 != 0 && mx&my>>i&1 != 0 && c.differFor(a, x[ox:ox+c.words], y[oy:oy+c.words]) {
			return true
		}
		if mx>>i&1 != 0 {
			ox += c.words
		}
		if my>>i&1 != 0 {
			oy += c.words
		}
	}
	return false
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
	vers, words := make([]version, slots), make([]int32, slots*stride*lanes)
	old := *e
	e.vers, e.words, e.stride = vers, words, stride
	if s.reg.shared() {
		e.news = make([]classTicks, slots)
	}
	for i := range old.n { // oldest first, from index 0
		from := (old.head - old.n + 1 + i + len(old.vers)) & (len(old.vers) - 1)
		vers[i] = old.vers[from]
		if e.news != nil {
			e.news[i] = old.news[from]
		}
		for a := range audience(lanes) {
			copy(e.lane(i, a), old.lane(from, a))
		}
	}
	e.head = old.n - 1
}

// lane is the storage of the words for an audience in version i.
func (e *entity) lane(i int, a audience) []int32 {
	from := (i*lanes + a.lane()) * e.stride
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

// held returns a version with the value that an audience held in tick t, or −1. It
// looks beyond the oldest version: how often what others see changed since must not
// show in what this audience is sent.
func (s *Source) held(e *entity, t Tick, a audience) int {
	i := e.find(t)
	if i >= 0 || e.n == 0 {
		return i
	}
	oldest := (e.head - e.n + 1 + len(e.vers)) & (len(e.vers) - 1)
	if after(newest(e.vers[oldest].changed, a, e.news, oldest), t) {
		return -1
	}
	return oldest
}

// newest is the newest change that an audience saw, of those of each lane and of
// each class.
func newest(changed [lanes]Tick, a audience, classes []classTicks, i int) Tick {
	t := changed[a&ToOwner]
	for k, c := 0, a>>1; c != 0; k, c = k+1, c>>1 {
		if c&1 != 0 && after(classes[i][k], t) {
			t = classes[i][k]
		}
	}
	return t
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
			s.tell(news{slot: slot, what: newsGone})
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
		s.tell(news{slot: slot, what: newsBorn})
	}
	s.fresh = s.fresh[:0]
}

func (s *Source) lookup(id NetID) *entity {
	if slot, ok := s.index[id]; ok {
		return s.slots[slot]
	}
	return nil
}

// PublicWords are the words that everybody may see of a component in the current
// tick, on the public grid, other fields being 0; nil if there are none. References
// are network ids. The slice holds until the next Begin.
func (s *Source) PublicWords(id NetID, comp int) []int32 { return s.Words(id, comp, 0) }

// OwnerWords are the words of a component in the current tick on the simulation
// grid, with all that any audience receives; nil if there are none.
func (s *Source) OwnerWords(id NetID, comp int) []int32 { return s.Words(id, comp, everything) }

// Words are the words that an audience receives of a component in the current tick,
// on the simulation grid if the owner is of it, other fields being 0; nil if there
// are none. The slice holds until the next Begin.
func (s *Source) Words(id NetID, comp int, a Audience) []int32 {
	e := s.lookup(id)
	if e == nil || e.n == 0 {
		return nil
	}
	words := s.reg.component(e.vers[e.head].mask, e.lane(e.head, a), comp)
	if words == nil || !s.reg.comps[comp].seenBy(a) {
		return nil
	}
	if s.reg.comps[comp].classes&^ToOwner == 0 { // what is the owner's alone is not in the public lane
		return words
	}
	from := len(s.shadow)
	s.shadow = append(s.shadow, words...)
	words = s.shadow[from:len(s.shadow):len(s.shadow)]
	s.reg.comps[comp].hide(words, a)
	return words
}

// SetTeam says which team an entity is of, for the audiences [ToAllies] and
// [ToEnemies]: 0, as it is first, is none. Viewers whose audience changes by it are
// sent the entity anew, against no baseline from before. Call it between the Put of
// an entity and End. It is false for an entity that was not put.
func (s *Source) SetTeam(id NetID, team uint8) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	if h := &s.hot[e.slot]; h.team != team {
		h.team = team
		s.tell(news{slot: e.slot, owner: h.owner, what: newsTeam, refs: h.refs})
	}
	return true
}

// changed is the newest tick at which an audience would see a difference.
func (s *Source) changed(slot int32, h *slotHot, a audience) Tick {
	return newest(h.changed, a, s.classes, int(slot))
}
