package snapshot

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

const (
	restTicks  = 64   // ticks, and also snapshots, from a removal's delivery to the wire id's next use
	maxSpawns  = 96   // entities first shown in one snapshot, by default
	maxLeaving = 128  // removals in one snapshot
	maxUnsure  = 4096 // entities shown that may not be received yet: beyond that no more are shown
	maxFresh   = 2048 // words of all entities first shown in one snapshot, if there is more than one
	maxRecords = 4096 - maxLeaving
	maxRead    = 1 << 16 // words of all records in one snapshot, if there is more than one
	maxSpans   = 4096    // runs of postponed entities in one snapshot
	maxWire    = 65535
	maxBack    = 65535 // greatest distance in ticks that a snapshot names
)

// Sender makes the snapshots of one viewer.
type Sender struct {
	src    *Source
	cfg    SenderConfig
	viewer uint16
	// view counts the restarts, also those by SetViewer. Values sent before the last one are no baselines.
	view   uint32
	viewed schema.Tick // viewed is the tick of the last restart.
	shown  []shown
	slots  []int32 // slots has the entity's slot for each wire id.
	// gained is the priority that each wire id has gained by waiting or by a loss.
	gained []uint32
	auds   []quantise.Audience // auds has, by wire id, the viewer's audience as seen from the entity.
	// from has, by wire id, the tick before which no record is a baseline. 0 means none.
	from   []schema.Tick
	bySlot []slotNote
	unborn map[NetID]unbornNote // unborn has the settings of entities before they were first put.
	// swept is the source's tick count when forgetUnborn last looked at unborn.
	swept uint32
	team  uint8
	// groups are the game-defined groups that the viewer is in for all entities.
	groups   quantise.Audience
	regroup  bool        // regroup is true if team or groups changed since the last snapshot.
	related  schema.Tick // related is the newest change of any entity's audience. 0 means none.
	rest     []resting
	lives    uint32
	hint     schema.WireID // hint is a wire id below which none is free.
	seen     uint32        // seen is how far the source's log was read.
	moved    []NetID       // moved are entities whose relevance was set since the last snapshot.
	restless bool          // restless is true if visibility may have changed since the last snapshot.
	closed   bool

	live   wireSet // live has the wire ids in use, without those that are leaving or resting.
	away   wireSet // away has the wire ids that are leaving.
	leaves wireSet // leaves is the part of away whose removals this snapshot sends.
	told   wireSet // told has the entities of which some record was sent.
	held   wireSet // held has the entities of which some record was delivered.
	own    wireSet // own has the viewer's own entities.
	// dirty has entities that changed after the value that the viewer is known to have.
	dirty wireSet
	// refers has entities that may hold references.
	refers wireSet
	// pending has the entities of refers with a reference that changed after the value that the viewer is known
	// to have.
	pending wireSet
	waiting wireSet // waiting has entities with a gained priority.
	want    wireSet // want has the entities with something to send.
	chosen  wireSet // chosen is the part of want that this snapshot sends.
	aside   wireSet // aside has the entities that are left out: see SetAside.
	cut     *cutter // cut has the state of records longer than a packet. nil means that there was none yet.
	sent    sentLog

	newest   schema.Tick // newest is the newest tick that was acknowledged.
	mapEpoch uint32
	tight    bool // tight is true if the last snapshot did not hold everything.
	// withheld is true if the viewer's own entities are left out: see Withhold.
	withheld bool
	// barred is true if the last snapshot left out new entities, as too much is not acknowledged.
	barred    bool
	barredOwn bool // barredOwn is true if one of the entities left out is the viewer's own.
	stuck     bool // stuck is true if there are more removals than one snapshot takes.
	// cursor is the wire id after which removals take turns when there are too many.
	cursor         schema.WireID
	cache          *Cache
	*senderScratch           // senderScratch is the cache's. It is used while a snapshot is made.
	plans          []*basis  // plans has the basis of each audience. One is nil until it is needed.
	planned        bool      // planned is true if there are three usual baselines.
	usual          [3]uint32 // usual are the distances of the usual baselines. 0 means none.
	ages           [3]int    // ages are the ages of the usual baselines' snapshots.
	expecting      bool
	// twin is the snapshot whose bytes the snapshot at hand copies. nil means that it copies none.
	twin    *twin
	appends uint32
	count   SenderCounters
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
	hidden bool // hidden is true if the entity leaves because the viewer may no longer see it.
	id     NetID
	life   uint32
	jumps  uint16 // jumps is the entity's count of teleports when this life began.
	born   schema.Tick
	gone   schema.Tick

	refs *refNotes // refs is nil if the entity holds no references.
}

type resting struct {
	wire    schema.WireID
	tick    schema.Tick
	appends uint32
}

// NewSender returns the sender for a viewer. viewer is the owner number of its player's
// entities; 0 owns nothing.
func (s *Source) NewSender(viewer uint16, cfg SenderConfig) *Sender {
	cfg.Window = orDefault("Source.NewSender", "SenderConfig.Window", cfg.Window, 64, maxBack)
	cfg.Spawns = orDefault("Source.NewSender", "SenderConfig.Spawns", cfg.Spawns, maxSpawns, maxWire)
	to := &Sender{src: s, cfg: cfg, viewer: viewer, unborn: map[NetID]unbornNote{}, cache: cfg.Cache, restless: true}
	if to.cache == nil {
		to.cache = &Cache{}
	}
	to.growWires()
	to.plans = make([]*basis, int(s.reg.Classes|quantise.ToOwner)+1)
	return to
}

