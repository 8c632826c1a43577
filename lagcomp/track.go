package lagcomp

// Track keeps a value of the game's own for each entity of a History, over the
// same ticks: a facing for a stab in the back, a stance, the progress of a
// capture. Its rules are those of the history's volumes: interpolated between
// two ticks, cut where the entity's life was. Like History, recording and
// querying exclude each other.
type Track[T any] struct {
	h     *History
	blend func(a, b T, f float32) T
	ring  []tracked[T]
}

// tracked is one tick of a Track; its slices follow the places of the frame.
type tracked[T any] struct {
	serial uint64 // of the frame that it follows
	values []T
	set    []bool
}

// NewTrack makes a track beside a history. blend answers the value part of the
// way f, between 0 and 1, from a to b; nil holds a until b is reached.
func NewTrack[T any](h *History, blend func(a, b T, f float32) T) *Track[T] {
	return &Track[T]{h: h, blend: blend, ring: make([]tracked[T], len(h.ring))}
}

// Put records the entity's value for the tick that the history is recording,
// after History.Put of the same entity; the last one counts. Panics with a
// *UsageError otherwise.
func (t *Track[T]) Put(id ID, v T) {
	f := t.h.rec
	if f == nil {
		panic(&UsageError{Call: "Begin", ID: id, Fix: "a Track records between its History's Begin and End"})
	}
	i := -1
	if slot := t.h.lives.lookup(id); slot >= 0 {
		i = f.find(slot)
	}
	if i < 0 {
		panic(&UsageError{Call: "Put", Tick: f.tick, ID: id, Fix: "put the entity into the History before its Track"})
	}
	r := &t.ring[f.tick%Tick(len(t.ring))]
	if r.serial != f.serial {
		r.serial, r.values, r.set = f.serial, r.values[:0], r.set[:0]
	}
	for len(r.values) <= i {
		var none T
		r.values, r.set = append(r.values, none), append(r.set, false)
	}
	r.values[i], r.set[i] = v, true
}

// At answers the entity's value in the view; false when it was not there or
// had none.
func (t *Track[T]) At(p Past, id ID) (T, bool) {
	a, b, f, ok := t.Ends(p, id)
	if f == 0 || t.blend == nil {
		return a, ok
	}
	return t.blend(a, b, f), true
}

// Ends answers the two values between which an entity's lies in the view, and how far
// between them: for a caller with a rule of its own. Where it is one alone, as where a
// life was cut, f is 0. False when the entity was not there or had none.
func (t *Track[T]) Ends(p Past, id ID) (a, b T, f float32, ok bool) {
	e, ok := p.lookup(id)
	if !ok || p.h != t.h {
		return a, b, 0, false
	}
	if a, ok = t.value(e.af, e.i); !ok || e.f == 0 {
		return a, a, 0, ok
	}
	if b, ok := t.value(e.bf, e.j); ok {
		return a, b, e.f, true
	}
	return a, a, 0, true
}

func (t *Track[T]) value(f *frame, i int) (v T, ok bool) {
	r := &t.ring[f.tick%Tick(len(t.ring))]
	if r.serial != f.serial || i >= len(r.values) || !r.set[i] {
		return v, false
	}
	return r.values[i], true
}
