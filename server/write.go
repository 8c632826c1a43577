package server

import (
	"bytes"
	"log/slog"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/layout"
)

// writeWatch notes which players' predicted state a server-only system has changed, so that the clients
// can be told why their predictions were wrong. It compares the columns that the system declares to
// write and, if there are few, all others too.
type writeWatch struct {
	p        *compiled
	world    *ecs.World
	entities *ecs.Query // finds all replicated entities
	frame    *foretick.Frame
	running  *game.SystemRun
	row      *game.SingletonRow
	sessions *sessions

	both       []bool               // by system, whether both ends run it
	watched    [][]watchedComponent // the components that each system declares to write
	undeclared [][]watchedComponent // by system, the components that it does not declare to write
	// shapers has, by system, whether only the server runs it and it may add and remove.
	shapers []bool
	// shaper is the system whose additions and removals are not compared yet. It is −1 if there is
	// none.
	shaper  int
	shapes  []uint64      // by owner, a sum of the predicted components before the shaper ran
	shaped  []uint64      // scratch
	renewed renewedValues // the values that the shaper removed and added again

	late    *late.Room
	outside outsideWrites
	others  *otherWrites

	tables []watchedTable
	bytes  []byte
	now    []byte
	words  []int32 // scratch
	still  still   // for debug builds
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

func newWriteWatch(m *simulation, players *sessions, late *late.Room, log *slog.Logger) *writeWatch {
	e := &writeWatch{p: m.p, world: m.world, entities: m.entities, frame: &m.frame, running: m.running, row: &m.row, sessions: players, late: late, shaper: -1}
	if game.DebugBuild {
		e.still = newStill(m.p, log)
	}
	for _, sys := range m.p.Schedule.Systems() {
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

// BeforeSystem saves what the system may change.
func (e *writeWatch) BeforeSystem(run *game.SystemRun, i int) {
	e.settle()
	e.row.TakePredicted()
	run.By = i + 1
	if e.both[i] {
		e.others.begin(i)
		return
	}
	if e.shapers[i] {
		e.shaper, e.shapes = i, e.shape(e.shapes[:0])
		e.late.BeginShape()
	}
	e.tables, e.bytes = e.tables[:0], e.bytes[:0]
	e.watch(e.watched[i])
	if len(e.outside.bytes) <= undeclaredBytes || e.late.Window > 0 {
		e.watch(e.undeclared[i])
	}
}

// undeclaredBytes is the largest predicted state for which systems are also watched for writes that
// they do not declare. Debug builds panic at such a write. A release build only needs it to name the
// right system, at a very small cost.
const undeclaredBytes = 64 << 10

// watch saves the columns that the system may change.
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

// AfterSystem notes the players whose predicted state has changed.
func (e *writeWatch) AfterSystem(run *game.SystemRun, i int) {
	if e.both[i] {
		e.others.end()
		run.By = 0
		return
	}
	e.row.TakePredicted()
	for _, t := range e.tables {
		now := e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.ID))
		if !bytes.Equal(now, e.bytes[t.off:t.off+t.size]) {
			e.mark(t.rows.Owner(), i+1)
			e.late.Wrote(e.sessions.lateOf(t.rows.Owner()), t.rows, t.comp, e.bytes[t.off:t.off+t.size], i)
			if game.DebugBuild {
				e.look(&t, now, e.bytes[t.off:t.off+t.size], i)
			}
		}
	}
	if e.shaper >= 0 {
		e.renewed.keep(e)
	}
	run.By = 0
}

// image appends the bytes of a column.
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
	e.running.By = 0
}

// settle notes the players whose entities gained or lost predicted components through the last shaper.
// The change is visible only once the system's commands were applied, which is after its end.
func (e *writeWatch) settle() {
	if e.shaper < 0 {
		return
	}
	e.late.EndShape()
	e.renewed.mark(e, e.shaper+1)
	e.shaped = e.shape(e.shaped[:0])
	for owner, was := range e.shapes {
		if e.shaped[owner] != was {
			e.mark(foretick.PlayerID(owner), e.shaper+1)
		}
	}
	e.shaper = -1
}

