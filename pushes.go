package foretick

import (
	"bytes"

	"github.com/foretick/foretick/ecs"
)

// pushes notices whose predicted state a shared system changed while it ran over rows
// that the player's client does not run it over: another player's, who pushes the same
// crate. Only systems that declare ecs.WriteOther are looked at, by comparing columns.
//
// What nobody owns and all predict is compared after each of the system's calls. A
// player's own rows are compared ahead of the calls for that player, and in the end:
// whatever changed in between was somebody else's doing.
type pushes struct {
	e       *effects
	watched [][]watchedComponent // by system
	tables  []watchedTable       // of the system that runs; none: it is not watched
	bytes   []byte
}

func newPushes(e *effects) *pushes {
	w := &pushes{e: e}
	for _, sys := range e.s.p.schedule.Systems() {
		var ws []watchedComponent
		for _, id := range sys.OtherWrites {
			if i := e.s.p.index(id); shared(sys) && i >= 0 && e.s.p.components[i].predicted {
				c := &e.s.p.components[i]
				ws = append(ws, watchedComponent{c, ecs.NewQuery(e.s.p.types, ecs.With(c.handle), ecs.With(&e.s.p.identity))})
			}
		}
		w.watched = append(w.watched, ws)
	}
	return w
}

// pushing wraps a shared system that may write others' rows, so that it is known whose
// run of it did.
func pushing(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		if f.server == nil || rows.Len() == 0 {
			run(f, rows)
			return
		}
		w := f.server.effects.pushes
		w.ahead(rows)
		run(f, rows)
		w.behind(rows)
	}
}

// begin is called ahead of each system.
func (w *pushes) begin(system int) {
	w.tables, w.bytes = w.tables[:0], w.bytes[:0]
	for _, c := range w.watched[system] {
		for _, rows := range c.query.All(w.e.s.world) {
			if !w.e.s.predictedRows(rows) {
				continue
			}
			from := len(w.bytes)
			w.bytes = w.e.image(w.bytes, c.comp, rows)
			w.tables = append(w.tables, watchedTable{rows, c.comp, from, len(w.bytes) - from})
		}
	}
}

func (w *pushes) end() {
	for i := range w.tables {
		if t := &w.tables[i]; t.rows.Owner() != ecs.Nobody && w.changed(t) {
			w.e.s.pushed(t.rows.Owner(), ecs.Nobody)
		}
	}
	w.tables = w.tables[:0]
}

// alone reports whether no client runs a system over these rows.
func (w *pushes) alone(rows ecs.Rows) bool {
	return rows.Owner() == ecs.Nobody && !w.e.s.predictedRows(rows)
}

// ahead is called ahead of a watched system's call for some rows.
func (w *pushes) ahead(rows ecs.Rows) {
	for i := range w.tables {
		t := &w.tables[i]
		if o := t.rows.Owner(); o != ecs.Nobody && (o == rows.Owner() || rows.Owner() == ecs.Nobody) && w.changed(t) {
			w.e.s.pushed(o, ecs.Nobody)
			w.copy(t)
		}
	}
}

// behind is called behind it.
func (w *pushes) behind(rows ecs.Rows) {
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
				w.e.s.pushed(ecs.Nobody, by)
				w.copy(t)
			}
		}
	}
}

func (w *pushes) changed(t *watchedTable) bool {
	return !bytes.Equal(w.e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.id)), w.bytes[t.off:t.off+t.size])
}

func (w *pushes) copy(t *watchedTable) {
	copy(w.bytes[t.off:t.off+t.size], w.e.imageNow(t.comp, t.rows, t.rows.Column(t.comp.id)))
}

// pushed notes that a run of a shared system for one player changed what another
// predicts: the rows of an owner, or with Nobody what all but by predict. by may be
// Nobody, where it is not known who did.
func (s *Server) pushed(owner, by PlayerID) {
	if owner != ecs.Nobody {
		if p := s.player(owner); p != nil {
			p.pushed, p.pushedBy = s.frame.Tick, by
		}
		return
	}
	for _, p := range s.players {
		if p.owner != by {
			p.pushed, p.pushedBy = s.frame.Tick, by
		}
	}
}
