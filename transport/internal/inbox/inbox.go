// Package inbox queues received datagrams until Recv takes them. Each peer has one bounded queue, which
// drops its oldest datagram when full. Peers are served in turn, so a flood from one delays no other. It
// has no lock; an endpoint with goroutines must use its own.
package inbox

import "github.com/foretick/foretick/transport"

// Queue holds the datagrams of one peer. It belongs to its Inbox, which reuses it after the peer's end.
type Queue struct {
	peer    transport.PeerID
	oldest  *datagram
	newest  *datagram
	n       int
	state   state
	opened  bool // Connected is to be reported
	ended   bool // Disconnected is to be reported, after the rest
	waiting bool // the queue is in the inbox's turn
	code    transport.Code
	reason  string
}

type state uint8

const (
	live state = iota
	dropped
)

// datagram is one waiting datagram. The inbox owns it, not the queue, so a peer with an empty queue takes
// no memory.
type datagram struct {
	buf, data []byte
	next      *datagram
}

// Inbox holds the queues of one endpoint. New makes one.
type Inbox struct {
	size  int // size of a buffer in bytes
	limit int // most datagrams waiting per peer
	ready chan struct{}
	turn  []*Queue // a ring of the queues that are not empty
	head  int
	n     int
	free  [][]byte
	rest  *datagram // unused datagrams, counted by rests
	rests int
	out   [][]byte // buffers that the caller of Recv may be reading
	spare []*Queue // queues to use again
	open  int      // number of queues in use
}

// New returns an inbox with buffers of size bytes and queues of at most limit datagrams.
func New(size, limit int) *Inbox {
	return &Inbox{size: size, limit: limit, ready: make(chan struct{}, 1), turn: make([]*Queue, 8)}
}

// Ready returns the endpoint's Ready channel.
func (in *Inbox) Ready() <-chan struct{} { return in.ready }

// Open returns the number of queues in use: of live peers, and of peers whose end was not reported yet.
func (in *Inbox) Open() int { return in.open }

// Buffer returns a buffer of full length, for Push or Release.
func (in *Inbox) Buffer() []byte {
	if n := len(in.free); n > 0 {
		b := in.free[n-1]
		in.free = in.free[:n-1]
		return b
	}
	return make([]byte, in.size)
}

// keep is the most unused buffers, and datagrams, that an inbox keeps. The garbage collector frees the
// others.
const keep = 1024

// Release returns a buffer. A buffer from elsewhere is dropped.
func (in *Inbox) Release(buf []byte) {
	if len(in.free) < keep && cap(buf) == in.size {
		in.free = append(in.free, buf[:in.size])
	}
}

// Add creates a queue for a peer. connected says whether to report Connected now; see Connect.
func (in *Inbox) Add(p transport.PeerID, connected bool) *Queue {
	var q *Queue
	if n := len(in.spare); n > 0 {
		q = in.spare[n-1]
		in.spare = in.spare[:n-1]
		*q = Queue{}
	} else {
		q = &Queue{}
	}
	q.peer = p
	in.open++
	if connected {
		in.Connect(q)
	}
	return q
}

// Connect reports that the peer of q is connected.
func (in *Inbox) Connect(q *Queue) {
	q.opened = true
	in.enterTurn(q)
}

// Push adds a datagram: data is a part of buf, which the inbox now owns. It reports whether the oldest
// datagram was dropped for it.
func (in *Inbox) Push(q *Queue, buf, data []byte) (overrun bool) {
	if q.n == in.limit {
		old, _ := in.pop(q)
		in.Release(old)
		overrun = true
	}
	d := in.rest
	if d != nil {
		in.rest = d.next
		in.rests--
	} else {
		d = &datagram{}
	}
	d.buf, d.data, d.next = buf, data, nil // field by field: assigning a whole struct would build and copy it
	if q.n == 0 {
		q.oldest = d
	} else {
		q.newest.next = d
	}
	q.newest = d
	q.n++
	in.enterTurn(q)
	return overrun
}

// End reports that the peer is gone, after its waiting datagrams. The caller must not use the queue any
// more.
func (in *Inbox) End(q *Queue, c transport.Code, reason string) {
	q.ended, q.code, q.reason = true, c, reason
	in.enterTurn(q)
}

// Drop discards the peer and all its waiting datagrams. The caller must not use the queue any more.
func (in *Inbox) Drop(q *Queue) {
	for q.n > 0 {
		old, _ := in.pop(q)
		in.Release(old)
	}
	q.state = dropped
	if !q.waiting {
		in.recycle(q)
	}
}

// Recv fills ev, one datagram of each peer in turn, and returns the number of events. It reuses the buffers
// of the previous call.
func (in *Inbox) Recv(ev []transport.Event) int {
	for i, b := range in.out {
		in.Release(b)
		in.out[i] = nil
	}
	in.out = in.out[:0]
	k := 0
	for k < len(ev) && in.n > 0 {
		q := in.takeTurn()
		if q.state == dropped {
			in.recycle(q)
			continue
		}
		switch {
		case q.opened:
			q.opened = false
			ev[k] = transport.Event{Kind: transport.Connected, Peer: q.peer}
		case q.n > 0:
			buf, data := in.pop(q)
			in.out = append(in.out, buf)
			e := &ev[k]
			e.Kind, e.Peer, e.Data, e.Code, e.Reason = transport.Data, q.peer, data, transport.None, ""
		default:
			ev[k] = transport.Event{Kind: transport.Disconnected, Peer: q.peer, Code: q.code, Reason: q.reason}
			q.ended = false
			in.recycle(q)
			k++
			continue
		}
		k++
		if q.opened || q.n > 0 || q.ended {
			in.enterTurn(q)
		}
	}
	if in.n > 0 {
		in.signalReady()
	}
	return k
}

func (in *Inbox) signalReady() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

func (in *Inbox) recycle(q *Queue) {
	in.open--
	in.spare = append(in.spare, q)
}

// enterTurn puts q in the turn, unless it is already there.
func (in *Inbox) enterTurn(q *Queue) {
	if q.waiting {
		return
	}
	q.waiting = true
	if in.n == len(in.turn) {
		bigger := make([]*Queue, 2*len(in.turn))
		k := copy(bigger, in.turn[in.head:])
		copy(bigger[k:], in.turn[:in.head])
		in.turn, in.head = bigger, 0
	}
	in.turn[(in.head+in.n)&(len(in.turn)-1)] = q
	in.n++
	if in.n == 1 {
		in.signalReady()
	}
}

func (in *Inbox) takeTurn() *Queue {
	q := in.turn[in.head]
	in.turn[in.head] = nil
	in.head = (in.head + 1) & (len(in.turn) - 1)
	in.n--
	q.waiting = false
	return q
}

// pop removes the oldest datagram.
func (in *Inbox) pop(q *Queue) (buf, data []byte) {
	d := q.oldest
	q.oldest = d.next
	q.n--
	buf, data = d.buf, d.data
	d.buf, d.data, d.next = nil, nil, nil
	if in.rests < keep {
		d.next, in.rest = in.rest, d
		in.rests++
	}
	if q.n == 0 {
		q.newest = nil
	}
	return buf, data
}
