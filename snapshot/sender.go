package snapshot

import "math/bits"

const (
	restTicks  = 64   // between a removal's delivery and the wire id's next use
	maxSpawns  = 96   // entities first shown in one snapshot, by default
	maxLeaving = 128  // removals in one snapshot
	maxUnsure  = 4096 // entities shown, and perhaps not received; no more are shown then
	maxFresh   = 2048 // words of them, if they are more than one
	maxRecords = 4096 - maxLeaving
	maxRead    = 1 << 16 // words of all records, if they are more than one
	maxSpans   = 4096    // runs of postponed entities in one snapshot
	maxWire    = 65535
	maxBack    = 65535 // greatest distance in ticks that a snapshot names
)

// SenderConfig configures a [Sender].
type SenderConfig struct {
	// Window is the greatest number of snapshots that an entity's baseline may be
	// old, 0 meaning 64, at most 65 535. Negative is an error. It must not be more
	// than the viewer's [ReceiverConfig].History, or its receiver refuses snapshots.
	Window int
	// Spawns is the greatest number of entities that one snapshot shows for the
	// first time, 0 meaning 96, at most 65 535; and of their words 21 times as many.
	// Negative is an error. It must not be more than the viewer's
	// [ReceiverConfig].Spawns.
	Spawns int
	// Visible says whether the viewer may see an entity, besides
	// [Sender.SetVisible]; it is asked for every entity in every Append. Nil: all.
	Visible func(NetID) bool
	// Relevant has entities matter to the viewer only once [Sender.SetRelevant] says
	// so: see [Area]. What it owns always does.
	Relevant bool
	// Priority is how much an entity gains, each time that it has something to
	// send and finds no room; the one that gained most goes first. Values below 1
	// count as 1, nil as 1 for all: so nothing starves.
	Priority func(NetID) int
	// Cache is shared with other senders, so that records that are alike are made
	// once; see [Cache]. Nil: none.
	Cache *Cache
	// Statistics counts what is sent, to learn tables from. Nil: nothing.
	Statistics *Statistics
	// Profile counts the bytes of components and fields. Nil: nothing.
	Profile *Profile
}

// SenderCounters counts what a [Sender] did.
type SenderCounters struct {
	Snapshots    uint64 // appended
	Bytes        uint64 // of all snapshots
	Records      uint64 // values of entities in them
	Spawns       uint64 // of these against the prefab's defaults
	Removals     uint64 // removals and hides in them, repetitions counted
	Postponed    uint64 // entities put off for lack of room
	OwnPostponed uint64 // snapshots whose room did not hold the viewer's own entities
	GroupsSplit  uint64 // groups sent in parts, because no snapshot would hold them
	TooSmall     uint64 // Appends with too little room for any snapshot
	NoWireID     uint64 // entities not shown because all wire ids were in use
}

// Sender makes the snapshots of one viewer.
type Sender struct {
	src      *Source
	cfg      SenderConfig
	viewer   uint16
	view     uint32 // counts SetViewer: what was sent before is no baseline
	viewed   Tick   // of the last SetViewer
	shown    []shown
	slots    []int32    // of the entities of wire ids
	gained   []uint32   // by wire id
	auds     []audience // the classes that the viewer is of, by wire id
	from     []Tick     // since when; no record before is a baseline. 0: since ever
	bySlot   []slotNote
	unborn   map[NetID]unbornNote // what was said of entities before they were first put
	swept    uint32               // the source's tick count when those never put were last forgotten
	team     uint8
	groups   Audience // of the game's own: those that the viewer is of for all entities
	regroup  bool     // either changed since the last snapshot
	related  Tick     // of the newest change of any entity's audience, 0: none
	rest     []resting
	lives    uint32
	hint     WireID  // no lower wire id is free
	seen     uint32  // of the source's log
	moved    []NetID // whose relevance was set since the last snapshot
	restless bool    // what is visible may have changed since
	closed   bool

	live    wireSet // shown, and neither leaving nor resting
	away    wireSet // leaving
	leaves  wireSet // of these, told in this snapshot
	told    wireSet // some record was sent
	held    wireSet // and delivered
	own     wireSet // the viewer owns it
	dirty   wireSet // it changed after what the viewer is known to have
	refers  wireSet // it may hold references
	pending wireSet // and one changed after that
	waiting wireSet // it gained
	want    wireSet // what there is to send
	chosen  wireSet // and is sent
	trail   trail

	newest    Tick // newest acked tick
	mapEpoch  uint32
	tight     bool   // the last snapshot did not hold all
	barred    bool   // it left out what was never shown, as too much is not acknowledged
	barredOwn bool   // and some of it is the viewer's own
	stuck     bool   // there are more, with removals that do not fit
	cursor    WireID // removals go round behind it when there are too many
	cache     *Cache
	*desk               // while a snapshot is made
	plans     []*plan   // by audience; nil until asked for
	planned   bool      // there are three usual baselines
	usual     [3]uint32 // distances of the usual baselines; 0: none
	ages      [3]int    // of their snapshots
	expecting bool
	appends   uint32
	count     SenderCounters
}

