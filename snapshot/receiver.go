package snapshot

import (
	"math/bits"
	"slices"
)

const (
	pageSlots = 64
	maxPages  = 32 // new pages of wire ids that one snapshot may open
)

// ReceiverConfig configures a [Receiver].
type ReceiverConfig struct {
	// History is the number of ticks that Ghost.At and Ghost.Sample look back, and
	// the greatest [SenderConfig].Window that is understood. It is rounded up to a
	// power of two; 0 means 64, at most 65 536. Negative is an error.
	History int
	// Spawns is the greatest number of entities that one snapshot may show for the
	// first time, 0 meaning 96, at most 65 535. Negative is an error. More makes a
	// forged snapshot allocate more.
	Spawns int
	// Viewer is the player that the snapshots are for. Records that it owns, or
	// [Everyone] does, must say so, and no other may: a snapshot for somebody else
	// is refused. 0 does not look.
	Viewer uint16
	// Owners is the greatest player number that may own an entity, besides
	// [Everyone]. 0 means any.
	Owners uint16
	// After is the newest tick that came before all that is to be read, such as
	// the last one of the level before: snapshots of that tick and of earlier ones
	// are refused. 0 means that the first may be of any tick.
	After Tick
}

// ReceiverCounters counts what a [Receiver] read.
type ReceiverCounters struct {
	Snapshots    uint64 // applied
	OutOfOrder   uint64 // of these older than the newest
	Duplicate    uint64 // read before, and ignored
	Incomplete   uint64 // with entities postponed
	OwnPostponed uint64 // with entities of the viewer's own postponed
	Malformed    uint64 // refused
	Heavy        uint64 // not read: see ErrHeavy
	Baseline     uint64 // of these for a baseline that is not held
	Records      uint64 // values of entities in those applied
}

// Receiver is the client's end: it reads snapshots and keeps what they say of each
// entity, tick by tick.
type Receiver struct {
	reg      *Registry
	cfg      ReceiverConfig
	versions int
	ring     []receivedTick
	lists    []sentList // of twice as many ticks
	pages    [1024]*[pageSlots]wireSlot
	newest   Tick
	ghosts   []*Ghost
	pool     []*Ghost
	changes  []Change
	count    ReceiverCounters

	in       decoder
	gone     []goneRecord
	records  recordList
	order    []uint16 // of the records, by wire id
	listed   []WireID // what is there of what was expected
	words    wordArena
	spawned  []*Ghost // by the snapshot at hand
	spans    []span
	newVers  []ghostVersion // to be cut up, as are these
	newInts  []int32
	credit   int // bytes that the snapshot at hand may still make the receiver allocate
	saved    int // of what was too little for a single need
	opened   int
	load     spawnLoad
	complete bool
	ownWhole bool
	usual    [3]uint32
	scale    scales
}

type receivedTick struct {
	tick     Tick
	complete bool
	own      bool
	late     []span // wire ids of what was postponed
}

// wireSlot is what is known of a wire id.
type wireSlot struct {
	ghost *Ghost
	gone  Tick // newest removal read
}

// What is what happened to a ghost.
type What uint8

const (
	// Spawned: it is new.
	Spawned What = iota + 1
	// Updated: it has a newer value.
	Updated
	// Components: it has a newer value with other components.
	Components
	// Removed: it is no more.
	Removed
	// Hidden: the viewer may see it no more.
	Hidden
)

// String is the name in lower case.
func (w What) String() string {
	switch w {
	case Spawned:
		return "spawned"
	case Updated:
		return "updated"
	case Components:
		return "components"
	case Removed:
		return "removed"
	case Hidden:
		return "hidden"
	}
	return "none"
}

// Change is one line of what a snapshot did.
type Change struct {
	Ghost *Ghost
	What  What
	// Transferred: with Updated or Components, the owner changed.
	Transferred bool
	// Teleported: with Updated or Components, it is somewhere else at once since
	// the value before; see [Source.Teleport].
	Teleported bool
}

