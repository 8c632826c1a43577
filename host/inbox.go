package host

import "time"

// inbox holds the datagrams of one peer that wait for its match, oldest first. Each of its
// methods costs the same however many wait, for this peer or for others.
type inbox struct {
	ring    []post // as long as the most that ever waited
	first   int    // where the oldest is
	waiting int
}

// post is a datagram.
type post struct {
	buf []byte
	at  time.Time // when it came
}

// put adds a datagram. It copies b into buf. At most `most` datagrams may wait.
func (q *inbox) put(b, buf []byte, at time.Time, most int) {
	if q.waiting == len(q.ring) {
		ring := make([]post, min(max(2*len(q.ring), 4), most))
		n := copy(ring, q.ring[q.first:])
		copy(ring[n:], q.ring[:q.first])
		q.ring, q.first = ring, 0
	}
	q.waiting++
	*q.newest() = post{append(buf[:0], b...), at}
}

// newest returns the place of the datagram that came last.
func (q *inbox) newest() *post { return &q.ring[(q.first+q.waiting-1)%len(q.ring)] }

// putForOldest replaces the oldest datagram by one that is the newest.
func (q *inbox) putForOldest(b []byte, at time.Time) {
	oldest := q.take()
	q.waiting++
	*q.newest() = post{append(oldest.buf[:0], b...), at}
}

// putForNewest replaces the newest datagram.
func (q *inbox) putForNewest(b []byte, at time.Time) {
	p := q.newest()
	*p = post{append(p.buf[:0], b...), at}
}

// take removes the oldest datagram and returns it.
func (q *inbox) take() (p post) {
	p, q.ring[q.first] = q.ring[q.first], post{}
	q.first = (q.first + 1) % len(q.ring)
	q.waiting--
	return p
}
