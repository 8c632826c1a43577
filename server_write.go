package foretick

import (
	"bytes"
	"log/slog"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// writeWatch notices which player's predicted state a server-only system changed,
// so that the client can be told why its prediction was wrong. It compares the columns
// that the system declares to write, and while they are few, the others as well.
type writeWatch struct {
	p        *compiled
	world    *ecs.World
	entities *ecs.Query // everything replicated
	frame    *Frame
	row      *singletonRow
	sessions *sessions

	both       []bool               // by system: both ends run it
	watched    [][]watchedComponent // by system
	undeclared [][]watchedComponent // by system: what it might write without saying so
	running    int                  // the server-only system that runs, −1 for none
	shapers    []bool               // by system: the server alone runs it, and it may add and remove
	shaper     int                  // the one whose additions and removals are still to be looked for, −1 for none
	shapes     []uint64             // by owner: who has what, ahead of it
	shaped     []uint64             // scratch
	renewed    renewedValues        // by the shaper

	late    *lateInputs
	outside outsideWrites
	others  *otherWrites

	tables []watchedTable
	bytes  []byte
	now    []byte
	words  []int32 // scratch
	still  still   // debug builds alone
}

type watchedComponent struct {
	comp  *layout.Component
	query *ecs.Query
}

type watchedTable struct {
	rows ecs.Rows
	comp *layout.Component
	off  int
	size int
}

func newWriteWatch(m *simulation, players *sessions, log *slog.Logger) *writeWatch {
	e := &writeWatch{p: m.p, world: m.world, entities: m.entities, frame: &m.frame, row: &m.row, sessions: players, running: -1, shaper: -1}
	if debugBuild {
		e.still = newStill(m.p, log)
	}
	for _, sys := range m.p.schedule.Systems() {
		e.both = append(e.both, layout.Shared(sys))
		e.shapers = append(e.shapers, !layout.Shared(sys) && !sys.Render && sys.Structural)
		var said, unsaid []watchedComponent
		for i := range m.p.Components {
			c := &m.p.Components[i]
			switch {
			case layout.Shared(sys) || sys.Render || !c.Predicted || c.Unknown:
			case slices.Contains(sys.Writes, c.ID) || slices.Contains(sys.OtherWrites, c.ID) || c.Singleton >= 0 && slices.Contains(sys.SingleWrites, ecs.ID(c.Singleton)):
				said = append(said, watchedComponent{c, ecs.NewQuery(m.p.Types, ecs.With(c.Handle))})
			default:
				unsaid = append(unsaid, watchedComponent{c, ecs.NewQuery(m.p.Types, ecs.With(c.Handle))})
			}
		}
		e.watched, e.undeclared = append(e.watched, said), append(e.undeclared, unsaid)
	}
	e.outside = outsideWrites{e: e}
	e.others = newOtherWrites(e)
	return e
}

// before remembers what the system may change.
func (e *writeWatch) before(i int) {
	e.settle()
	e.row.takePredicted()
	e.running = i
	if e.both[i] {
		e.others.begin(i)
		return
	}
	if e.shapers[i] {
		e.shaper, e.shapes = i, e.shape(e.shapes[:0])
		e.late.beginShape()
	}
	e.tables, e.bytes = e.tables[:0], e.bytes[:0]
	e.watch(e.watched[i])
	if len(e.outside.bytes) <= undeclaredBytes || e.late.window > 0 {
		e.watch(e.undeclared[i])
	}
}

// sneakBytes limits the predicted state for which systems are also watched for writes that
// they do not declare. Debug builds refuse such a write. A release build only needs to
// blame the right system, at a negligible cost.
const undeclaredBytes = 64 << 10

// watch saves columns that the system may change.
func (e *writeWatch) watch(ws []watchedComponent) {
	for _, w := range ws {
		for _, rows := range w.query.All(e.world) {
			if rows.Owner() == ecs.Nobody && !e.p.Common {
				continue
			}
			size := rows.Len() * w.comp.ByteSize()
			e.tables = append(e.tables, watchedTable{rows, w.comp, len(e.bytes), size})
			e.bytes = e.image(e.bytes, w.comp, rows)
		}
	}
}

// after notes the players whose predicted state changed.
func (e *writeWatch) after(i int) {
	if e.both[i] {
		e.others.end()
		e.running = -1
		return
	}
	e.row.takePredicted()
	for _, t := range e.tables {
		now := e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.ID))
		if !bytes.Equal(now, e.bytes[t.off:t.off+t.size]) {
			e.mark(t.rows.Owner(), i+1)
			e.late.wrote(&t, e.bytes[t.off:t.off+t.size], i)
			if debugBuild {
				e.look(&t, now, e.bytes[t.off:t.off+t.size], i)
			}
		}
	}
	if e.shaper >= 0 {
		e.renewed.keep(e)
	}
	e.running = -1
}

