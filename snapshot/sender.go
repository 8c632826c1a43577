package snapshot

import "math/bits"

const (
	restTicks  = 64   // between a removal's delivery and the wire id's next use
	maxSpawns  = 96   // entities first shown in one snapshot, by default
	maxLeaving = 128  // removals in one snapshot
	maxFresh   = 2048 // words of them, if they are more than one
	maxWire    = 65535
	maxBack    = 65535 // greatest distance in ticks that a snapshot names
)

// SenderConfig configures a [Sender].
type SenderConfig struct {
	// Window is the greatest number of snapshots that an entity's baseline may be
	// old, 0 meaning 64. It must not be more than the viewer's
	// [ReceiverConfig].History, or its receiver refuses snapshots.
	Window int
	// Spawns is the greatest number of entities that one snapshot shows for the
	// first time, 0 meaning 96; and of their words 21 times as many. It must not be
	// more than the viewer's [ReceiverConfig].Spawns.
	Spawns int
	// Visible says whether the viewer may see an entity, besides
	// [Sender.SetVisible]; it is asked for every entity in every Append. Nil: all.
	Visible func(NetID) bool
	// Priority is how much an entity gains, each time that it has something to
	// send and finds no room; the one that gained most goes first. Values below 1
	// count as 1, nil as 1 for all: so nothing starves.
	Priority func(NetID) int
	// Cache is shared with other senders, so that records that are alike are made
	// once; see [Cache]. Nil: none.
	Cache *Cache
	// Statistics counts what is sent, to learn tables from. Nil: nothing.
	Statistics *Statistics
}

// SenderCounters counts what a [Sender] did.
type SenderCounters struct {
	Snapshots    uint64 // appended
	Bytes        uint64 // of all snapshots
	Records      uint64 // values of entities in them
	Spawns       uint64 // of these against the kind's defaults
	Removals     uint64 // removals and hides in them, repetitions counted
	Postponed    uint64 // entities put off for lack of room
	OwnPostponed uint64 // snapshots whose room did not hold the viewer's own entities
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
	bySlot   []slotNote
	unborn   map[NetID]struct{} // hidden before they were first put
	rest     []resting
	lives    uint32
	hint     WireID // no lower wire id is free
	removed  uint32 // the source's counts when last looked
	spawned  uint32
	restless bool // what is visible may have changed since
	closed   bool

	newest    Tick // newest acked tick
	mapEpoch  uint32
	cands     []candidate
	turns     []uint64 // their places, in the order in which they are chosen
	leaving   []WireID
	stuck     bool   // there are more, with removals that do not fit
	cursor    WireID // removals go round behind it when there are too many
	runs      []span
	code      coder  // the records of all candidates
	bits      []byte // their bits behind the flags
	head      coder  // the structure around them
	rc        rangeEncoder
	acked     uint64    // bit i: the snapshot of newest−i was delivered
	usual     [3]uint32 // distances of the usual baselines; 0: none
	scale     scales    // for these
	lists     [64]sentList
	expected  []expected
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
	acks   bool // some record was delivered
	sent   bool
	id     NetID
	slot   int32
	life   uint32
	born   Tick
	gone   Tick
	acked  Tick   // newest delivered record
	last   Tick   // newest record sent
	sends  uint64 // bit i: a record was sent in last−i
	held   uint64 // bit i: and delivered
	anchor Tick   // newest record before those 64 ticks, 0: none
	safe   bool   // and it was delivered
	since  Tick   // first record sent after acked
	gained uint32
	told   uint32 // the Append that last carried a record

	refs *refNotes // nil: it holds no references
}

// refNotes are what an entity's references mean to the viewer.
type refNotes struct {
	mask  uint64 // the components and the audience that the list is of
	aud   audience
	epoch uint32 // as of
	ver   Tick
	since Tick // newest change of any
	list  []refNote
}

// note remembers that a record was sent.
func (g *shown) note(t Tick) {
	if g.sent {
		d := t - g.last
		if gone := g.sends >> (64 - min(d, 64)); gone != 0 {
			i := uint32(bits.TrailingZeros64(gone)) + 64 - min(d, 64)
			g.anchor, g.safe = g.last-i, g.held>>i&1 != 0
		}
		g.sends, g.held = shifted(g.sends, d), shifted(g.held, d)
	}
	g.sends |= 1
	g.last, g.sent = t, true
}

