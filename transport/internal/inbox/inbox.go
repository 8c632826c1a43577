// Package inbox queues what an endpoint received until Recv comes for it: one bounded queue per peer, which
// loses its oldest datagram when it overruns, and peers served in turn, so that a flood from one delays no
// other. It holds no lock; an endpoint with goroutines brings its own.
package inbox

import "github.com/foretick/foretick/transport"

// Queue is what waits of one peer. It belongs to its Inbox, which uses it again after the peer's end.
type Queue struct {
	peer    transport.PeerID
	oldest  *datagram
	newest  *datagram
	n       int
	state   state
	opened  bool // Connected waits to be told
	ended   bool // Disconnected waits to be told, after the rest
	waiting bool // in the inbox's turn
	code    transport.Code
	detail  string
}

type state uint8

const (
	live state = iota
	dropped
)

// datagram is one that waits. It is the inbox's, not the queue's: a peer of which nothing waits takes no memory,
// however much once did.
type datagram struct {
	buf, data []byte
	next      *datagram
}

// Inbox holds the queues of one endpoint. New makes one.
type Inbox struct {
	size  int // of a buffer, bytes
	limit int // datagrams waiting per peer
	ready chan struct{}
	turn  []*Queue // a ring of queues that hold something
	head  int
	n     int
	free  [][]byte
	rest  *datagram // that hold nothing, and how many these are
	rests int
	out   [][]byte // buffers the caller of Recv may be reading
	spare []*Queue
	open  int
}

// New returns an inbox whose buffers have size bytes and whose queues hold at most limit datagrams.
func New(size, limit int) *Inbox {
	return &Inbox{size: size, limit: limit, ready: make(chan struct{}, 1), turn: make([]*Queue, 8)}
}

// Ready returns the endpoint's Ready channel.
func (in *Inbox) Ready() <-chan struct{} { return in.ready }

// Open returns how many queues are in use: of peers that live, and of those whose end was not yet told.
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

// keep is how many unused buffers an inbox keeps; what a flood needed beyond goes back to the heap.
const keep = 1024

// Release takes a buffer back. One that came from elsewhere is let go.
func (in *Inbox) Release(buf []byte) {
	if len(in.free) < keep && cap(buf) == in.size {
		in.free = append(in.free, buf[:in.size])
	}
}

// Add makes a queue for a peer. connected says whether to tell Connected now; see Connect.
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

// Connect tells that the peer of q is connected.
func (in *Inbox) Connect(q *Queue) {
	q.opened = true
	in.wait(q)
}

// Push adds a datagram: data is a part of buf, which is the inbox's from now on. It
// reports whether the oldest datagram had to go for it.
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
	d.buf, d.data, d.next = buf, data, nil // by field, as a whole would be made elsewhere and copied
	if q.n == 0 {
		q.oldest = d
	} else {
		q.newest.next = d
	}
	q.newest = d
	q.n++
	in.wait(q)
	return overrun
}

// End tells that the peer is gone, after what waits. The queue is no longer the caller's.
func (in *Inbox) End(q *Queue, c transport.Code, detail string) {
	q.ended, q.code, q.detail = true, c, detail
	in.wait(q)
}

// Drop forgets the peer and all that waits. The queue is no longer the caller's.
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

// Recv fills ev, a datagram of each peer in turn, and returns how many events it wrote. The buffers of the
// call before are used again.
func (in *Inbox) Recv(ev []transport.Event) int {
	for i, b := range in.out {
		in.Release(b)
		in.out[i] = nil
	}
	in.out = in.out[:0]
	k := 0
	for k < len(ev) && in.n > 0 {
		q := in.take()
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
			e.Kind, e.Peer, e.Data, e.Code, e.Detail = transport.Data, q.peer, data, transport.None, ""
		default:
			ev[k] = transport.Event{Kind: transport.Disconnected, Peer: q.peer, Code: q.code, Detail: q.detail}
			q.ended = false
			in.recycle(q)
			k++
			continue
		}
		k++
		if q.opened || q.n > 0 || q.ended {
			in.wait(q)
		}
	}
	if in.n > 0 {
		in.signal()
	}
	return k
}

func (in *Inbox) signal() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

func (in *Inbox) recycle(q *Queue) {
	in.open--
	in.spare = append(in.spare, q)
}

// wait puts q in the turn, unless it is there.
func (in *Inbox) wait(q *Queue) {
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
		in.signal()
	}
}

func (in *Inbox) take() *Queue {
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
