package foretick

import (
	"bytes"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// renewedValues are the predicted values that a server system takes away and gives again in
// one tick. Who has what is the same afterwards, and the values change only when the
// system's commands are applied.
type renewedValues struct {
	values []renewedValue
	bytes  []byte
	now    []byte // scratch
}

// renewedValue is a value ahead of the commands.
type renewedValue struct {
	e       ecs.Entity
	comp    *layout.Component
	from, n int
}

// keep saves the values that the waiting commands may replace.
func (r *renewedValues) keep(e *writeWatch) {
	r.values, r.bytes = r.values[:0], r.bytes[:0]
	for i := range e.world.Deferred() {
		of, id, ok := e.world.DeferredChange(i)
		if !ok {
			continue
		}
		at := e.world.Pointer(of, id)
		k := e.p.Index(id)
		if at == nil || k < 0 || !e.p.Components[k].Predicted {
			continue
		}
		from := len(r.bytes)
		r.bytes = e.p.Components[k].AppendBytes(r.bytes, at, &e.words)
		r.values = append(r.values, renewedValue{of, &e.p.Components[k], from, len(r.bytes) - from})
	}
}

// mark notes the players whose entities have the component still, with another value.
func (r *renewedValues) mark(e *writeWatch, by int) {
	for _, v := range r.values {
		at := e.world.Pointer(v.e, v.comp.ID)
		if at == nil {
			continue // others notice who has what
		}
		if r.now = v.comp.AppendBytes(r.now[:0], at, &e.words); !bytes.Equal(r.now, r.bytes[v.from:v.from+v.n]) {
			e.mark(e.world.Owner(v.e), by)
		}
	}
	r.values = r.values[:0]
}
