package ws

// Counters counts, by cause, what an endpoint did not take, or not take up.
type Counters struct {
	Connections uint64 // that were ever established
	Refused     uint64 // by the accept hook
	Full        uint64 // refused as MaxPeers was reached
	Limited     uint64 // turned away with HTTP status 429: too many pending from one address
	Evicted     uint64 // pending connections cut off for newer ones
	Unsaid      uint64 // pending connections that said no hello in time, or hung up before
	NotUpgraded uint64 // HTTP requests that were no WebSocket handshake of this subprotocol, or of a foreign origin
	Malformed   uint64 // messages that were not understood; their peers were dropped
	Overrun     uint64 // datagrams lost to full receive queues
	Backlog     uint64 // datagrams lost to full send queues
	Stalled     uint64 // peers dropped as they took nothing for the timeout
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}