// shape returns, by owner, a sum of the predicted components of all entities.
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
			for _, id := range e.p.Identity.Slice(rows) {
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

// structural notes that an entity of owner was made or removed. Among entities without an owner,
// clients predict only shared physics objects.
func (e *writeWatch) structural(owner foretick.PlayerID, prefab int) {
	run := e.running
	if !e.sharedRuns() || run.Spawner.Once || run.Spawner.On && run.Spawner.Owner != owner {
		e.late.BlockShape(e.sessions.lateOf(owner))
	}
	switch {
	case e.late.Testing():
	case owner == ecs.Nobody && !e.p.Prefabs[prefab].Common: // no client predicts it
	case run.By == 0:
		e.mark(owner, e.outside.by)
	case !e.both[run.By-1]:
		e.mark(owner, run.By)
	case run.Spawner.On && !run.Spawner.Once && run.Spawner.Owner != owner:
		e.sessions.pushed(e.frame.Tick, owner, run.Spawner.Owner)
	}
}

// mark notes the effect for the clients that predict the entity. by is a system's index plus one.
// Effects on shared physics objects are noted for every player. In a sync test it does nothing, since
// the effect was noted in the first run.
func (e *writeWatch) mark(owner foretick.PlayerID, by int) {
	if e.late.Testing() {
		return
	}
	t, every := e.frame.Tick, foretick.Tick(e.p.TickRate/calmShare)
	if e.outside.next && e.running.By == 0 {
		t++
	}
	if owner == ecs.Nobody && e.p.Common {
		for _, p := range e.sessions.players {
			p.reasons.Affected(t, by, every)
		}
		return
	}
	if p := e.sessions.player(owner); p != nil {
		if e.running.By == 0 {
			p.late.TouchPart()
		}
		p.reasons.Affected(t, by, every)
	}
}

// calmShare decides which effects are sudden: those before which there was no other for a calmShare-th
// of a second. If predicted state is written all the time, clients are told at the rate of snapshots.
const calmShare = 6

// due reports whether the player gets a snapshot in this tick: at its rate, and at once after a sudden
// effect that the player could not predict.
func (p *player) due(now foretick.Tick) bool {
	return now%p.outbox.every == 0 || p.observing == nil && p.reasons.Sudden(now)
}

// sharedRuns reports whether a system that both ends run is running now.
func (e *writeWatch) sharedRuns() bool { return e.running.By > 0 && e.both[e.running.By-1] }

// BeforeRows implements writes, for a shared system that may write other rows. It reads rows with
// singletons, which the system did not declare: so the world's guard is off meanwhile.
func (e *writeWatch) BeforeRows(rows ecs.Rows) {
	was := e.world.Guard(false)
	e.others.ahead(rows)
	e.world.Guard(was)
}

// AfterRows implements writes.
func (e *writeWatch) AfterRows(rows ecs.Rows) {
	was := e.world.Guard(false)
	e.row.TakeRow()
	e.others.behind(rows)
	e.world.Guard(was)
}

// AfterChanges implements writes.
func (e *writeWatch) AfterChanges(first int, rows ecs.Rows) {
	for i := first; i < ecs.Engine(e.world).Deferred(); i++ {
		if of, id, ok := ecs.Engine(e.world).DeferredChange(i); ok {
			e.others.shaped(of, id, rows)
		}
	}
}

// otherWrites notes players whose predicted state was changed by a shared system in its run for another
// player: both push the same crate, for example. The player's client does not run the system for those
// rows. Only systems that declare ecs.WriteOther are watched, by comparing columns.
//
// Shared physics objects are compared after each of the system's calls. A player's own rows
// are compared before the calls for that player, and at the end: every change in between
// came from other players' runs.
//
// A Once system writes all rows in one call, including a player's own rows for the player's own
// command. If clients predict remote players, such a write is not noted: a client finds by itself that
// it predicted another input of a player.
type otherWrites struct {
	e       *writeWatch
	watched [][]watchedComponent // the components of each system that are watched
	// tables has those of the system that runs. It is empty if that system is not watched.
	tables []watchedTable
	system int // the system that runs
	bytes  []byte
}

func newOtherWrites(e *writeWatch) *otherWrites {
	w := &otherWrites{e: e}
	for _, sys := range e.p.Schedule.Systems() {
		var ws []watchedComponent
		if sys.Once && e.p.Remote.Predicts {
			w.watched = append(w.watched, nil)
			continue
		}
		for _, id := range sys.OtherWrites {
			if i := e.p.Index(id); layout.Shared(sys) && i >= 0 && e.p.Components[i].Predicted {
				c := &e.p.Components[i]
				ws = append(ws, watchedComponent{c, ecs.NewQuery(e.p.Types, ecs.With(c.Handle), ecs.With(&e.p.Identity))})
			}
		}
		for i := range e.p.Components {
			if c := &e.p.Components[i]; layout.Shared(sys) && c.Predicted && c.Singleton >= 0 && slices.Contains(sys.SingleWrites, ecs.ID(c.Singleton)) {
				ws = append(ws, watchedComponent{c, ecs.NewQuery(e.p.Types, ecs.With(c.Handle), ecs.With(&e.p.Identity))})
			}
		}
		w.watched = append(w.watched, ws)
	}
	return w
}

// begin saves the watched columns before a system.
func (w *otherWrites) begin(system int) {
	w.tables, w.bytes, w.system = w.tables[:0], w.bytes[:0], system
	for _, c := range w.watched[system] {
		for _, rows := range c.query.All(w.e.world) {
			if !w.e.p.Predicts(rows) {
				continue
			}
			from := len(w.bytes)
			w.bytes = w.e.image(w.bytes, c.comp, rows)
			w.tables = append(w.tables, watchedTable{rows, c.comp, from, len(w.bytes) - from})
		}
	}
}

func (w *otherWrites) end() {
	w.e.row.TakePredicted()
	for i := range w.tables {
		if t := &w.tables[i]; t.rows.Owner() != ecs.Nobody && w.changed(t) && !w.e.late.Testing() {
			w.pushed(t)
		}
	}
	w.tables = w.tables[:0]
}

// pushed notes that another player's run changed a player's rows.
func (w *otherWrites) pushed(t *watchedTable) {
	w.e.sessions.pushed(w.e.frame.Tick, t.rows.Owner(), ecs.Nobody)
	if !game.DebugBuild {
		return
	}
	if s := w.e.p.Schedule.Systems(); !w.e.p.Remote.Predicts && !s[w.system].Once && t.comp.Singleton < 0 && w.e.sessions.player(t.rows.Owner()) != nil {
		w.e.still.pushes(w.system, s[w.system].Name, t)
	}
}

// alone reports whether no client runs a system over these rows.
func (w *otherWrites) alone(rows ecs.Rows) bool {
	return rows.Owner() == ecs.Nobody && !w.e.p.Predicts(rows)
}

// ahead is called before a watched system's call for some rows.
func (w *otherWrites) ahead(rows ecs.Rows) {
	for i := range w.tables {
		t := &w.tables[i]
		if o := t.rows.Owner(); o != ecs.Nobody && (o == rows.Owner() || rows.Owner() == ecs.Nobody) && w.changed(t) {
			w.pushed(t)
			w.copy(t)
		}
	}
}

// behind is called after that call.
func (w *otherWrites) behind(rows ecs.Rows) {
	by, alone := rows.Owner(), w.alone(rows)
	for i := range w.tables {
		t := &w.tables[i]
		switch o := t.rows.Owner(); {
		case alone:
			if w.changed(t) {
				w.e.mark(o, w.e.running.By)
				w.copy(t)
			}
		case by == ecs.Nobody || o == by: // its client does the same
			w.copy(t)
		case o == ecs.Nobody:
			if w.changed(t) {
				w.e.sessions.pushed(w.e.frame.Tick, ecs.Nobody, by)
				w.copy(t)
			}
		}
	}
}

// shaped notes that a shared system's run for some rows adds a component to an entity or removes one.
func (w *otherWrites) shaped(e ecs.Entity, component ecs.ID, rows ecs.Rows) {
	i, id := w.e.p.Index(component), w.e.p.Identity.Find(w.e.world, e)
	if i < 0 || !w.e.p.Components[i].Predicted || id == nil {
		return
	}
	owner, by := w.e.world.Owner(e), ecs.Nobody
	if rows.Len() > 0 {
		by = rows.Owner()
	}
	switch {
	case owner == ecs.Nobody && !w.e.p.Prefabs[id.Prefab].Common: // no client predicts it
	case rows.Len() > 0 && w.alone(rows):
		w.e.mark(owner, w.e.running.By)
	case rows.Len() > 0 && (by == owner || by == ecs.Nobody): // the client that predicts it does the same
	default:
		w.e.sessions.pushed(w.e.frame.Tick, owner, by)
	}
}

func (w *otherWrites) changed(t *watchedTable) bool {
	return !bytes.Equal(w.e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.ID)), w.bytes[t.off:t.off+t.size])
}