// holds returns the tick of the newest record at or before t that was sent, and
// whether the viewer is known to hold it.
func (g *shown) holds(t Tick) (Tick, bool) {
	d := uint32(0)
	if after(g.last, t) {
		if d = g.last - t; d >= 64 {
			return 0, false
		}
	}
	m := g.sends >> d
	if m == 0 {
		return g.anchor, g.safe
	}
	d += uint32(bits.TrailingZeros64(m))
	return g.last - d, g.held>>d&1 != 0
}

// pending tells whether a reference changed since the newest delivered record.
func (g *shown) pending() bool { return g.refs != nil && after(g.refs.since, g.acked) }

// refNote is what a reference means to the viewer, and since when.
type refNote struct {
	value WireID
	since Tick
}

type slotNote struct {
	id     NetID
	wire   WireID
	hidden bool
}

type resting struct {
	wire    WireID
	tick    Tick
	appends uint32
}

// NewSender returns the sender for a viewer: the owner number of its player's
// entities; 0 owns nothing.
func (s *Source) NewSender(viewer uint16, cfg SenderConfig) *Sender {
	if cfg.Window <= 0 {
		cfg.Window = 64
	}
	to := &Sender{src: s, cfg: cfg, viewer: viewer, shown: make([]shown, 1), unborn: map[NetID]struct{}{}}
	to.code.tab, to.head.tab = s.reg.tab, s.reg.tab
	to.code.scale, to.code.stat = &to.scale, cfg.Statistics
	return to
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
	for w := range s.shown {
		s.shown[w].acks, s.shown[w].held, s.shown[w].safe = false, 0, false
	}
}

// SetVisible says whether the viewer may see an entity from the next Append on; it
// may until told otherwise. It can be called before the entity is first put; what
// was hidden and is never put is remembered until Close.
func (s *Sender) SetVisible(id NetID, visible bool) {
	s.restless = true
	if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) && s.bySlot[e.slot].id == id {
		s.bySlot[e.slot].hidden = !visible
		return
	}
	if visible {
		delete(s.unborn, id)
	} else {
		s.unborn[id] = struct{}{}
	}
}

// Known returns the wire id of an entity that the viewer is known to have
// received, and false for one that it has not, or may see no more.
func (s *Sender) Known(id NetID) (WireID, bool) {
	w := s.known(id)
	return w, w != 0
}

func (s *Sender) known(id NetID) WireID {
	e := s.src.lookup(id)
	if e == nil || int(e.slot) >= len(s.bySlot) {
		return 0
	}
	n := s.bySlot[e.slot]
	if n.id != id || n.wire == 0 || !s.shown[n.wire].acks {
		return 0
	}
	return n.wire
}

// Counters returns what was counted so far.
func (s *Sender) Counters() SenderCounters { return s.count }

// Close ends the sender: it forgets all, and Append appends nothing.
func (s *Sender) Close() {
	*s = Sender{src: s.src, cfg: s.cfg, viewer: s.viewer, closed: true, shown: make([]shown, 1), unborn: map[NetID]struct{}{}, count: s.count}
}

// look follows visibility: it allots wire ids and lets them go.
func (s *Sender) look() {
	for len(s.bySlot) < len(s.src.slots) {
		s.bySlot = append(s.bySlot, slotNote{})
	}
	if s.removed != s.src.removed {
		s.removed = s.src.removed
		s.bury()
	}
	s.wake()
	if s.cfg.Visible == nil && !s.restless && s.spawned == s.src.spawned {
		return
	}
	s.restless, s.spawned = false, s.src.spawned
	for _, slot := range s.src.order {
		id, n := s.src.hot[slot].id, &s.bySlot[slot]
		if n.id != id {
			hidden := false
			if len(s.unborn) > 0 {
				_, hidden = s.unborn[id]
				delete(s.unborn, id)
			}
			*n = slotNote{id: id, hidden: hidden}
		}
		visible := !n.hidden && (s.cfg.Visible == nil || s.cfg.Visible(id))
		switch {
		case visible && n.wire == 0:
			n.wire = s.allot(id, slot)
			s.restless = s.restless || n.wire == 0
		case !visible && n.wire != 0:
			s.leave(n.wire, true)
			n.wire = 0
		}
	}
}