type wireState uint8

const (
	wireFree wireState = iota
	wireLive
	wireLeaving
	wireResting
)

// shown is one life of a wire id.
type shown struct {
	state  wireState
	hidden bool // why it leaves
	id     NetID
	life   uint32
	jumps  uint16 // the entity's when this life began
	born   Tick
	gone   Tick

	refs *refNotes // nil: it holds no references
}

type slotNote struct {
	id       NetID
	wire     WireID
	hidden   bool
	relevant bool
	groups   Audience // of the game's own: those that the viewer is of
}

// unbornNote waits for an entity's first Put.
type unbornNote struct {
	slotNote
	seq uint32 // the source's tick count when it was made
}

// unbornTicks is how long what was said of an entity waits for its first Put. One that
// was destroyed in the tick it was made in is never put.
const unbornTicks = 256

// forgetUnborn forgets what waited for too long.
func (s *Sender) forgetUnborn() {
	if len(s.unborn) == 0 || s.src.seq-s.swept < unbornTicks {
		return
	}
	s.swept = s.src.seq
	for id, n := range s.unborn {
		if s.src.seq-n.seq >= unbornTicks {
			delete(s.unborn, id)
		}
	}
}

type resting struct {
	wire    WireID
	tick    Tick
	appends uint32
}

// NewSender returns the sender for a viewer: the owner number of its player's
// entities; 0 owns nothing.
func (s *Source) NewSender(viewer uint16, cfg SenderConfig) *Sender {
	cfg.Window = orDefault("Source.NewSender", "SenderConfig.Window", cfg.Window, 64, maxBack)
	cfg.Spawns = orDefault("Source.NewSender", "SenderConfig.Spawns", cfg.Spawns, maxSpawns, maxWire)
	to := &Sender{src: s, cfg: cfg, viewer: viewer, unborn: map[NetID]unbornNote{}, cache: cfg.Cache, restless: true}
	if to.cache == nil {
		to.cache = &Cache{}
	}
	to.grow()
	to.plans = make([]*plan, int(s.reg.classes|ToOwner)+1)
	return to
}

// grow makes one more wire id.
func (s *Sender) grow() {
	s.shown, s.slots, s.gained = append(s.shown, shown{}), append(s.slots, 0), append(s.gained, 0)
	s.auds, s.from = append(s.auds, 0), append(s.from, 0)
	n := len(s.shown)
	if len(s.live)<<6 >= n {
		return
	}
	for _, b := range []*wireSet{&s.live, &s.away, &s.leaves, &s.told, &s.held, &s.own, &s.dirty, &s.refers, &s.pending, &s.waiting, &s.want, &s.chosen} {
		*b = append(*b, 0)
	}
	s.trail.grow(len(s.live) << 6)
}

// Viewer is the owner number that the snapshots are for.
func (s *Sender) Viewer() uint16 { return s.viewer }

// SetViewer changes whom the snapshots are for. Entities whose audience changes by
// it are sent anew, and earlier packets give no baselines.
func (s *Sender) SetViewer(viewer uint16) {
	if viewer == s.viewer {
		return
	}
	s.viewer = viewer
	s.view++
	s.viewed = s.src.tick
	clear(s.held)
	s.trail.forgetAll()
	for w := range s.shown {
		if s.live.has(WireID(w)) {
			slot := s.slots[w]
			s.auds[w] = s.relation(slot, s.src.hot[slot].owner)
			s.own.put(WireID(w), s.auds[w]&ToOwner != 0)
		}
	}
}

// SetVisible says whether the viewer may see an entity from the next Append on; it
// may until told otherwise. It can be called up to 256 ticks of the source before the
// entity is first put; after those it is forgotten.
func (s *Sender) SetVisible(id NetID, visible bool) {
	s.restless = true
	s.change(id, func(n slotNote) slotNote { n.hidden = !visible; return n })
}

// change changes what is said of an entity, before or after it was first put. By
// value, so that nothing is allocated for it.
func (s *Sender) change(id NetID, fn func(slotNote) slotNote) {
	if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) && s.bySlot[e.slot].id == id {
		s.bySlot[e.slot] = fn(s.bySlot[e.slot])
		return
	}
	s.forgetUnborn()
	n := fn(s.unborn[id].slotNote)
	if n == (slotNote{}) {
		delete(s.unborn, id)
	} else {
		s.unborn[id] = unbornNote{n, s.src.seq}
	}
}

// SetTeam says which team the viewer is of, for the audiences [ToAllies] and
// [ToEnemies]; 0, as it is first, is none. See [Source.SetTeam].
func (s *Sender) SetTeam(team uint8) {
	s.regroup = s.regroup || s.team != team
	s.team = team
}