func (w *otherWrites) copy(t *watchedTable) {
	copy(w.bytes[t.off:t.off+t.size], w.e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.ID)))
}

// pushed notes that a run of a shared system for one player changed state that others predict: the rows
// of owner or, if owner is Nobody, shared physics objects, which all players but by predict. by is
// Nobody if it is not known.
func (s *sessions) pushed(now foretick.Tick, owner, by foretick.PlayerID) {
	if owner != ecs.Nobody {
		if p := s.player(owner); p != nil {
			p.reasons.Pushed(now, uint16(by))
		}
		return
	}
	for _, p := range s.players {
		if p.owner != by {
			p.reasons.Pushed(now, uint16(by))
		}
	}
}

// outsideWrites finds changes of predicted state that are made while no system runs: by hooks, request
// handlers, and the program. It compares the columns with those at the end of the tick before.
type outsideWrites struct {
	e      *writeWatch
	tables []outsideTable
	ids    []ecs.Entity
	bytes  []byte
	seen   []bool // by table, whether it was found
	next   bool   // the newest tick has ended: changes belong to the next one
	by     int    // the number of the current handler among the causes, or CauseOutside
}

// outsideTable is a table as it was saved.
type outsideTable struct {
	rows    ecs.Rows
	owner   foretick.PlayerID
	ids     int // where the table's entities begin in ids
	from, n int // where the table's columns begin in bytes, and their length
}

