package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

const (
	pageSlots = 64
	maxPages  = 32 // new pages of wire ids that one snapshot may open
)

// ReceiverConfig configures a [Receiver].
type ReceiverConfig struct {
	// History is the number of ticks that Ghost.At and Ghost.Sample look back. It is also
	// the greatest [SenderConfig].Window that the receiver can read. It is rounded up to
	// a power of two; 0 means 64, at most 65 536. Negative is an error.
	History int
	// Spawns is the greatest number of entities that one snapshot may show for the
	// first time. 0 means 96; at most 65 535. Negative is an error. The larger the number,
	// the more a forged snapshot can allocate.
	Spawns int
	// Viewer is the player that the snapshots are for. A record must be marked as the
	// viewer's own exactly if the viewer or [Everyone] owns it: a snapshot for another
	// player is refused. 0 turns the check off.
	Viewer uint16
	// Owners is the greatest player number that may own an entity, besides
	// [Everyone]. 0 means any.
	Owners uint16
	// After is the last tick before those to read, such as the last tick of the
	// previous level. Snapshots of that tick and of earlier ones are refused. 0 means
	// that the first snapshot may be of any tick.
	After schema.Tick
}

// ReceiverCounters counts what a [Receiver] read.
type ReceiverCounters struct {
	Snapshots    uint64 // snapshots applied
	OutOfOrder   uint64 // snapshots applied that were older than the newest
	Duplicate    uint64 // snapshots that were read before, and ignored
	Incomplete   uint64 // snapshots applied that postponed entities
	OwnPostponed uint64 // snapshots applied that postponed entities of the viewer's own
	Malformed    uint64 // snapshots refused: not readable, or for a baseline that is not held
	Heavy        uint64 // snapshots not read: see ErrHeavy
	Baseline     uint64 // snapshots counted in Malformed because they need a baseline that is not held
	Records      uint64 // values of entities in the snapshots applied
}

// Receiver is the client's end. It reads snapshots and keeps each entity's values by
// tick, as a [Ghost].
type Receiver struct {
	reg      *quantise.Registry
	schemas  *schema.Registry
	cfg      ReceiverConfig
	versions int
	ring     []receivedTick
	lists    []sentList // lists has the sent lists of twice as many ticks as ring.
	pages    [1024]*[pageSlots]wireSlot
	newest   schema.Tick
	ghosts   []*Ghost
	pool     []*Ghost
	changes  []Change
	count    ReceiverCounters

	in      coder.Decoder
	gone    []goneRecord
	records recordList
	order   []uint16        // order has the indexes of the records, sorted by wire id.
	listed  []schema.WireID // listed has the wire ids of the expected records that are there.
	words   wordArena
	spawned []*Ghost // spawned are the ghosts that the snapshot at hand spawned.
	spans   []span
	newVers []ghostVersion // newVers is memory from which newVersion takes versions.
	newInts []int32        // newInts is memory from which newWords takes words.
	// credit is how many bytes the snapshot at hand may still make the receiver allocate.
	credit int
	fault  schema.WireID // fault is the entity whose record is being read, or made Read fail.
	// saved is credit of earlier snapshots, kept for an allocation that needs more than one snapshot's credit.
	saved    int
	opened   int
	load     spawnLoad
	complete bool
	ownWhole bool
	usual    [3]uint32
	scale    coder.Scales
	counted  received

	rooms      []*room // rooms are records of which some pieces were read.
	spareRooms []*room
	waste      []int32 // waste takes the words of pieces that are of no use.
	pieces     bool    // pieces is true if the snapshot at hand has pieces.
	wholes     int     // wholes counts the records that the pieces complete.
}

type receivedTick struct {
	tick     schema.Tick
	complete bool
	own      bool
	late     []span // late has the wire ids that were postponed.
}

// wireSlot is the state of a wire id.
type wireSlot struct {
	ghost *Ghost
	gone  schema.Tick // gone is the tick of the newest removal that was read.
}

// What says how a ghost changed.
type What uint8

const (
	// Spawned: the ghost is new.
	Spawned What = iota + 1
	// Updated: the ghost has a newer value.
	Updated
	// Components: the ghost has a newer value with other components.
	Components
	// Removed: the server destroyed the entity.
	Removed
	// Hidden: the viewer may no longer see the entity.
	Hidden
)

// String returns the name in lower case.
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

// Change is one change that a snapshot made.
type Change struct {
	Ghost *Ghost
	What  What
	// Transferred: with Updated or Components, the owner changed.
	Transferred bool
	// Teleported: with Updated or Components, it teleported since the previous value;
	// see [Source.Teleport].
	Teleported bool
}

