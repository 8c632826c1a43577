package dtls

// Counters counts, by cause, what an endpoint dropped or refused. None of it is blamed on a peer,
// since anybody can have sent it.
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