// keep saves the current predicted state.
func (o *outsideWrites) keep() {
	o.e.row.TakePredicted()
	o.tables, o.ids, o.bytes = o.tables[:0], o.ids[:0], o.bytes[:0]
	for _, rows := range o.e.entities.All(o.e.world) {
		if !o.e.p.Predicts(rows) {
			continue
		}
		t := outsideTable{rows: rows, owner: rows.Owner(), ids: len(o.ids), from: len(o.bytes)}
		o.ids = append(o.ids, rows.Entities()...)
		o.bytes = o.e.columns(o.bytes, rows)
		t.n = len(o.bytes) - t.from
		o.tables = append(o.tables, t)
	}
}

// look notes the players whose predicted state has changed, with by as the cause, and saves the current
// state. It reports whether there was a change.
func (o *outsideWrites) look(by int) (changed bool) {
	o.e.row.TakePredicted()
	o.seen = append(o.seen[:0], make([]bool, len(o.tables))...)
	next := 0
	for _, rows := range o.e.entities.All(o.e.world) {
		if !o.e.p.Predicts(rows) {
			continue
		}
		i := o.find(rows, next)
		if i >= 0 {
			o.seen[i], next = true, i+1
		}
		if i < 0 || !o.same(&o.tables[i]) {
			changed = true
			o.e.mark(rows.Owner(), by)
		}
	}
	for i, seen := range o.seen {
		if !seen {
			changed = true
			o.e.mark(o.tables[i].owner, by)
		}
	}
	if changed {
		o.keep()
	}
	return changed
}

