package sim

import (
	"strconv"
	"time"

	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
	"github.com/foretick/foretick/transport/internal/slot"
)

// MTU is the most bytes that Send accepts: the same as over package udp.
const MTU = transport.MaxDatagram - headerBytes

// queued is the most datagrams per peer that wait for Recv; beyond it the oldest is dropped. With buffers that is 195
// kB.
const queued = 160

// Endpoint is one end of a simulated network. It implements transport.Endpoint. Use it from callbacks of its network
// or between calls of Run. Listen and Dial create it.
type Endpoint struct {
	net    *Network
	id     int
	addr   string
	in     *inbox.Inbox
	peers  slot.Table[*side]
	dial   *side // a client's only connection
	accept func(addr string) (identity []byte, err error)
	closed bool
	next   *Endpoint // the endpoint that took the address over
	killed bool      // the process was killed: it does not even report that nobody listens
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Addr returns the address of the endpoint with this number, as Info reports it.
func Addr(id int) string { return "sim:" + strconv.Itoa(id) }

func (n *Network) endpoint() *Endpoint {
	e := &Endpoint{net: n, id: n.ids, addr: Addr(n.ids), in: inbox.New(transport.MaxDatagram, queued)}
	n.ids++
	return e
}

// Listen returns a server's endpoint that accepts everyone; see SetAccept.
func (n *Network) Listen() *Endpoint { return n.endpoint() }

// Dial returns a client's endpoint that connects to the server over two links: up is client to server, down is server
// to client. Dial repeats the exchange every 50 ms until it gets a reply; then Connected follows. After 5 s without a
// reply Disconnected follows with Timeout, or with Unreachable when the server is closed. A connection that is silent
// for 5 s also times out; keep-alives ensure that only a dead link is silent.
func (n *Network) Dial(server *Endpoint, up, down Link) *Endpoint {
	e := n.endpoint()
	server = server.current()
	cli := &side{ep: e, client: true, path: NewPath(up, n.seed, 2*n.links)}
	srv := &side{ep: server, path: NewPath(down, n.seed, 2*n.links+1), far: cli}
	cli.far = srv
	n.links++
	e.dial = cli
	cli.id = e.peers.Add(cli)
	cli.q = e.in.Add(cli.id, false)
	cli.startDial()
	return e
}

// SetLink changes a dialled endpoint's links for future datagrams.
func (n *Network) SetLink(client *Endpoint, up, down Link) {
	s := client.dialled("SetLink")
	s.path.SetLink(up)
	s.far.path.SetLink(down)
}

// Blackhole drops everything sent to or from a dialled endpoint between two times. A later call replaces an earlier
// one.
func (n *Network) Blackhole(client *Endpoint, from, until time.Duration) {
	s := client.dialled("Blackhole")
	s.path.Blackhole(from, until)
	s.far.path.Blackhole(from, until)
}

// Paths returns both directions of a dialled endpoint's connection, for statistics and for faults in one direction.
func (n *Network) Paths(client *Endpoint) (up, down *Path) {
	s := client.dialled("Paths")
	return s.path, s.far.path
}

// Kill simulates the sudden end of the process of an endpoint: it drops every connection without
// notice, and replies to nothing. The endpoint itself is closed. See Restart.
func (n *Network) Kill(e *Endpoint) {
	for i := range e.peers.Slots() {
		if s, ok := e.peers.At(i); ok {
			s.state, s.silent = ended, true
			e.peers.Remove(s.id)
			e.in.Drop(s.q)
		}
	}
	e.closed, e.killed = true, true
}

// Restart gives a server's address to a new process, after Kill or Close. Dials to the old endpoint, even those
// already in progress, reach the new one. Old connections stay lost.
func (n *Network) Restart(server *Endpoint) *Endpoint {
	if server.dial != nil {
		misuse.Panicf("sim: Network.Restart takes an endpoint that Listen made; dial again instead")
	}
	e := n.endpoint()
	server.next = e
	return e
}

// current returns the endpoint that has e's address now.
func (e *Endpoint) current() *Endpoint {
	for e.next != nil {
		e = e.next
	}
	return e
}

func (e *Endpoint) dialled(what string) *side {
	if e.dial == nil {
		misuse.Panicf("sim: Network.%s takes an endpoint that Dial made, not one that listens", what)
	}
	return e.dial
}

// SetAccept sets the hook that decides on future clients. It receives a client's address and returns the identity to
// show in Info, or an error to refuse the client; a *transport.DisconnectError sets the code. A client whose refusal was
// lost does not ask again. nil: everyone is accepted.
func (e *Endpoint) SetAccept(fn func(addr string) (identity []byte, err error)) { e.accept = fn }

// ID returns the endpoint's number, in order of creation from 0, as reported by Trace.
func (e *Endpoint) ID() int { return e.id }

// Recv implements transport.Endpoint.
func (e *Endpoint) Recv(ev []transport.Event) int {
	if e.closed {
		return 0
	}
	return e.in.Recv(ev)
}

// Ready implements transport.Endpoint.
func (e *Endpoint) Ready() <-chan struct{} { return e.in.Ready() }

// Send implements transport.Endpoint.
func (e *Endpoint) Send(p transport.PeerID, b []byte) error {
	s, ok := e.peers.Get(p)
	if !ok || s.state != open {
		if e.closed {
			return transport.ErrClosed
		}
		return transport.ErrNoPeer
	}
	if len(b) > MTU {
		return &transport.TooBigError{Size: len(b), Limit: MTU}
	}
	n := e.net
	if n.trace != nil {
		n.trace(n.now, e.id, s.far.ep.id, b)
	}
	s.sent = n.now
	s.stats.Sent++
	s.stats.SentBytes += uint64(len(b))
	var f Fate
	s.path.decide(&f, n.now, len(b)+headerBytes)
	for i := range f.Copies {
		if f.Flip[i] >= 0 {
			if f.Flip[i] < headerBytes*8 { // a damaged header makes the datagram undeliverable
				continue
			}
			f.Flip[i] -= headerBytes * 8
		}
		buf := (*buffer)(s.far.ep.in.Buffer())
		copy(buf[:], b)
		f.Damage(i, buf[:len(b)])
		ev := n.pushEvent(f.At[i], arrival, s.far)
		ev.buf, ev.length = buf, uint16(len(b))
	}
	return nil
}

// After calls fn when that much time has passed on the network. An end that closes uses it to send its
// last messages, since nobody waits in virtual time.
func (e *Endpoint) After(d time.Duration, fn func()) { e.net.At(e.net.now+d, fn) }

// Flush implements transport.Endpoint. It does nothing, since datagrams leave at once.
func (e *Endpoint) Flush() {}

// Disconnect implements transport.Endpoint.
func (e *Endpoint) Disconnect(p transport.PeerID, c transport.Code, reason string) {
	if s, ok := e.peers.Get(p); ok {
		s.dropConnection(c, reason)
	}
}

// Info implements transport.Endpoint.
func (e *Endpoint) Info(p transport.PeerID, out *transport.Info) bool {
	s, ok := e.peers.Get(p)
	if !ok || s.state != open {
		return false
	}
	*out = transport.Info{Addr: s.far.ep.addr, Identity: s.identity, MTU: MTU, Stats: s.stats}
	return true
}

// Close implements transport.Endpoint.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	if e.closed {
		return transport.ErrClosed
	}
	for i := range e.peers.Slots() {
		if s, ok := e.peers.At(i); ok {
			s.dropConnection(c, reason)
		}
	}
	e.closed = true
	return nil
}
