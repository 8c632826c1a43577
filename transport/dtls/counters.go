package dtls

// Counters counts, by cause, what an endpoint did not take, or not take up. Nothing of it is held against a peer, as
// anybody can have sent it.
type Counters struct {
	Connections uint64 // that were ever established
	Handshakes  uint64 // begun
	Failed      uint64 // handshakes that came to nothing, by timeout or otherwise
	Evicted     uint64 // handshakes, and connections that began none, broken off for newer ones
	Limited     uint64 // handshakes refused as their address had too many under way
	Refused     uint64 // by ticket, accept hook or identity
	Full        uint64 // refused as MaxPeers was reached
	Guarded     uint64 // records that the guard dropped
	Damaged     uint64 // datagrams of handshakes that are not as they were sent
	Forged      uint64 // records that are not authentic
	Replayed    uint64 // records that came before, or are too old to tell
	Early       uint64 // protected records that came before there were keys, and were lost
	Malformed   uint64 // authentic messages that were not understood; their peers were dropped
	Exhausted   uint64 // connections ended as their sequence numbers were used up
	Overrun     uint64 // datagrams lost to full receive queues
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}
