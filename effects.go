package foretick

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// effects notices which player's predicted state a server-only system changed,
// so that the client can be told why its prediction was wrong. It compares the columns
// that the system declares to write, and while they are few, the others as well.
type effects struct {
	s       *Server
	both    []bool               // by system: both ends run it
	watched [][]watchedComponent // by system
	sneaked [][]watchedComponent // by system: what it might write without saying so
	running int                  // the server-only system that runs, −1 for none
	shapers []bool               // by system: the server alone runs it, and it may add and remove
	shaper  int                  // the one whose additions and removals are still to be looked for, −1 for none
	shapes  []uint64             // by owner: who has what, ahead of it
	shaped  []uint64             // scratch

	outside outside
	pushes  *pushes

	tables []watchedTable
	bytes  []byte
	now    []byte
	words  []int32 // scratch
	still  still   // debug builds alone
}

type watchedComponent struct {
	comp  *component
	query *ecs.Query
}

type watchedTable struct {
	rows ecs.Rows
	comp *component
	off  int
	size int
}

// effectOutside is the index that stands for what no system did: a join, a
// leave, the program around the server.
const effectOutside = 0

func newEffects(s *Server) *effects {
	e := &effects{s: s, running: -1, shaper: -1}
	if debugBuild {
		e.still = newStill(s.p)
	}
	for _, sys := range s.p.schedule.Systems() {
		e.both = append(e.both, shared(sys))
		e.shapers = append(e.shapers, !shared(sys) && !sys.Render && sys.Structural)
		var said, unsaid []watchedComponent
		for i := range s.p.components {
			c := &s.p.components[i]
			switch {
			case shared(sys) || sys.Render || !c.predicted || c.unknown:
			case slices.Contains(sys.Writes, c.id) || slices.Contains(sys.OtherWrites, c.id):
				said = append(said, watchedComponent{c, ecs.NewQuery(s.p.types, ecs.With(c.handle))})
			default:
				unsaid = append(unsaid, watchedComponent{c, ecs.NewQuery(s.p.types, ecs.With(c.handle))})
			}
		}
		e.watched, e.sneaked = append(e.watched, said), append(e.sneaked, unsaid)
	}
	e.outside = outside{e: e, all: s.entities}
	e.pushes = newPushes(e)
	return e
}

// before remembers what the system may change.
func (e *effects) before(i int) {
	e.settle()
	e.running = i
	if e.both[i] {
		e.pushes.begin(i)
		return
	}
	if e.shapers[i] {
		e.shaper, e.shapes = i, e.shape(e.shapes[:0])
	}
	e.tables, e.bytes = e.tables[:0], e.bytes[:0]
	e.watch(e.watched[i])
	if len(e.outside.bytes) <= sneakBytes {
		e.watch(e.sneaked[i])
	}
}

// sneakBytes is how much predicted state there may be for systems to be watched for what
// they do not declare, too. Debug builds refuse such a write; a release build only has
// to blame the right one for it, at a price that does not show.
const sneakBytes = 64 << 10

// watch remembers columns that the system may change.
func (e *effects) watch(ws []watchedComponent) {
	for _, w := range ws {
		for _, rows := range w.query.All(e.s.world) {
			if rows.Owner() == ecs.Nobody && !e.s.p.common {
				continue
			}
			size := rows.Len() * w.comp.imageSize()
			e.tables = append(e.tables, watchedTable{rows, w.comp, len(e.bytes), size})
			e.bytes = e.image(e.bytes, w.comp, rows)
		}
	}
}

// after notes whose predicted state changed.
func (e *effects) after(i int) {
	if e.both[i] {
		e.pushes.end()
		e.running = -1
		return
	}
	for _, t := range e.tables {
		now := e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.id))
		if !bytes.Equal(now, e.bytes[t.off:t.off+t.size]) {
			e.mark(t.rows.Owner(), i+1)
			if debugBuild {
				e.look(&t, now, e.bytes[t.off:t.off+t.size], i)
			}
		}
	}
	e.running = -1
}

// image appends the images of a column.
func (e *effects) image(dst []byte, c *component, rows ecs.Rows) []byte {
	base := rows.Column(c.id)
	if !c.varies {
		return append(dst, unsafe.Slice((*byte)(base), rows.Len()*int(c.size))...)
	}
	for i := range rows.Len() {
		dst = c.image(dst, unsafe.Add(base, uintptr(i)*c.size), &e.words)
	}
	return dst
}

func (e *effects) end() {
	e.settle()
	e.running = -1
}

