package foretick

import (
	"bytes"
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// otherWrites notes players whose predicted state another player's run of a shared system
// changed: both push the same crate, for example. The player's client does not run the
// system for those rows. Only systems that declare ecs.WriteOther are watched, by comparing
// columns.
//
// Shared physics objects are compared after each of the system's calls. A player's own rows
// are compared before the calls for that player, and at the end: every change in between
// came from other players' runs.
//
// A Once system writes all rows in one call, the player's own for its own command too. Where
// clients predict remote players, such a write says nothing: a client finds by itself that it
// took another player's input for a different one.
type otherWrites struct {
	e       *writeWatch
	watched [][]watchedComponent // by system
	tables  []watchedTable       // of the system that runs; none: it is not watched
	system  int                  // that runs
	bytes   []byte
}

func newOtherWrites(e *writeWatch) *otherWrites {
	w := &otherWrites{e: e}
	for _, sys := range e.p.schedule.Systems() {
		var ws []watchedComponent
		if sys.Once && e.p.Remote.Predicts {
			w.watched = append(w.watched, nil)
			continue
		}
		for _, id := range sys.OtherWrites {
			if i := e.p.Index(id); layout.Shared(sys) && i >= 0 && e.p.Components[i].Predicted {
				c := &e.p.Components[i]
				ws = append(ws, watchedComponent{c, ecs.NewQuery(e.p.Types, ecs.With(c.Handle), ecs.With(&e.p.identity))})
			}
		}
		for i := range e.p.Components {
			if c := &e.p.Components[i]; layout.Shared(sys) && c.Predicted && c.Singleton >= 0 && slices.Contains(sys.SingleWrites, ecs.ID(c.Singleton)) {
				ws = append(ws, watchedComponent{c, ecs.NewQuery(e.p.Types, ecs.With(c.Handle), ecs.With(&e.p.identity))})
			}
		}
		w.watched = append(w.watched, ws)
	}
	return w
}

// begin is called ahead of each system.
func (w *otherWrites) begin(system int) {
	w.tables, w.bytes, w.system = w.tables[:0], w.bytes[:0], system
	for _, c := range w.watched[system] {
		for _, rows := range c.query.All(w.e.world) {
			if !w.e.p.predicts(rows) {
				continue
			}
			from := len(w.bytes)
			w.bytes = w.e.image(w.bytes, c.comp, rows)
			w.tables = append(w.tables, watchedTable{rows, c.comp, from, len(w.bytes) - from})
		}
	}
}

func (w *otherWrites) end() {
	w.e.row.takePredicted()
	for i := range w.tables {
		if t := &w.tables[i]; t.rows.Owner() != ecs.Nobody && w.changed(t) && !w.e.late.test.running {
			w.pushed(t)
		}
	}
	w.tables = w.tables[:0]
}

// pushed notes that another player's run changed a player's rows.
func (w *otherWrites) pushed(t *watchedTable) {
	w.e.sessions.pushed(w.e.frame.Tick, t.rows.Owner(), ecs.Nobody)
	if !debugBuild {
		return
	}
	if s := w.e.p.schedule.Systems(); !w.e.p.Remote.Predicts && !s[w.system].Once && t.comp.Singleton < 0 && w.e.sessions.player(t.rows.Owner()) != nil {
		w.e.still.pushes(w.system, s[w.system].Name, t)
	}
}

// alone reports whether no client runs a system over these rows.
func (w *otherWrites) alone(rows ecs.Rows) bool {
	return rows.Owner() == ecs.Nobody && !w.e.p.predicts(rows)
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

// behind is called after it.
func (w *otherWrites) behind(rows ecs.Rows) {
	by, alone := rows.Owner(), w.alone(rows)
	for i := range w.tables {
		t := &w.tables[i]
		switch o := t.rows.Owner(); {
		case alone:
			if w.changed(t) {
				w.e.mark(o, w.e.running+1)
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

// shaped notes that a shared system's run for some rows adds a component to an entity, or
// removes it.
func (w *otherWrites) shaped(e ecs.Entity, component ecs.ID, rows ecs.Rows) {
	i, id := w.e.p.Index(component), w.e.p.identity.Find(w.e.world, e)
	if i < 0 || !w.e.p.Components[i].Predicted || id == nil {
		return
	}
	owner, by := w.e.world.Owner(e), ecs.Nobody
	if rows.Len() > 0 {
		by = rows.Owner()
	}
	switch {
	case owner == ecs.Nobody && !w.e.p.Prefabs[id.Prefab].Common: // nobody predicts it
	case rows.Len() > 0 && w.alone(rows):
		w.e.mark(owner, w.e.running+1)
	case rows.Len() > 0 && (by == owner || by == ecs.Nobody): // who predicts it does the same
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

// pushed notes that a run of a shared system for one player changed state that another
// predicts. That is the rows of owner, or, if owner is Nobody, shared physics objects,
// which all but by predict. by is Nobody if it is not known.
func (s *sessions) pushed(now Tick, owner, by PlayerID) {
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
