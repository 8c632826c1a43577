package foretick

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// outsideWrites finds changes of predicted state made while no system runs: by hooks, request
// handlers, and the program around the server. It compares the columns with those of the
// end of the tick before.
type outsideWrites struct {
	e      *writeWatch
	tables []outsideTable
	ids    []ecs.Entity
	bytes  []byte
	seen   []bool // scratch, by table
	next   bool   // the newest tick has ended: what changes now is of the next one
	by     int    // the handler that runs, by its number among causes; causeOutside
}

// outsideTable is a table as it was.
type outsideTable struct {
	rows    ecs.Rows
	owner   PlayerID
	ids     int // where its entities begin …
	from, n int // … and where its columns do, and how long they are
}

// keep saves the current predicted state.
func (o *outsideWrites) keep() {
	o.e.row.takePredicted()
	o.tables, o.ids, o.bytes = o.tables[:0], o.ids[:0], o.bytes[:0]
	for _, rows := range o.e.entities.All(o.e.world) {
		if !o.e.p.predicts(rows) {
			continue
		}
		t := outsideTable{rows: rows, owner: rows.Owner(), ids: len(o.ids), from: len(o.bytes)}
		o.ids = append(o.ids, rows.Entities()...)
		o.bytes = o.e.columns(o.bytes, rows)
		t.n = len(o.bytes) - t.from
		o.tables = append(o.tables, t)
	}
}

// look notes the players whose predicted state has changed, with by as the cause, and saves
// the current state. It reports whether there was a change.
func (o *outsideWrites) look(by int) (changed bool) {
	o.e.row.takePredicted()
	o.seen = append(o.seen[:0], make([]bool, len(o.tables))...)
	next := 0
	for _, rows := range o.e.entities.All(o.e.world) {
		if !o.e.p.predicts(rows) {
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

// find returns the index of a table with the same number of rows, −1 for another.
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

// columns appends the images of a table's predicted columns.
func (e *writeWatch) columns(dst []byte, rows ecs.Rows) []byte {
	for i := range e.p.Components {
		if c := &e.p.Components[i]; c.Predicted && rows.Has(c.ID) {
			dst = e.image(dst, c, rows)
		}
	}
	return dst
}

// imageNow returns the image of a column, valid until the next call.
func (e *writeWatch) imageNow(c *layout.Component, rows ecs.Rows, base unsafe.Pointer) []byte {
	if !c.Varies {
		return unsafe.Slice((*byte)(base), rows.Len()*int(c.Size))
	}
	e.now = e.image(e.now[:0], c, rows)
	return e.now
}

// The numbers of causes are causeOutside, those of systems, those of requests, that of
// what is hidden from its own player, and that of edits through Server.Do.