// growWires adds one wire id.
func (s *Sender) growWires() {
	s.shown, s.slots, s.gained = append(s.shown, shown{}), append(s.slots, 0), append(s.gained, 0)
	s.auds, s.from = append(s.auds, 0), append(s.from, 0)
	n := len(s.shown)
	if len(s.live)<<6 >= n {
		return
	}
	for _, b := range []*wireSet{&s.live, &s.away, &s.leaves, &s.told, &s.held, &s.own, &s.dirty, &s.refers, &s.pending, &s.waiting, &s.want, &s.chosen, &s.aside} {
		*b = append(*b, 0)
	}
	if s.cut != nil {
		s.cut.out, s.cut.pins = append(s.cut.out, 0), append(s.cut.pins, 0)
	}
	s.sent.growWires(len(s.live) << 6)
}

// Viewer returns the owner number of the viewer.
func (s *Sender) Viewer() uint16 { return s.viewer }

// SetViewer changes the viewer of the snapshots. Entities whose audience changes are
// sent again in full, and earlier packets are no baselines any longer.
func (s *Sender) SetViewer(viewer uint16) {
	if viewer == s.viewer {
		return
	}
	s.viewer = viewer
	s.Restart()
	for w := range s.shown {
		if s.live.has(schema.WireID(w)) {
			slot := s.slots[w]
			s.auds[w] = s.relation(slot, s.src.hot[slot].owner)
			s.own.put(schema.WireID(w), s.viewerOwns(s.src.hot[slot].owner))
		}
	}
}

// SetVisible sets whether the viewer may see an entity from the next Append on. By
// default it may. It can be called up to 256 ticks of the source before the entity is
// first put; after those it is forgotten.
func (s *Sender) SetVisible(id NetID, visible bool) {
	s.restless = true
	s.change(id, func(n slotNote) slotNote { n.hidden = !visible; return n })
}

// Known returns the wire id of an entity that the viewer is known to have received. It
// returns false for one that it has not received, or may no longer see.
func (s *Sender) Known(id NetID) (schema.WireID, bool) {
	w := s.known(id)
	return w, w != 0
}

// Wire returns the wire id that an entity has for the viewer. It returns false if it
// has none: it was not shown yet, or must not be. The viewer may not have received it;
// see [Sender.Known].
func (s *Sender) Wire(id NetID) (schema.WireID, bool) {
	e := s.src.lookup(id)
	if e == nil || int(e.slot) >= len(s.bySlot) {
		return 0, false
	}
	n := s.bySlot[e.slot]
	return n.wire, n.id == id && n.wire != 0
}

// Entity returns the entity that has a wire id for the viewer, as [Sender.Wire] tells it.
func (s *Sender) Entity(w schema.WireID) (NetID, bool) {
	if w == 0 || int(w) >= len(s.shown) {
		return 0, false
	}
	id := s.shown[w].id
	is, ok := s.Wire(id)
	return id, ok && is == w
}

func (s *Sender) known(id NetID) schema.WireID {
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

// Behind returns the age in ticks of the newest snapshot that the viewer is known to
// have received, counted from the source's newest tick. It returns 0 for a viewer that has
// the newest tick, and also for one that has received no snapshot.
// Viewers with an equal age have most records in common: let them share a [Cache].
func (s *Sender) Behind() uint32 {
	if s.newest == 0 {
		return 0
	}
	return s.src.tick - s.newest
}

// SetProfile makes the sender count its snapshots in another profile from the next Append
// on. Nil counts nothing. The bytes of the snapshots are the same.
func (s *Sender) SetProfile(p *Profile) { s.cfg.Profile = p }

// UseCache makes the sender share records through another cache from the next Append
// on. Nil means none.
func (s *Sender) UseCache(c *Cache) {
	if c == nil {
		c = &Cache{}
	}
	s.cache = c
}

// Withhold leaves the viewer's own entities out of the snapshots, from the next Append on,
// as if there was no room for them, or ends that. Use it while their state is not settled.
func (s *Sender) Withhold(own bool) { s.withheld = own }

// Counters returns the counts so far.
func (s *Sender) Counters() SenderCounters { return s.count }

// Close ends the sender and frees its state. Append appends nothing afterwards.
func (s *Sender) Close() {
	*s = Sender{src: s.src, cfg: s.cfg, viewer: s.viewer, closed: true, unborn: map[NetID]unbornNote{}, count: s.count, plans: s.plans}
	s.growWires()
}

// plan returns the shared plan of viewers of an audience, or nil if there are not three
// usual baselines.
func (s *Sender) plan(a quantise.Audience) *basis {
	if !s.planned {
		return nil
	}
	if s.plans[a] == nil {
		s.plans[a] = s.cache.plan(s.usual, a)
	}
	return s.plans[a]
}
