package udp

// Counters counts, by cause, what an endpoint dropped or refused. None of it is blamed on a peer.
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
	Tried        uint64 // datagrams also sent to new addresses, before these were proved
	BadProof     uint64 // responses with a wrong proof
	Unbelieved   uint64 // close and gone messages that Config.Sealed ignored
	Overrun      uint64 // datagrams lost to full receive queues
	Backlog      uint64 // sends that failed with ErrBacklog
	SendErrors   uint64 // sends that the system refused for another reason; they count as lost in transit
	ReadErrors   uint64 // read errors, including ICMP
	Connections  uint64 // connections ever established
	Reads        uint64 // system calls that read the socket; with Config.Batch also those that found nothing
	Writes       uint64 // system calls that wrote to it
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	c := e.counters
	e.mu.Unlock()
	c.Reads = e.reads.Load()
	e.out.count(&c)
	return c
}
