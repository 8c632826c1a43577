package netcode

// Fate reports what happened to a sent packet. Each packet gets exactly one
// Fate. Delivery is reported on its acknowledgement. Loss is reported when no
// later ack can name the packet, or none arrived for a long time. A packet
// reported lost may still have arrived.
type Fate struct {
	Seq       Seq
	Delivered bool
}

// fateQueue is a ring that grows to maxFates. The caller drains it at least
// once every maxFates packets.
type fateQueue struct {
	ring       []Fate // ring has a power of two as its length.
	head, size int
}

const maxFates = 1024

func (q *fateQueue) pushFate(f Fate) (dropped bool) {
	if q.size == maxFates {
		q.head, q.size, dropped = (q.head+1)%maxFates, q.size-1, true
	} else if q.size == len(q.ring) {
		q.growFates()
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = f
	q.size++
	return dropped
}

func (q *fateQueue) growFates() {
	ring := make([]Fate, max(leastRing, 2*len(q.ring)))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

func (q *fateQueue) pop() (Fate, bool) {
	if q.size == 0 {
		return Fate{}, false
	}
	f := q.ring[q.head]
	q.head, q.size = (q.head+1)&(len(q.ring)-1), q.size-1
	return f, true
}
