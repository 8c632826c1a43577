package rewind

import (
	"time"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Config holds the settings of a Past.
type Config struct {
	Lagcomp lagcomp.Config
	// NoRewind judges every shot in the newest complete tick.
	NoRewind bool
}

// Past holds the server's record of the newest ticks.
type Past struct {
	game     Game
	cfg      Config
	world    World
	interval time.Duration
	most     time.Duration // most is how far a view goes back at most.
	growth   time.Duration // growth is how much a player's rewind may grow at most.

	history  *lagcomp.History
	recorded bool // recorded is true once the history holds a tick.
	ring     []record
	runs     uint32 // runs numbers the lives.
	hitboxes *Hitboxes
	cuts     map[lagcomp.ID]uint32 // cuts is how often an entity's past was cut.
	// ended has the tick in which each life ended, of those since the newest tick recorded.
	ended map[lagcomp.ID]Tick
	// handovers has the newest changes of owner, the oldest first.
	handovers []handover
	now       *record // now is the record being made.
	before    *record // before is the record of the tick before now, or nil.
	alive     func(lagcomp.ID, uint32) bool
}

// record holds one tick: the components that hitboxes are built from, with the values that
// other players were sent.
type record struct {
	tick  Tick
	items []item
	words []int32
}

// item is an entity in one tick.
type item struct {
	id     lagcomp.ID
	owner  uint32
	life   uint32 // life is the game's count of its lives.
	run    uint32 // run is which life it is, numbered over all entities.
	count  uint32 // count is the game's count of lives, from the values as they were in the world.
	off    int32  // off is where the words of the components that are read begin.
	prefab uint16
	grid   schema.Grid // grid is the grid of its words.
	mask   schema.Mask // mask has its replicated components.
}

// NewPast makes an empty past. The game gives the tick rate and the shapes. Zero means
// lagcomp's default, and negative means none. The error is a *lagcomp.ConfigError.
func NewPast(g Game, cfg Config, w World) (*Past, error) {
	cfg.Lagcomp.TickRate, cfg.Lagcomp.Shapes = g.TickRate, g.Shapes
	h, err := lagcomp.NewHistory(cfg.Lagcomp)
	if err != nil {
		return nil, err
	}
	p := &Past{
		game: g, cfg: cfg, world: w, interval: time.Second / time.Duration(g.TickRate),
		most:   orDefault(cfg.Lagcomp.MaxRewind, lagcomp.DefaultMaxRewind),
		growth: orDefault(cfg.Lagcomp.Growth, lagcomp.DefaultGrowth), history: h, ring: make([]record, reach(g.TickRate)), cuts: map[lagcomp.ID]uint32{}, ended: map[lagcomp.ID]Tick{},
	}
	p.hitboxes, p.alive = NewHitboxes(&p.game), p.lives
	return p, nil
}

// orDefault reads a duration of a config: zero means the default, negative means none.
func orDefault(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return max(d, 0)
}

// reach returns the number of newest ticks that a view may use. It covers the longest
// rewind, and the three seconds for which snapshots may have left an entity out before it.
func reach(rate int) int { return 4*rate + 8 }

// Begin starts recording a tick. Views made before must not be used any more.
func (p *Past) Begin(t Tick) {
	p.history.Begin(t)
	clear(p.ended)
	p.beginHandovers(t)
	p.before = p.recordOf(t - 1)
	p.now = &p.ring[t%Tick(len(p.ring))]
	p.now.tick, p.now.items, p.now.words = t, p.now.items[:0], p.now.words[:0]
}

// AsOf treats tick t as the newest one recorded, for a tick that runs again, until AsOf(0).
func (p *Past) AsOf(t Tick) {
	p.history.AsOf(t)
	for id, ended := range p.ended {
		if t != 0 && ended == t+1 { // tick t+1 runs again, and the entity may end in it or not
			delete(p.ended, id)
		}
	}
}

// Fit prepares for entities with the components of mask. It reports whether they must be
// Put.
func (p *Past) Fit(mask schema.Mask) bool { return p.hitboxes.Fit(mask) }

// Put records an entity with the components that Fit was called for, with the values that
// other players are sent.
func (p *Past) Put(id lagcomp.ID, e Entity, source *snapshot.Source) {
	f, b := p.now, p.hitboxes
	off := len(f.words)
	to, grid := schema.Audience(0), schema.GridPublic
	if e.Owner == 0 && p.game.Prefabs[e.Prefab].Common {
		to, grid = schema.ToOwner, schema.GridSim // every client counts as its owner
	}
	for _, comp := range b.need {
		words := source.Words(e.Net, comp, to)
		p.game.Components[comp].Schema.DequantiseMasked(words, grid, noRefs{}, b.values[comp])
		f.words = append(f.words, words...)
	}
	hitboxes := b.Build()
	if len(hitboxes) == 0 && len(b.table) > 0 {
		f.words = f.words[:off]
		return
	}
	it := item{id: id, owner: e.Owner, life: b.life(b.mask) + p.cuts[id]*65537, prefab: e.Prefab, grid: grid, mask: b.mask, off: int32(off)}
	if len(p.game.Lives) > 0 {
		it.count, _ = p.world.Lives(id)
	}
	j := p.before.indexOf(id, len(f.items))
	if j >= 0 && p.before.items[j].owner != it.owner {
		p.handovers = append(p.handovers, handover{id: id, tick: f.tick, from: p.before.items[j].owner, to: it.owner, prefab: it.prefab})
	}
	if j >= 0 && p.before.items[j].life == it.life {
		it.run = p.before.items[j].run
	} else {
		p.runs++
		it.run = p.runs
	}
	p.history.Put(id, it.owner, it.run, hitboxes...)
	f.items = append(f.items, it)
}

// End completes the tick.
func (p *Past) End() {
	p.history.End()
	p.recorded, p.now, p.before = true, nil, nil
}

// Reset forgets the past, for a new level.
func (p *Past) Reset() {
	p.history.Reset()
	p.recorded, p.handovers = false, p.handovers[:0]
}

// EndLife ends the life of an entity in the tick that is computed: later shots of that tick
// do not hit it in the past.
func (p *Past) EndLife(id lagcomp.ID) { p.ended[id] = p.newest() + 1 }

// Cut ends the past of an entity: no shot is rewound to before this tick, and nothing is
// interpolated across it.
func (p *Past) Cut(id lagcomp.ID) {
	if newest := p.recordOf(p.newest()); newest != nil && len(p.cuts) > 2*len(newest.items)+16 {
		for old := range p.cuts {
			if _, alive := p.world.Entity(old); !alive {
				delete(p.cuts, old)
			}
		}
	}
	p.cuts[id]++
}

// Life returns the game's life counter of an entity in the newest tick.
func (p *Past) Life(id lagcomp.ID) uint32 {
	f := p.recordOf(p.newest())
	if i := f.indexOf(id, 0); i >= 0 {
		return f.items[i].life
	}
	return 0
}

// lives reports whether an entity still has the life with this number. It does not if the life ended since the
// newest tick, because another shot of the tick that is computed killed the entity.
func (p *Past) lives(id lagcomp.ID, run uint32) bool {
	f := p.recordOf(p.newest())
	i := f.indexOf(id, 0)
	if i < 0 || f.items[i].run != run {
		return false
	}
	if ended, ok := p.ended[id]; ok && ended == f.tick+1 {
		return false
	}
	if len(p.game.Lives) > 0 {
		count, alive := p.world.Lives(id)
		return !alive || count == f.items[i].count
	}
	return true
}

// newest returns the newest tick recorded.
func (p *Past) newest() Tick {
	t, _ := p.history.Newest()
	return t
}

// recordOf returns the record of a tick, or nil.
func (p *Past) recordOf(t Tick) *record {
	if f := &p.ring[t%Tick(len(p.ring))]; f.tick == t && t != 0 {
		return f
	}
	return nil
}

// indexOf returns an entity's index, or −1. hint is its likely index.
func (f *record) indexOf(id lagcomp.ID, hint int) int {
	if f == nil {
		return -1
	}
	if hint < len(f.items) && f.items[hint].id == id {
		return hint
	}
	for i := range f.items {
		if f.items[i].id == id {
			return i
		}
	}
	return -1
}

// same reports whether an entity has the same life, grid and components in another tick.
// Otherwise nothing is interpolated.
func (it *item) same(o *item) bool {
	return it.mask.Equal(o.mask) && it.grid == o.grid && it.life == o.life
}
