package ws

// Counters counts, by cause, what an endpoint did not take, or not take up.
type Counters struct {
	Connections uint64 // that were ever established
	Refused     uint64 // by the accept hook
	Full        uint64 // refused as MaxPeers was reached
	Limited     uint64 // turned away with HTTP status 429: too many pending from one address
	Crowded     uint64 // turned away as MaxConns were open
	Unfinished  uint64 // connections of Listen that ended without a WebSocket handshake, whoever ended them
	Evicted     uint64 // connections without a handshake, or a hello, cut off for newer ones
	Unsaid      uint64 // pending connections that said no hello in time, or hung up before
	NotUpgraded uint64 // HTTP requests that were no WebSocket handshake of this subprotocol, or of a foreign origin
	Malformed   uint64 // messages that were not understood; their peers were dropped
	Overrun     uint64 // datagrams lost to full receive queues
	Backlog     uint64 // datagrams lost to full send queues
	Stalled     uint64 // peers dropped as they took nothing for the timeout
	Flooded     uint64 // peers dropped for more pings, pongs or keep-alives than ControlRate
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}
