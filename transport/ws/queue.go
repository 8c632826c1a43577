package ws

import "encoding/binary"

// queue holds the datagrams waiting to be sent to one peer, up to a limit of bytes. It is a ring that
// grows as needed; each datagram is stored after its length. Datagrams of one batch wait together. The
// first datagram of a later batch replaces them, since the data of a tick makes that of earlier ticks
// worthless.
type queue struct {
	ring    []byte // its length is a power of two
	head, n int    // the bytes in use: where they begin, and how many
	waiting int    // number of datagrams
	old     int    // how many of the waiting datagrams belong to earlier batches
	batch   uint64 // the newest batch
}

const lengthSize = 2

// pushDatagram adds b, a datagram of a batch, and drops all datagrams of earlier batches. It also drops
// as many of the oldest datagrams as necessary to stay within limit. It returns how many it dropped for
// either reason.
func (q *queue) pushDatagram(b []byte, batch uint64, limit int) (replaced, dropped int) {
	if batch != q.batch {
		q.batch, q.old = batch, q.waiting
	}
	for q.old > 0 {
		q.skip(q.length())
		replaced++
	}
	need := lengthSize + len(b)
	for q.n > 0 && q.n+need > limit {
		q.skip(q.length())
		dropped++
	}
	if q.n+need > len(q.ring) {
		q.growRing(q.n + need)
	}
	var size [lengthSize]byte
	binary.BigEndian.PutUint16(size[:], uint16(len(b)))
	q.putBytes(size[:])
	q.putBytes(b)
	q.waiting++
	return replaced, dropped
}

// pop appends the oldest datagram to b, if there is one.
func (q *queue) pop(b []byte) ([]byte, bool) {
	if q.n == 0 {
		return b, false
	}
	n := q.length()
	from := (q.head + lengthSize) & (len(q.ring) - 1)
	first := min(n, len(q.ring)-from)
	b = append(b, q.ring[from:from+first]...)
	b = append(b, q.ring[:n-first]...)
	q.skip(n)
	return b, true
}

func (q *queue) length() int {
	mask := len(q.ring) - 1
	return int(q.ring[q.head])<<8 | int(q.ring[(q.head+1)&mask])
}

func (q *queue) skip(n int) {
	q.head = (q.head + lengthSize + n) & (len(q.ring) - 1)
	q.n -= lengthSize + n
	q.waiting--
	q.old = max(q.old-1, 0)
}

func (q *queue) putBytes(b []byte) {
	at := (q.head + q.n) & (len(q.ring) - 1)
	first := copy(q.ring[at:], b)
	copy(q.ring, b[first:])
	q.n += len(b)
}

func (q *queue) growRing(need int) {
	size := max(4096, len(q.ring))
	for size < need {
		size *= 2
	}
	bigger := make([]byte, size)
	first := copy(bigger[:q.n], q.ring[min(q.head, len(q.ring)):])
	if first < q.n {
		copy(bigger[first:q.n], q.ring)
	}
	q.ring, q.head = bigger, 0
}