// settle notes whose entities gained or lost predicted components by the last
// system that may do so: it shows when the system's commands were carried out,
// which is after it ended.
func (e *effects) settle() {
	if e.shaper < 0 {
		return
	}
	e.shaped = e.shape(e.shaped[:0])
	for owner, was := range e.shapes {
		if e.shaped[owner] != was {
			e.mark(PlayerID(owner), e.shaper+1)
		}
	}
	e.shaper = -1
}

// shape sums up, by owner, how many entities have which predicted components.
func (e *effects) shape(sums []uint64) []uint64 {
	for range e.s.owners {
		sums = append(sums, 0)
	}
	for _, rows := range e.s.entities.All(e.s.world) {
		owner := int(rows.Owner())
		if owner >= len(sums) || owner == 0 && !e.s.p.common {
			continue
		}
		mask := uint64(0)
		for i := range e.s.p.components {
			if c := &e.s.p.components[i]; c.predicted && rows.Has(c.id) {
				mask |= 1 << i
			}
		}
		n := uint64(rows.Len())
		if owner == 0 {
			n = 0
			for _, id := range e.s.p.identity.Slice(rows) {
				if e.s.p.prefabs[id.Prefab].common {
					n++
				}
			}
		}
		x := (mask + 1) * 0x9E3779B97F4A7C15
		x = (x ^ x>>29) * 0xBF58476D1CE4E5B9
		sums[owner] += n * (x ^ x>>32)
	}
	return sums
}

// structural notes that an entity of owner's was made or removed by something
// that only the server runs.
func (e *effects) structural(owner PlayerID) {
	switch {
	case e.running < 0:
		e.mark(owner, e.outside.by)
	case !e.both[e.running]:
		e.mark(owner, e.running+1)
	case e.s.frame.acting.on && !e.s.frame.acting.once && e.s.frame.acting.owner != owner:
		e.s.pushed(owner, e.s.frame.acting.owner)
	}
}

// mark records the effect; by is a system's index plus one. What nobody owns is
// of the island, and everybody's prediction.
func (e *effects) mark(owner PlayerID, by int) {
	if owner == ecs.Nobody && e.s.p.common {
		for _, p := range e.s.players {
			p.affected(e.s.frame.Tick, by, Tick(e.s.p.tickRate/calmShare))
		}
		return
	}
	if p := e.s.player(owner); p != nil {
		p.affected(e.s.frame.Tick, by, Tick(e.s.p.tickRate/calmShare))
	}
}

// Effects are sudden where none came for a calmShare-th of a second before; what
// writes predicted state all the time is told of at the rate of snapshots.
const calmShare = 6

// suddenTicks is how many ticks in a row bring a snapshot after a sudden effect,
// so that one lost packet does not put its correction off.
const suddenTicks = 2

// affected notes that a server system wrote the player's predicted state.
func (p *player) affected(now Tick, by int, calm Tick) {
	if p.effect == 0 || now-p.effect > calm {
		p.sudden = now
	}
	p.effect, p.effectBy = now, by
}

// due tells whether the player gets a snapshot in this tick: at its rate, and at
// once where the server did suddenly what the player cannot have foreseen.
func (p *player) due(now Tick) bool {
	return now%p.every == 0 || p.sudden != 0 && now-p.sudden < suddenTicks
}

// frameHook passes each system's beginning and end to the world's own server:
// a schedule is shared by every world of its protocol.
type frameHook struct{}

// Before is called ahead of each system.
func (frameHook) Before(f *Frame, system int) {
	if f.server != nil {
		f.server.effects.before(system)
		if debugBuild {
			f.server.settleTrails()
			f.server.losses.beforeSystem(f.World, system, f.Tick)
		}
		return
	}
	f.client.settleTrail()
	if f.client.cfg.SyncTest > 0 {
		f.client.beforeSystem()
	}
	if debugBuild && f.client.firstRun() {
		f.client.losses.beforeSystem(f.World, system, f.Tick)
	}
}

// After is called behind each system.
func (frameHook) After(f *Frame, system int) {
	if f.server != nil {
		f.server.effects.after(system)
		if debugBuild {
			f.server.losses.afterSystem(f.World, system, f.Tick)
		}
		if debugBuild && f.server.effects.both[system] {
			f.server.trailsDue = true
		}
		return
	}
	if f.client.cfg.SyncTest > 0 {
		f.client.afterSystem(system)
	}
	if debugBuild && !f.client.rendering {
		f.client.trailDue = true
	}
	if debugBuild && f.client.firstRun() {
		f.client.losses.afterSystem(f.World, system, f.Tick)
	}
}

// firstRun reports whether a system runs in a tick for the first time, over components
// of this build's own.
func (c *Client) firstRun() bool { return !c.rendering && !c.frame.Replay && !c.p.foreign }
