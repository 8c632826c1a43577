package trace

import "sync"

// Ring holds the records of one end's newest ticks. Any goroutine may use it.
type Ring struct {
	mu      sync.Mutex
	records [RingTicks]record
	newest  Tick
	any     bool
}

// record is a tick's bytes.
type record struct {
	b    []byte // b is empty if there is no record.
	sent bool
}

// Put copies a record into the ring. A newer record of a tick replaces the older one.
func (r *Ring) Put(b []byte) {
	t := TickOf(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.any || int32(t-r.newest) > 0 {
		r.newest, r.any = t, true
	}
	if int32(r.newest-t) >= RingTicks {
		return
	}
	at := &r.records[t%RingTicks]
	at.b, at.sent = append(at.b[:0], b...), false
}

// Clear empties the ring.
func (r *Ring) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.records {
		r.records[i] = record{b: r.records[i].b[:0]}
	}
	r.any = false
}

// Records returns copies of the records, oldest first.
func (r *Ring) Records() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out [][]byte
	if !r.any {
		return nil
	}
	for k := r.newest - (RingTicks - 1); ; k++ {
		if b := r.records[k%RingTicks].b; len(b) > 0 && TickOf(b) == k {
			out = append(out, append([]byte(nil), b...))
		}
		if k == r.newest {
			return out
		}
	}
}

// nextRecord appends to dst the oldest record that was not sent yet, of the newest ticks up to upto. within is
// the number of these ticks. The record counts as sent from then on.
func (r *Ring) nextRecord(dst []byte, within int, upto Tick) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := upto - Tick(within-1); ; k++ {
		if at := &r.records[k%RingTicks]; len(at.b) > 0 && TickOf(at.b) == k && !at.sent {
			at.sent = true
			return append(dst, at.b...)
		}
		if k == upto {
			return dst
		}
	}
}

// Free empties the ring and gives its memory back.
func (r *Ring) Free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records, r.any = [RingTicks]record{}, false
}

// Drop removes a tick's record.
func (r *Ring) Drop(t Tick) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := &r.records[t%RingTicks]; TickOf(at.b) == t {
		at.b = at.b[:0]
	}
}
