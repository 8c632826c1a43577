package foretick

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// outside notices what changes predicted state while no system runs: hooks, handlers
// of requests, and the program around the server. It compares the columns with those
// that the tick before left.
type outside struct {
	e      *effects
	all    *ecs.Query
	tables []outsideTable
	ids    []ecs.Entity
	bytes  []byte
	seen   []bool // scratch, by table
	by     int    // the handler that runs, by its number among causes; effectOutside
}

// outsideTable is a table as it was.
type outsideTable struct {
	rows    ecs.Rows
	owner   PlayerID
	ids     int // where its entities begin …
	from, n int // … and where its columns do, and how long they are
}

// keep remembers the predicted state as it stands.
func (o *outside) keep() {
	o.tables, o.ids, o.bytes = o.tables[:0], o.ids[:0], o.bytes[:0]
	for _, rows := range o.all.All(o.e.s.world) {
		if !o.e.s.predictedRows(rows) {
			continue
		}
		t := outsideTable{rows: rows, owner: rows.Owner(), ids: len(o.ids), from: len(o.bytes)}
		o.ids = append(o.ids, rows.Entities()...)
		o.bytes = o.e.columns(o.bytes, rows)
		t.n = len(o.bytes) - t.from
		o.tables = append(o.tables, t)
	}
}

// look notes whose predicted state is not what it was, as the doing of by, and
// remembers what it is now.
func (o *outside) look(by int) {
	o.seen = append(o.seen[:0], make([]bool, len(o.tables))...)
	changed, next := false, 0
	for _, rows := range o.all.All(o.e.s.world) {
		if !o.e.s.predictedRows(rows) {
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
}

// find is the place of a table that holds as many rows as it did, −1 for another.
func (o *outside) find(rows ecs.Rows, next int) int {
	for i := range o.tables {
		if at := (next + i) % len(o.tables); o.tables[at].rows == rows {
			return at
		}
	}
	return -1
}

func (o *outside) same(t *outsideTable) bool {
	if !slices.Equal(t.rows.Entities(), o.ids[t.ids:t.ids+t.rows.Len()]) {
		return false
	}
	at := t.from
	for i := range o.e.s.p.components {
		c := &o.e.s.p.components[i]
		base := t.rows.Column(c.id)
		if !c.predicted || base == nil {
			continue
		}
		was := o.bytes[at : at+t.rows.Len()*c.imageSize()]
		at += len(was)
		if !bytes.Equal(o.e.imageNow(c, t.rows, base), was) {
			return false
		}
	}
	return true
}

// predictedRows reports whether a client predicts what is in a table: a player's rows,
// and those of what nobody owns and all predict.
func (s *Server) predictedRows(rows ecs.Rows) bool {
	return rows.Owner() != ecs.Nobody || s.p.common && s.commonRows(rows)
}

// commonRows reports whether all predict what is in a table that nobody owns.
func (s *Server) commonRows(rows ecs.Rows) bool {
	return slices.ContainsFunc(s.p.identity.Slice(rows), func(id NetworkID) bool { return s.p.prefabs[id.Prefab].common })
}

// columns appends the images of a table's predicted columns.
func (e *effects) columns(dst []byte, rows ecs.Rows) []byte {
	for i := range e.s.p.components {
		if c := &e.s.p.components[i]; c.predicted && rows.Has(c.id) {
			dst = e.image(dst, c, rows)
		}
	}
	return dst
}

// imageNow is the image of a column, until the next call.
func (e *effects) imageNow(c *component, rows ecs.Rows, base unsafe.Pointer) []byte {
	if !c.varies {
		return unsafe.Slice((*byte)(base), rows.Len()*int(c.size))
	}
	e.now = e.image(e.now[:0], c, rows)
	return e.now
}

// markHidden notes who does not see something of its own: it cannot predict what its
// entity, which the server runs on, does to the others of its own.
func (s *Server) markHidden() {
	for _, p := range s.players {
		if p.state != playing || len(p.hides) == 0 && !p.blind {
			continue
		}
		was := p.blind // and in the tick in which it is shown again
		p.blind = s.hidesOwn(p, p.owner) || s.p.common && s.hidesOwn(p, ecs.Nobody)
		if p.blind || was {
			p.affected(s.frame.Tick, s.p.hiddenCause(), Tick(s.p.tickRate/calmShare))
		}
	}
}

func (s *Server) hidesOwn(p *player, owner PlayerID) bool {
	for _, rows := range s.entities.Owned(s.world, owner) {
		for i, e := range rows.Entities() {
			k := &s.p.prefabs[s.p.identity.Slice(rows)[i].Prefab]
			if p.hides[e] && !k.local() && (owner != ecs.Nobody || k.common) {
				return true
			}
		}
	}
	return false
}

// The numbers of causes are effectOutside, those of systems, those of requests, and
// that of what is hidden from its own player.

func (p *Protocol) requestCause(kind int) int { return len(p.ordered) + 1 + kind }
func (p *Protocol) hiddenCause() int          { return p.requestCause(len(p.requests)) }
