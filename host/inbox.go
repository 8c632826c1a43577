package host

import "time"

// inbox holds the datagrams of one peer that wait for its match, oldest first. The cost of a method
// does not grow with the number of waiting datagrams, except when the ring grows.
type inbox struct {
	ring    []post // grows to the most datagrams that ever waited
	first   int    // index of the oldest datagram
	waiting int
}

// post is a datagram.
type post struct {
	buf []byte
	at  time.Time // arrival time
}

// putDatagram adds a datagram. It copies b into buf. At most `most` datagrams may wait.
func (q *inbox) putDatagram(b, buf []byte, at time.Time, most int) {
	if q.waiting == len(q.ring) {
		ring := make([]post, min(max(2*len(q.ring), 4), most))
		n := copy(ring, q.ring[q.first:])
		copy(ring[n:], q.ring[:q.first])
		q.ring, q.first = ring, 0
	}
	q.waiting++
	*q.newestPost() = post{append(buf[:0], b...), at}
}

// newestPost returns the place of the datagram that came last.
func (q *inbox) newestPost() *post { return &q.ring[(q.first+q.waiting-1)%len(q.ring)] }

// putForOldest drops the oldest datagram and adds b as the newest.
func (q *inbox) putForOldest(b []byte, at time.Time) {
	oldest := q.takeOldest()
	q.waiting++
	*q.newestPost() = post{append(oldest.buf[:0], b...), at}
}

// putForNewest drops the newest datagram and puts b in its place.
func (q *inbox) putForNewest(b []byte, at time.Time) {
	p := q.newestPost()
	*p = post{append(p.buf[:0], b...), at}
}

// takeOldest removes the oldest datagram and returns it.
func (q *inbox) takeOldest() (p post) {
	p, q.ring[q.first] = q.ring[q.first], post{}
	q.first = (q.first + 1) % len(q.ring)
	q.waiting--
	return p
}