// find returns the index of a saved table, or −1 if it was not saved. next is the probable index.
func (o *outsideWrites) find(rows ecs.Rows, next int) int {
	for i := range o.tables {
		if at := (next + i) % len(o.tables); o.tables[at].rows == rows {
			return at
		}
	}
	return -1
}

func (o *outsideWrites) same(t *outsideTable) bool {
	if !slices.Equal(t.rows.Entities(), o.ids[t.ids:t.ids+t.rows.Len()]) {
		return false
	}
	at := t.from
	for i := range o.e.p.Components {
		c := &o.e.p.Components[i]
		base := t.rows.Column(c.ID)
		if !c.Predicted || base == nil {
			continue
		}
		was := o.bytes[at : at+t.rows.Len()*c.ByteSize()]
		at += len(was)
		if !bytes.Equal(o.e.imageNow(c, t.rows, base), was) {
			return false
		}
	}
	return true
}

// columns appends the bytes of a table's predicted columns.
func (e *writeWatch) columns(dst []byte, rows ecs.Rows) []byte {
	for i := range e.p.Components {
		if c := &e.p.Components[i]; c.Predicted && rows.Has(c.ID) {
			dst = e.image(dst, c, rows)
		}
	}
	return dst
}

// imageNow returns the bytes of a column. They are valid until the next call.
func (e *writeWatch) imageNow(c *layout.Component, rows ecs.Rows, base unsafe.Pointer) []byte {
	if !c.Varies {
		return unsafe.Slice((*byte)(base), rows.Len()*int(c.Size))
	}
	e.now = e.image(e.now[:0], c, rows)
	return e.now
}

// The numbers of causes are CauseOutside, those of systems, those of requests, the one for entities
// that are hidden from their own player, and the one for edits through Server.Do.

// renewedValues are the predicted values that a server system removes and adds again in one tick. The
// entities have the same components afterwards, and the values change only when the system's commands
// are applied.
type renewedValues struct {
	values []renewedValue
	bytes  []byte
	now    []byte // scratch
}

// renewedValue is a value before the commands are applied.
type renewedValue struct {
	e       ecs.Entity
	comp    *layout.Component
	from, n int
}

// keep saves the values that the waiting commands may replace.
func (r *renewedValues) keep(e *writeWatch) {
	r.values, r.bytes = r.values[:0], r.bytes[:0]
	for i := range ecs.Engine(e.world).Deferred() {
		of, id, ok := ecs.Engine(e.world).DeferredChange(i)
		if !ok {
			continue
		}
		at := ecs.Engine(e.world).Pointer(of, id)
		k := e.p.Index(id)
		if at == nil || k < 0 || !e.p.Components[k].Predicted {
			continue
		}
		from := len(r.bytes)
		r.bytes = e.p.Components[k].AppendBytes(r.bytes, at, &e.words)
		r.values = append(r.values, renewedValue{of, &e.p.Components[k], from, len(r.bytes) - from})
	}
}

// mark notes the players whose entities still have the component, with another value.
func (r *renewedValues) mark(e *writeWatch, by int) {
	for _, v := range r.values {
		at := ecs.Engine(e.world).Pointer(v.e, v.comp.ID)
		if at == nil {
			continue // settle notes the change of components
		}
		if r.now = v.comp.AppendBytes(r.now[:0], at, &e.words); !bytes.Equal(r.now, r.bytes[v.from:v.from+v.n]) {
			e.mark(e.world.Owner(v.e), by)
		}
	}
	r.values = r.values[:0]
}
