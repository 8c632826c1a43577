package cause

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/prediction"
)

// TrailTicks is the most ticks of one message, and how many the server keeps.
const TrailTicks = 32

// ErrTrail is returned for a trail that is malformed.
var ErrTrail = errors.New("foretick: malformed trail")

// Trail is the hashes of the predicted state in the newest ticks: one ahead of the first
// shared system, and one after each. The zero value keeps nothing.
type Trail struct {
	ticks *prediction.History[[]uint32]
	now   *[]uint32 // now has the hashes of the tick that runs.
}

// NewTrail makes a trail of so many ticks.
func NewTrail(ticks int) Trail { return Trail{ticks: prediction.NewHistory[[]uint32](ticks)} }

// Begin begins a tick.
func (r *Trail) Begin(t Tick) {
	r.now = r.ticks.Put(t)
	*r.now = (*r.now)[:0]
}

// Begun reports whether a tick was begun.
func (r *Trail) Begun() bool { return r.now != nil }

// Forget drops what was noted. Call it when ticks ran again, because the hashes are of the first run.
func (r *Trail) Forget() {
	if r.ticks != nil {
		r.ticks.Clear()
		r.now = nil
	}
}

// Note appends a hash to the tick that was begun last.
func (r *Trail) Note(h uint32) {
	if r.now != nil {
		*r.now = append(*r.now, h)
	}
}

// Of returns the hashes of a tick; nil if it is not kept.
func (r *Trail) Of(t Tick) []uint32 {
	if hs := r.ticks.Find(t); hs != nil {
		return *hs
	}
	return nil
}

// Append appends the hashes of the ticks after acked up to t to dst, up to room bytes in
// all:
//
//	tick 4, count 1, then per tick, newest first: n 1, n × 4
func (r *Trail) Append(dst []byte, t, acked Tick, room int) []byte {
	from := len(dst)
	dst = append(binary.LittleEndian.AppendUint32(dst, t), 0)
	for k := t; k != t-TrailTicks && int32(k-acked) > 0; k-- {
		hs := r.ticks.Find(k)
		if hs == nil || len(*hs) > 255 || len(dst)+1+4*len(*hs) > room {
			break
		}
		dst[from+4]++
		dst = append(dst, byte(len(*hs)))
		for _, h := range *hs {
			dst = binary.LittleEndian.AppendUint32(dst, h)
		}
	}
	return dst
}

// Parse reads what Append wrote. The error is [ErrTrail].
func (r *Trail) Parse(b []byte) error {
	if len(b) < 5 || b[4] > TrailTicks {
		return ErrTrail
	}
	t, n, b := binary.LittleEndian.Uint32(b), int(b[4]), b[5:]
	for i := range n {
		if len(b) < 1 || len(b) < 1+4*int(b[0]) {
			return ErrTrail
		}
		r.Begin(t - Tick(i))
		for k := range int(b[0]) {
			r.Note(binary.LittleEndian.Uint32(b[1+4*k:]))
		}
		b = b[1+4*int(b[0]):]
	}
	if len(b) > 0 {
		return ErrTrail
	}
	return nil
}

// FirstDifference returns the first tick in from … to whose hashes differ in two trails, and
// the index of the first of them: 0 ahead of the systems, i after the i-th.
func FirstDifference(a, b *Trail, from, to Tick) (t Tick, index int, found bool) {
	for t = from; int32(t-to) <= 0; t++ {
		x, y := a.Of(t), b.Of(t)
		for i := range min(len(x), len(y)) {
			if x[i] != y[i] {
				return t, i, true
			}
		}
	}
	return 0, 0, false
}
