package main

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Headers of a datagram: those of IPv4 and UDP, and that of package udp, which is longer towards the relay.
const (
	headerOut = sim.HeaderBytes + 9
	headerIn  = sim.HeaderBytes + 5
)

// line is a player's endpoint, and counts all that passes.
type line struct {
	transport.Endpoint
	dial    func() (transport.Endpoint, error)
	bytes   int // bytes counts what was sent and received, with all headers.
	packets int // packets counts the datagrams.
}

// redial connects to the relay, also again.
func (l *line) redial() (transport.Endpoint, error) {
	e, err := l.dial()
	if err != nil {
		return nil, err
	}
	l.Endpoint = e
	return l, nil
}

// Unwrap returns the endpoint beneath.
func (l *line) Unwrap() transport.Endpoint { return l.Endpoint }

// Send implements transport.Endpoint.
func (l *line) Send(p transport.PeerID, b []byte) error {
	l.bytes, l.packets = l.bytes+len(b)+headerOut, l.packets+1
	return l.Endpoint.Send(p, b)
}

// Recv implements transport.Endpoint.
func (l *line) Recv(ev []transport.Event) int {
	n := l.Endpoint.Recv(ev)
	for i := range ev[:n] {
		if ev[i].Kind == transport.Data {
			l.bytes, l.packets = l.bytes+len(ev[i].Data)+headerIn, l.packets+1
		}
	}
	return n
}
