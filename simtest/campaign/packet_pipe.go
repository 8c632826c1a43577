package campaign

import (
	"github.com/foretick/foretick/transport"
)

// pipe is an endpoint without a network: Recv returns the events put in, and
// sent datagrams wait for the test to move them.
type pipe struct {
	in    []transport.Event
	sent  []parcel
	next  int
	ended bool
	ready chan struct{}
}

type parcel struct {
	to   transport.PeerID
	data []byte
}

func (p *pipe) event(e transport.Event) { p.in = append(p.in, e) }

func (p *pipe) data(from transport.PeerID, b []byte) {
	p.event(transport.Event{Kind: transport.Data, Peer: from, Data: b})
}

func (p *pipe) dropSent() { p.sent = p.sent[:0] }

// Recv implements transport.Endpoint.
func (p *pipe) Recv(ev []transport.Event) int {
	n := copy(ev, p.in[p.next:])
	if p.next += n; p.next == len(p.in) {
		p.in, p.next = p.in[:0], 0
	}
	return n
}

// Ready implements transport.Endpoint.
func (p *pipe) Ready() <-chan struct{} { return p.ready }

// Send implements transport.Endpoint.
func (p *pipe) Send(to transport.PeerID, b []byte) error {
	p.sent = append(p.sent, parcel{to, append([]byte{}, b...)})
	return nil
}

// Flush implements transport.Endpoint.
func (p *pipe) Flush() {}

// Disconnect implements transport.Endpoint.
func (p *pipe) Disconnect(peer transport.PeerID, _ transport.Code, _ string) {
	p.ended = p.ended || peer == 1
}

// Info implements transport.Endpoint.
func (p *pipe) Info(_ transport.PeerID, out *transport.Info) bool {
	*out = transport.Info{MTU: transport.MaxDatagram}
	return true
}

// Close implements transport.Endpoint.
func (p *pipe) Close(transport.Code, string) error { return nil }