// NewReceiver returns an empty receiver and freezes the registry. It panics with a
// [*UsageError] when the config is not valid.
func NewReceiver(r *Registry, cfg ReceiverConfig) *Receiver {
	r.frozen = true
	h := orDefault("NewReceiver", "ReceiverConfig.History", cfg.History, 64, mostHistory)
	cfg.Spawns = orDefault("NewReceiver", "ReceiverConfig.Spawns", cfg.Spawns, maxSpawns, maxWire)
	h = 1 << bits.Len(uint(h-1))
	// Twice as many versions, so that a snapshot overtaken by as many as the window
	// still finds its baselines.
	return &Receiver{reg: r, cfg: cfg, versions: 2 * h, ring: make([]receivedTick, h), lists: make([]sentList, 2*h)}
}

// Registry is the registry that the receiver reads by.
func (r *Receiver) Registry() *Registry { return r.reg }

// Newest is the newest tick read, and false before the first.
func (r *Receiver) Newest() (Tick, bool) { return r.newest, r.newest != 0 }

// Changes lists what the last Read changed, in the order of wire ids; of a snapshot
// older than the newest only what was news. It holds until the next Read.
func (r *Receiver) Changes() []Change { return r.changes }

// Ghosts lists all ghosts that live or were not yet released, in the order of wire
// ids and then of birth. It holds until the next Read or Release.
func (r *Receiver) Ghosts() []*Ghost { return r.ghosts }

// Find returns the living ghost of a wire id, or nil.
func (r *Receiver) Find(w WireID) *Ghost {
	if s := r.slot(w); s != nil && s.ghost != nil && s.ghost.Gone == 0 {
		return s.ghost
	}
	return nil
}

// Counters returns what was counted so far.
func (r *Receiver) Counters() ReceiverCounters { return r.count }

// Complete tells of a tick whether its snapshot was received, whether it held all
// that had changed, and whether it held all of the viewer's own entities.
func (r *Receiver) Complete(t Tick) (received, all, own bool) {
	if !r.received(t) {
		return false, false, false
	}
	e := r.ring[int(t)&(len(r.ring)-1)]
	return true, e.complete, e.own
}

// Grid is the grid of a component's newest words: [GridSim] for predicted
// components of the viewer's own ghosts.
func (r *Receiver) Grid(g *Ghost, comp int) Grid {
	if g.Mine && r.reg.comps[comp].predicted {
		return GridSim
	}
	return GridPublic
}

// Release takes a ghost that is gone off the list, once nothing shows it any more.
// Its memory is used again: keep no pointer. A ghost that lives stays.
func (r *Receiver) Release(g *Ghost) {
	if g == nil || g.r != r || g.Gone == 0 || g.released {
		return
	}
	g.released = true
	i, ok := slices.BinarySearchFunc(r.ghosts, g, compareGhosts)
	if ok {
		r.ghosts = slices.Delete(r.ghosts, i, i+1)
	}
	if s := r.slot(g.Wire); s == nil || s.ghost != g {
		r.pool = append(r.pool, g)
	}
}

func compareGhosts(a, b *Ghost) int {
	switch {
	case a.Wire != b.Wire:
		return int(a.Wire) - int(b.Wire)
	case a.Born == b.Born:
		return 0
	case after(a.Born, b.Born):
		return 1
	}
	return -1
}

func (r *Receiver) received(t Tick) bool {
	return t != 0 && r.ring[int(t)&(len(r.ring)-1)].tick == t
}

func (r *Receiver) slot(w WireID) *wireSlot {
	if p := r.pages[w/pageSlots]; p != nil {
		return &p[w%pageSlots]
	}
	return nil
}

// open makes the page of a wire id.
func (r *Receiver) open(w WireID) *wireSlot {
	p := &r.pages[w/pageSlots]
	if *p == nil {
		*p = new([pageSlots]wireSlot)
	}
	return &(*p)[w%pageSlots]
}

// newGhost takes a ghost from the pool, its history's memory with it.
func (r *Receiver) newGhost() *Ghost {
	if n := len(r.pool); n > 0 {
		g := r.pool[n-1]
		r.pool = r.pool[:n-1]
		*g = Ghost{r: r, vers: g.vers, head: g.head}
		return g
	}
	return &Ghost{r: r}
}
