package udp

import "github.com/foretick/foretick/transport"

// Counters counts, by cause, what an endpoint dropped or refused. No count belongs to a single peer.
type Counters struct {
	Foreign      uint64 // datagrams not of this format, or not for this end
	Malformed    uint64 // datagrams of this format, but invalid
	Checksum     uint64 // datagrams of this format, but damaged
	Hellos       uint64 // well-formed hellos, with and without a cookie
	BadCookie    uint64 // hellos whose cookie was old, for another address, or invented
	Limited      uint64 // hellos left unanswered: beyond 10 000/s without proof, or beyond Config.HelloRate per address
	Refused      uint64 // clients refused by the accept hook, once per request
	AcceptPanics uint64 // panics in the accept hook, each of which refused a client
	Full         uint64 // clients refused because MaxPeers was reached, once per request
	UnknownID    uint64 // datagrams of unknown connections
	Challenges   uint64 // challenges sent to new addresses of known connections
	Tried        uint64 // datagrams also sent to new addresses that were not proved yet
	BadProof     uint64 // responses with a wrong proof
	Unbelieved   uint64 // close and gone messages that Config.Sealed ignored at first
	Overrun      uint64 // datagrams lost to full receive queues
	Backlog      uint64 // sends that failed with ErrBacklog
	SendErrors   uint64 // sends that the system refused for another reason; they count as lost in transit
	ReadErrors   uint64 // read errors, including ICMP
	Connections  uint64 // connections ever established
	Reads        uint64 // system calls that read the socket; with Config.Batch also those that read nothing
	Writes       uint64 // system calls that wrote to the socket
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	c := e.counters
	e.mu.Unlock()
	c.Reads = e.reads.Load()
	e.out.addCounts(&c)
	return c
}

// AppendCounts implements transport.Counted. Refused clients are counted by reason too: the error of an accept hook may
// name it with a method Reason() string, as those of package ticket do. Names are the fields of Counters.
func (e *Endpoint) AppendCounts(dst []transport.Count) []transport.Count {
	const layer = "udp"
	c := e.Counters()
	dst = append(dst,
		transport.Count{Layer: layer, Name: "foreign", N: c.Foreign},
		transport.Count{Layer: layer, Name: "malformed", N: c.Malformed},
		transport.Count{Layer: layer, Name: "checksum", N: c.Checksum},
		transport.Count{Layer: layer, Name: "hellos", N: c.Hellos},
		transport.Count{Layer: layer, Name: "bad_cookie", N: c.BadCookie},
		transport.Count{Layer: layer, Name: "limited", N: c.Limited},
		transport.Count{Layer: layer, Name: "refused", N: c.Refused},
		transport.Count{Layer: layer, Name: "accept_panics", N: c.AcceptPanics},
		transport.Count{Layer: layer, Name: "full", N: c.Full, Refusal: "no room: Config.MaxPeers are connected"},
		transport.Count{Layer: layer, Name: "unknown_id", N: c.UnknownID},
		transport.Count{Layer: layer, Name: "challenges", N: c.Challenges},
		transport.Count{Layer: layer, Name: "tried", N: c.Tried},
		transport.Count{Layer: layer, Name: "bad_proof", N: c.BadProof},
		transport.Count{Layer: layer, Name: "unbelieved", N: c.Unbelieved},
		transport.Count{Layer: layer, Name: "overrun", N: c.Overrun},
		transport.Count{Layer: layer, Name: "backlog", N: c.Backlog},
		transport.Count{Layer: layer, Name: "send_errors", N: c.SendErrors},
		transport.Count{Layer: layer, Name: "read_errors", N: c.ReadErrors},
		transport.Count{Layer: layer, Name: "connections", N: c.Connections},
		transport.Count{Layer: layer, Name: "reads", N: c.Reads},
		transport.Count{Layer: layer, Name: "writes", N: c.Writes},
	)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refusals.Append(dst, layer)
}