// image appends the images of a column.
func (e *writeWatch) image(dst []byte, c *layout.Component, rows ecs.Rows) []byte {
	base := rows.Column(c.ID)
	if !c.Varies {
		return append(dst, unsafe.Slice((*byte)(base), rows.Len()*int(c.Size))...)
	}
	for i := range rows.Len() {
		dst = c.AppendBytes(dst, unsafe.Add(base, uintptr(i)*c.Size), &e.words)
	}
	return dst
}

func (e *writeWatch) end() {
	e.settle()
	e.running = -1
}

// settle notes the players whose entities gained or lost predicted components by the last
// system that may do so. The change is visible only after the system's commands were
// applied, which is after the system ended.
func (e *writeWatch) settle() {
	if e.shaper < 0 {
		return
	}
	e.late.endShape()
	e.renewed.mark(e, e.shaper+1)
	e.shaped = e.shape(e.shaped[:0])
	for owner, was := range e.shapes {
		if e.shaped[owner] != was {
			e.mark(PlayerID(owner), e.shaper+1)
		}
	}
	e.shaper = -1
}

// shape sums up, by owner, the predicted components of all entities.
func (e *writeWatch) shape(sums []uint64) []uint64 {
	for range e.sessions.owners {
		sums = append(sums, 0)
	}
	for _, rows := range e.entities.All(e.world) {
		owner := int(rows.Owner())
		if owner >= len(sums) || owner == 0 && !e.p.Common {
			continue
		}
		x := uint64(1)
		for i := range e.p.Components {
			if c := &e.p.Components[i]; c.Predicted && rows.Has(c.ID) {
				x = (x ^ uint64(i)) * 0x100000001B3
			}
		}
		n := uint64(rows.Len())
		if owner == 0 {
			n = 0
			for _, id := range e.p.identity.Slice(rows) {
				if e.p.Prefabs[id.Prefab].Common {
					n++
				}
			}
		}
		x *= 0x9E3779B97F4A7C15
		x = (x ^ x>>29) * 0xBF58476D1CE4E5B9
		sums[owner] += n * (x ^ x>>32)
	}
	return sums
}

// structural notes that an entity of owner's was made or removed. Of what nobody owns, clients
// predict shared physics objects alone.
func (e *writeWatch) structural(owner PlayerID, prefab int) {
	if e.running < 0 || !e.both[e.running] || e.frame.spawner.once || e.frame.spawner.on && e.frame.spawner.owner != owner {
		e.late.shaped(e.sessions.player(owner))
	}
	switch {
	case e.late.test.running:
	case owner == ecs.Nobody && !e.p.Prefabs[prefab].Common: // nobody predicts it
	case e.running < 0:
		e.mark(owner, e.outside.by)
	case !e.both[e.running]:
		e.mark(owner, e.running+1)
	case e.frame.spawner.on && !e.frame.spawner.once && e.frame.spawner.owner != owner:
		e.sessions.pushed(e.frame.Tick, owner, e.frame.spawner.owner)
	}
}

// mark records the effect. by is a system's index plus one. Effects on shared physics
// objects are noted for every player. What a sync test runs again has been noted before.
func (e *writeWatch) mark(owner PlayerID, by int) {
	if e.late.test.running {
		return
	}
	t, every := e.frame.Tick, Tick(e.p.TickRate/calmShare)
	if e.outside.next && e.running < 0 {
		t++
	}
	if owner == ecs.Nobody && e.p.Common {
		for _, p := range e.sessions.players {
			p.reasons.Affected(t, by, every)
		}
		return
	}
	if p := e.sessions.player(owner); p != nil {
		if p.late != nil && e.running < 0 {
			p.late.outside = true
		}
		p.reasons.Affected(t, by, every)
	}
}

// Effects are sudden where none came for a calmShare-th of a second before; what
// writes predicted state all the time is told of at the rate of snapshots.
const calmShare = 6

// due reports whether the player gets a snapshot in this tick: at its rate, and at once
// after a sudden effect that the player could not predict.
func (p *player) due(now Tick) bool {
	return now%p.outbox.every == 0 || p.observing == nil && p.reasons.Sudden(now)
}

// sharedRuns reports whether what runs at the moment runs on both ends.
func (e *writeWatch) sharedRuns() bool { return e.running >= 0 && e.both[e.running] }
