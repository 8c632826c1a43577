package udp

// Counters counts what an endpoint did not take, or not take up, by cause. Nothing of it is held against a peer.
type Counters struct {
	Foreign     uint64 // not this format, or nothing that this end should get
	Malformed   uint64 // this format, and wrong
	Checksum    uint64 // this format, and damaged
	Hellos      uint64 // well-formed hellos, with and without a cookie
	BadCookie   uint64 // hellos whose cookie was old, another address's, or invented
	Limited     uint64 // left unanswered: beyond 10 000/s of those who proved nothing, or beyond Config.HelloRate of an address
	Refused     uint64 // by the accept hook, once per asking
	Full        uint64 // refused as MaxPeers was reached, once per asking
	UnknownID   uint64 // datagrams of connections that there are not
	Challenges  uint64 // sent to new addresses of known connections
	Tried       uint64 // datagrams sent to new addresses as well, before these were proved
	BadProof    uint64 // responses that prove nothing
	Unbelieved  uint64 // closes and gones that Config.Sealed kept from ending a connection
	Overrun     uint64 // datagrams lost to full receive queues
	Backlog     uint64 // sends answered with ErrBacklog
	SendErrors  uint64 // sends that the system refused for another reason; they count as lost on the way
	ReadErrors  uint64 // errors in reading, ICMP included
	Connections uint64 // that were ever established
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}