// SetAudience says whether the viewer is of an audience of the game's own, as seen
// from one entity, or for id 0 from all. It is of none until told. Like
// SetVisible it may be called before the entity is first put. Entities whose
// audience changes by it are sent anew.
func (s *Sender) SetAudience(id NetID, a Audience, member bool) {
	set := func(g Audience) Audience {
		if g |= a &^ (firstGroup - 1); !member {
			g &^= a
		}
		return g
	}
	s.regroup = true
	if id == 0 {
		s.groups = set(s.groups)
		return
	}
	s.change(id, func(n slotNote) slotNote { n.groups = set(n.groups); return n })
}

// Known returns the wire id of an entity that the viewer is known to have
// received, and false for one that it has not, or may see no more.
func (s *Sender) Known(id NetID) (WireID, bool) {
	w := s.known(id)
	return w, w != 0
}

// Wire returns the wire id that an entity has for the viewer, and false while it
// has none: it was not shown yet, or must not be. The viewer may not have received
// it; see [Sender.Known].
func (s *Sender) Wire(id NetID) (WireID, bool) {
	e := s.src.lookup(id)
	if e == nil || int(e.slot) >= len(s.bySlot) {
		return 0, false
	}
	n := s.bySlot[e.slot]
	return n.wire, n.id == id && n.wire != 0
}

func (s *Sender) known(id NetID) WireID {
	e := s.src.lookup(id)
	if e == nil || int(e.slot) >= len(s.bySlot) {
		return 0
	}
	n := s.bySlot[e.slot]
	if n.id != id || n.wire == 0 || !s.held.has(n.wire) {
		return 0
	}
	return n.wire
}

// Leaving is how many removals wait to be acknowledged. An entity that was shown and
// is not known to have been received counts against a limit of 4096 with its removal,
// too; at the limit no others are shown until some are acknowledged.
func (s *Sender) Leaving() (n int) {
	for _, m := range s.away {
		n += bits.OnesCount64(m)
	}
	return n
}

// Behind is how many ticks before the source's newest the newest snapshot lies that
// the viewer is known to have received, 0 if there is none. Viewers for which it is
// equal have most records in common: let them share a [Cache].
func (s *Sender) Behind() uint32 {
	if s.newest == 0 {
		return 0
	}
	return s.src.tick - s.newest
}

// UseCache has the sender share records through another cache from the next Append
// on, or, for nil, through none.
func (s *Sender) UseCache(c *Cache) {
	if c == nil {
		c = &Cache{}
	}
	s.cache = c
}

// Counters returns what was counted so far.
func (s *Sender) Counters() SenderCounters { return s.count }

// Close ends the sender: it forgets all, and Append appends nothing.
func (s *Sender) Close() {
	*s = Sender{src: s.src, cfg: s.cfg, viewer: s.viewer, closed: true, unborn: map[NetID]unbornNote{}, count: s.count, plans: s.plans}
	s.grow()
}

// Audience is what the viewer is to an entity as of the last Append, of the classes
// that make a difference in this registry; 0 for one that it is not shown.
func (s *Sender) Audience(id NetID) Audience {
	if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) {
		if n := s.bySlot[e.slot]; n.id == id && n.wire != 0 {
			return s.auds[n.wire]
		}
	}
	return 0
}

// owns is ToOwner if the viewer is an owner.
func (s *Sender) owns(owner uint16) audience {
	if owner != 0 && (owner == s.viewer || owner == Everyone) {
		return ToOwner
	}
	return 0
}

// relation tells which classes the viewer is of, as seen from an entity of an owner,
// of those that make a difference. To own it always does.
func (s *Sender) relation(slot int32, owner uint16) audience {
	a := s.owns(owner)
	if reg := s.src.reg; reg.shared() {
		switch team := s.src.hot[slot].team; {
		case a != 0 || team != 0 && team == s.team:
			a |= ToAllies
		case team != 0 && s.team != 0:
			a |= ToEnemies
		}
		a = (a | s.groups | s.bySlot[slot].groups) & (reg.classes | ToOwner)
	}
	return a
}

// relate follows a change of an entity's audience. What was sent for other classes
// is no baseline; a change of the owner alone is told by its versions.
func (s *Sender) relate(w WireID, a audience, changed wireSet) {
	was := s.auds[w]
	if was == a {
		return
	}
	s.auds[w] = a
	s.own.put(w, a&ToOwner != 0)
	if (was^a)&^ToOwner != 0 && s.told.has(w) {
		s.from[w], s.related = s.src.tick, s.src.tick
		changed.add(w)
		s.dirty.add(w)
	}
}

// relateAll does so for all entities shown.
func (s *Sender) relateAll(changed wireSet) {
	s.regroup = false
	for i, m := range s.live {
		for ; m != 0; m &= m - 1 {
			w := WireID(i<<6 + bits.TrailingZeros64(m))
			s.relate(w, s.relation(s.slots[w], s.src.hot[s.slots[w]].owner), changed)
		}
	}
}

// plan is what viewers of an audience share while there are three usual baselines;
// else nil.
func (s *Sender) plan(a audience) *plan {
	if !s.planned {
		return nil
	}
	if s.plans[a] == nil {
		s.plans[a] = s.cache.plan(s.usual, a)
	}
	return s.plans[a]
}