// bury lets go of what was removed from the source.
func (s *Sender) bury() {
	for w := 1; w < len(s.shown); w++ {
		g := &s.shown[w]
		if g.state != wireLive || s.src.hot[g.slot].id == g.id {
			continue
		}
		s.leave(WireID(w), false)
		if n := &s.bySlot[g.slot]; n.id == g.id {
			n.wire = 0
		}
	}
}

// allot gives an entity the lowest wire id that is free, or 0.
func (s *Sender) allot(id NetID, slot int32) WireID {
	w := 0
	for i := max(1, int(s.hint)); i < len(s.shown) && w == 0; i++ {
		if s.shown[i].state == wireFree {
			w = i
		}
	}
	s.hint = WireID(min(len(s.shown), maxWire))
	if w != 0 {
		s.hint = WireID(w)
	}
	if w == 0 {
		if len(s.shown) > maxWire {
			s.count.NoWireID++
			return 0
		}
		w = len(s.shown)
		s.shown = append(s.shown, shown{})
	}
	s.lives++
	s.shown[w] = shown{state: wireLive, id: id, slot: slot, life: s.lives, born: s.src.tick}
	return WireID(w)
}

// leave begins a removal, or forgets an entity that was never sent.
func (s *Sender) leave(w WireID, hidden bool) {
	g := &s.shown[w]
	if g.acks {
		s.mapEpoch++
	}
	if !g.sent {
		s.free(w)
		return
	}
	g.state, g.hidden, g.gone = wireLeaving, hidden, s.src.tick
}

func (s *Sender) free(w WireID) {
	s.shown[w].state = wireFree
	s.hint = min(s.hint, w)
}

// wake frees wire ids that rested long enough, unless a record that still has to
// reach the viewer might name the old entity.
func (s *Sender) wake() {
	if len(s.rest) == 0 {
		return
	}
	oldest, pending := Tick(0), false
	for w := range s.shown {
		g := &s.shown[w]
		if g.state == wireLive && g.refs != nil && g.sent && (!g.acks || g.pending()) {
			if !pending || after(oldest, g.refs.since) {
				oldest, pending = g.refs.since, true
			}
		}
	}
	keep := s.rest[:0]
	for _, r := range s.rest {
		old := s.src.tick-r.tick >= restTicks && s.appends-r.appends >= restTicks
		if old && (!pending || after(oldest, r.tick)) {
			s.free(r.wire)
		} else {
			keep = append(keep, r)
		}
	}
	s.rest = keep
}

// audience is what the viewer may receive of an entity in one of its versions.
func (s *Sender) audience(owner uint16) audience {
	if owner != 0 && (owner == s.viewer || owner == Everyone) {
		return audienceOwner
	}
	return audiencePublic
}

// noteRefs brings what an entity's references mean to the viewer up to date.
func (s *Sender) noteRefs(g *shown, e *entity, a audience) {
	v := &e.vers[e.head]
	mask := s.src.reg.visibleMask(v.mask, a)
	n := g.refs
	if n == nil {
		n = &refNotes{}
		g.refs = n
	} else if n.epoch == s.mapEpoch && n.ver == v.tick && n.aud == a && n.mask == mask {
		return
	}
	fresh := n.mask != mask || n.aud != a
	n.epoch, n.ver, n.aud, n.mask = s.mapEpoch, v.tick, a, mask
	if fresh {
		n.list = n.list[:0]
	}
	lane := e.lane(e.head, a)
	i, off := 0, 0
	for m := mask; m != 0; m &= m - 1 {
		c := s.src.reg.comps[bits.TrailingZeros64(m)]
		for _, word := range c.refWords {
			if c.codedFor(word, a) {
				w := WireID(0)
				if id := NetID(uint32(lane[off+word])); id != 0 {
					w = s.known(id)
				}
				if fresh {
					n.list = append(n.list, refNote{w, s.src.tick})
					n.since = s.src.tick
				} else if n.list[i].value != w {
					n.list[i] = refNote{w, s.src.tick}
					n.since = s.src.tick
				}
				i++
			}
		}
		off += c.words
	}
}

// codedFor tells whether an audience receives a word.
func (s *Schema) codedFor(word int, a audience) bool {
	for i := range s.codes[a] {
		if s.codes[a][i].word == word {
			return true
		}
	}
	return false
}