// NewReceiver returns an empty receiver and freezes the registry. It panics with a
// [UsageError] when the config is not valid.
func NewReceiver(r *schema.Registry, cfg ReceiverConfig) *Receiver {
	r.Plan().Frozen = true
	h := orDefault("NewReceiver", "ReceiverConfig.History", cfg.History, 64, mostHistory)
	cfg.Spawns = orDefault("NewReceiver", "ReceiverConfig.Spawns", cfg.Spawns, maxSpawns, maxWire)
	h = 1 << bits.Len(uint(h-1))
	// Twice as many versions, so that a snapshot overtaken by a whole window of others
	// still finds its baselines.
	return &Receiver{reg: r.Plan(), schemas: r, cfg: cfg, versions: 2 * h, ring: make([]receivedTick, h), lists: make([]sentList, 2*h)}
}

// Registry returns the registry that the receiver uses.
func (r *Receiver) Registry() *schema.Registry { return r.schemas }

// Newest returns the newest tick read, or false before the first.
func (r *Receiver) Newest() (schema.Tick, bool) { return r.newest, r.newest != 0 }

// Changes returns the changes of the last Read, in the order of wire ids. For a
// snapshot older than the newest, it returns only changes that were still unknown. The
// slice is valid until the next Read.
func (r *Receiver) Changes() []Change { return r.changes }

// Ghosts returns every ghost that was not released: those alive, and those gone that are
// still shown. They are sorted by wire id. If the server has reused an id, the older ghost
// comes first. The slice is valid until the next Read or Release.
func (r *Receiver) Ghosts() []*Ghost { return r.ghosts }

// Find returns the living ghost of a wire id, or nil.
func (r *Receiver) Find(w schema.WireID) *Ghost {
	if s := r.wireSlot(w); s != nil && s.ghost != nil && s.ghost.Gone == 0 {
		return s.ghost
	}
	return nil
}

// Counters returns the counts so far.
func (r *Receiver) Counters() ReceiverCounters { return r.count }

// Complete reports whether the snapshot of a tick was received, whether it held every
// change, and whether it held every change of the viewer's own entities.
func (r *Receiver) Complete(t schema.Tick) (received, all, own bool) {
	if !r.received(t) {
		return false, false, false
	}
	e := r.ring[int(t)&(len(r.ring)-1)]
	return true, e.complete, e.own
}

// PostponedUnknown reports whether the snapshot of a tick postponed an entity that has no living ghost, as far
// as its runs of wire ids show. It returns true if that snapshot was not received.
func (r *Receiver) PostponedUnknown(t schema.Tick) bool {
	if !r.received(t) {
		return true
	}
	for _, run := range r.ring[int(t)&(len(r.ring)-1)].late {
		i, _ := slices.BinarySearchFunc(r.ghosts, run.from, func(g *Ghost, w schema.WireID) int { return int(g.Wire) - int(w) })
		next, to := int(run.from), int(run.to)
		for ; i < len(r.ghosts) && next <= to && int(r.ghosts[i].Wire) == next; i++ {
			if r.ghosts[i].Gone == 0 {
				next++
			}
		}
		if next <= to {
			return true
		}
	}
	return false
}

// Grid returns the grid of a component's newest words: [schema.GridSim] for predicted
// components of the viewer's own ghosts.
func (r *Receiver) Grid(g *Ghost, comp int) schema.Grid {
	if g.Mine && r.reg.Comps[comp].Predicted {
		return schema.GridSim
	}
	return schema.GridPublic
}

// Release removes a ghost that is gone from the list. Call it once nothing shows the
// ghost. Its memory is reused: keep no pointer to it. A living ghost stays.
func (r *Receiver) Release(g *Ghost) {
	if g == nil || g.r != r || g.Gone == 0 || g.released {
		return
	}
	g.released = true
	i, ok := slices.BinarySearchFunc(r.ghosts, g, compareGhosts)
	if ok {
		r.ghosts = slices.Delete(r.ghosts, i, i+1)
	}
	if s := r.wireSlot(g.Wire); s == nil || s.ghost != g {
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

func (r *Receiver) received(t schema.Tick) bool {
	return t != 0 && r.ring[int(t)&(len(r.ring)-1)].tick == t
}

func (r *Receiver) wireSlot(w schema.WireID) *wireSlot {
	if p := r.pages[w/pageSlots]; p != nil {
		return &p[w%pageSlots]
	}
	return nil
}

// openSlot returns the state of a wire id. It allocates the page of wire ids if there is none.
func (r *Receiver) openSlot(w schema.WireID) *wireSlot {
	p := &r.pages[w/pageSlots]
	if *p == nil {
		*p = new([pageSlots]wireSlot)
	}
	return &(*p)[w%pageSlots]
}

// newGhost takes a ghost from the pool, with its history's memory.
func (r *Receiver) newGhost() *Ghost {
	if n := len(r.pool); n > 0 {
		g := r.pool[n-1]
		r.pool = r.pool[:n-1]
		*g = Ghost{r: r, vers: g.vers, head: g.head}
		return g
	}
	return &Ghost{r: r}
}
