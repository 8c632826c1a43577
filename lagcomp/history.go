package lagcomp

import (
	"sync/atomic"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/internal/misuse"
)

// History keeps the hitboxes of every entity for the newest ticks. It allocates while it
// grows to the game's size, and not after. Begin, Put, End and Reset must not run at the
// same time as queries. Queries may run in parallel with one another.
type History struct {
	cfg    Config
	ring   []frame
	lives  lives
	newest *frame // newest is the last complete tick. It is nil before the first.
	// last is the last complete tick while AsOf makes an earlier one the newest. Otherwise it is nil.
	last   *frame
	rec    *frame // rec is the tick being recorded.
	runs   uint32 // runs numbers the lives.
	serial uint64 // serial numbers the ticks recorded.
	stats  HistoryStats
	broken atomic.Uint64
}

// HistoryStats counts what a History met.
type HistoryStats struct {
	// Ticks and Entities count what was recorded.
	Ticks, Entities uint64
	// Broken counts entities recorded with a number that is not finite, or too large.
	// They cannot be hit in that tick. They are counted when the tick is first viewed.
	Broken uint64
}

// String returns the counters that are not zero as one line for a log.
func (s HistoryStats) String() string { return counts.Line(s) }

// UsageError is what History panics with when its calls are out of order, and NewJudge when
// its config is not valid. It is a fault of the program, not of its input. Its text names
// the remedy. The other packages of this module panic with it too.
type UsageError = misuse.Error

// outOfOrder panics about a call of History. An entity 0 is none.
func outOfOrder(call string, t Tick, id ID, fix string) {
	misuse.Panicf("lagcomp: History.%s at tick %d, entity %d: %s", call, t, id, fix)
}

// NewHistory makes an empty history. The error is a *ConfigError. A full history holds
// Config.Depth and two ticks. A tick takes 48 bytes for each hitbox and some 50 for each
// entity.
func NewHistory(cfg Config) (*History, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	// One tick more than the depth is kept to interpolate towards, and one is being recorded.
	h := &History{cfg: cfg, ring: make([]frame, cfg.ticks(cfg.Depth)+2)}
	return h, nil
}

// Begin starts recording tick t, which must be newer than all before it. Ticks may be left
// out; views then interpolate across the gap. Begin forgets the oldest tick. A Past
// obtained before must not be used any more. It panics with a UsageError when t is not
// newer or a tick is still being recorded.
func (h *History) Begin(t Tick) {
	if h.rec != nil {
		outOfOrder("Begin", t, 0, "call End for the tick before")
	}
	if h.newest != nil && t <= h.newest.tick {
		outOfOrder("Begin", t, 0, "ticks must grow; call Reset when a new level starts to count again")
	}
	h.expire(t)
	f := &h.ring[t%Tick(len(h.ring))]
	h.serial++
	f.tick, f.serial = t, h.serial
	h.rec = f
}

// expire forgets every tick that is too old once t is recorded: those that
// share a place in the ring with t or a tick left out before it.
func (h *History) expire(t Tick) {
	n := Tick(len(h.ring))
	steps := n
	left := true
	if h.newest != nil {
		steps = min(n, t-h.newest.tick)
		left = steps == n || h.lives.used != len(h.newest.who) // whether any entity has left
	}
	for k := range steps {
		f := &h.ring[(t-k)%n]
		if !f.held {
			continue
		}
		for i := 0; left && i < len(f.who); i++ {
			h.lives.expire(f.who[i].slot, f.tick)
		}
		f.clearFrame()
	}
}

// Put records one entity's hitboxes for the tick. owner is the player that
// Filter.ExcludeOwner can leave out. life is the caller's count of the entity's lives.
// When it changes (respawn, teleport), or when the entity was left out for a tick, its
// history is cut, and nothing interpolates across. The hitboxes are copied. An entity
// should keep their number, kinds and order from tick to tick. Where it does not, views
// show the earlier tick until the later one is reached. It panics with a UsageError
// outside of Begin and End, when the entity was put already, or when it has more than
// 65535 hitboxes.
func (h *History) Put(id ID, owner uint32, life uint32, vs ...Hitbox) {
	f := h.rec
	if f == nil {
		outOfOrder("Put", 0, id, "call Begin first")
	}
	// Entities come in the same order in most ticks, so the last tick's is
	// tried before the table.
	var slot int32
	k := len(f.who)
	if last := h.newest; last != nil && k < len(last.who) && last.who[k].id == id {
		slot = last.who[k].slot
	} else {
		slot = h.lives.slotFor(id)
	}
	l := &h.lives.slots[slot]
	if l.last == f.tick && l.run != 0 || len(vs) > maxHitboxes {
		refusePut(f.tick, id, len(vs))
	}
	if l.life != life || l.run == 0 || l.last != h.newest.tick {
		h.runs++
		l.run, l.life = h.runs, life
	}
	l.last = f.tick
	if k == cap(f.who) || int(slot) >= len(f.at) {
		f.growSlots(slot)
	}
	// Stored one by one: a struct built first and copied is read back in wider
	// pieces than it was written, which waits until every store before it (the
	// last entity's hitboxes) has left the store buffer, and doubles the time.
	f.at[slot] = int32(k)
	f.who = f.who[:k+1]
	w := &f.who[k]
	w.id, w.owner, w.life = id, owner, life
	w.slot, w.run, w.first, w.count = slot, l.run, uint32(len(f.hitboxes)), uint16(len(vs))
	f.hitboxes = append(f.hitboxes, vs...)
}

// refusePut panics about an entity that cannot be put.
func refusePut(t Tick, id ID, hitboxes int) {
	fix := "put each entity once a tick, with all its hitboxes"
	if hitboxes > maxHitboxes {
		fix = "an entity has at most 65535 hitboxes"
	}
	outOfOrder("Put", t, id, fix)
}

// End completes the tick: from now on it can be queried. It panics with a UsageError when
// none was begun.
func (h *History) End() {
	if h.rec == nil {
		outOfOrder("End", 0, 0, "call Begin first")
	}
	h.rec.held = true
	h.newest = h.rec
	h.rec = nil
	h.stats.Ticks++
	h.stats.Entities += uint64(len(h.newest.who))
}

// Reset forgets everything, for a new level or match. Ticks may start again at any number.
// The memory is kept.
func (h *History) Reset() {
	for i := range h.ring {
		h.ring[i].clearFrame()
	}
	h.lives.reset()
	h.newest, h.rec = nil, nil
}

// Newest returns the newest complete tick, and false when there is none.
func (h *History) Newest() (Tick, bool) {
	if h.newest == nil {
		return 0, false
	}
	return h.newest.tick, true
}

// Oldest returns the oldest tick that is held, and false when there is none.
func (h *History) Oldest() (Tick, bool) {
	if h.newest == nil {
		return 0, false
	}
	t := h.newest.tick
	for i := range h.ring {
		if f := &h.ring[i]; f.held && f.tick < t {
			t = f.tick
		}
	}
	return t, true
}

// Stats returns the counters.
func (h *History) Stats() HistoryStats {
	s := h.stats
	s.Broken = h.broken.Load()
	return s
}

// frame returns a held tick, or nil.
func (h *History) frame(t Tick) *frame {
	if f := &h.ring[t%Tick(len(h.ring))]; f.held && f.tick == t {
		return f
	}
	return nil
}
