package dtls

import "github.com/foretick/foretick/transport"

// Counters counts, by cause, what an endpoint dropped or refused. No count belongs to a peer, since
// anybody can have sent the datagrams.
type Counters struct {
	Connections  uint64 // connections ever established
	Handshakes   uint64 // handshakes started
	Failed       uint64 // handshakes that failed, by timeout or otherwise
	Evicted      uint64 // handshakes, and connections that started none, dropped for newer ones
	Limited      uint64 // handshakes refused because their address had too many in progress
	Refused      uint64 // clients refused by ticket, accept hook or identity
	AcceptPanics uint64 // panics in the accept hook, each of which refused a client
	Full         uint64 // clients refused because MaxPeers was reached
	Guarded      uint64 // records dropped by the guard
	Damaged      uint64 // handshake datagrams damaged in transit
	Forged       uint64 // records that failed authentication
	Replayed     uint64 // records received before, or too old to know
	Early        uint64 // protected records that arrived before the keys and were lost
	Malformed    uint64 // authentic messages that could not be decoded; their peers were dropped
	Exhausted    uint64 // connections ended because their sequence numbers ran out
	Overrun      uint64 // datagrams lost to full receive queues
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}

// AppendCounts implements transport.Counted. Refused clients are counted by reason too: the error of an accept hook may
// name it with a method Reason() string, as those of package ticket do. Names are the fields of Counters.
func (e *Endpoint) AppendCounts(dst []transport.Count) []transport.Count {
	const layer = "dtls"
	c := e.Counters()
	dst = append(dst,
		transport.Count{Layer: layer, Name: "connections", N: c.Connections},
		transport.Count{Layer: layer, Name: "handshakes", N: c.Handshakes},
		transport.Count{Layer: layer, Name: "failed", N: c.Failed},
		transport.Count{Layer: layer, Name: "evicted", N: c.Evicted},
		transport.Count{Layer: layer, Name: "limited", N: c.Limited, Refusal: "too many handshakes from one address: Config.MaxHandshakesPerAddr"},
		transport.Count{Layer: layer, Name: "refused", N: c.Refused},
		transport.Count{Layer: layer, Name: "accept_panics", N: c.AcceptPanics},
		transport.Count{Layer: layer, Name: "full", N: c.Full, Refusal: "no room: Config.MaxPeers are connected"},
		transport.Count{Layer: layer, Name: "guarded", N: c.Guarded},
		transport.Count{Layer: layer, Name: "damaged", N: c.Damaged},
		transport.Count{Layer: layer, Name: "forged", N: c.Forged},
		transport.Count{Layer: layer, Name: "replayed", N: c.Replayed},
		transport.Count{Layer: layer, Name: "early", N: c.Early},
		transport.Count{Layer: layer, Name: "malformed", N: c.Malformed},
		transport.Count{Layer: layer, Name: "exhausted", N: c.Exhausted},
		transport.Count{Layer: layer, Name: "overrun", N: c.Overrun},
	)
	e.mu.Lock()
	dst = e.refusals.Append(dst, layer)
	e.mu.Unlock()
	if below, ok := transport.As[transport.Counted](e.below); ok {
		dst = below.AppendCounts(dst)
	}
	return dst
}
