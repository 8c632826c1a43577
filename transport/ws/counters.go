package ws

// Counters counts, by cause, what an endpoint dropped or refused.
type Counters struct {
	Connections  uint64 // connections ever established
	Refused      uint64 // clients refused by the accept hook
	AcceptPanics uint64 // panics in the accept hook, each of which refused a client
	Full         uint64 // clients refused because MaxPeers was reached
	Limited      uint64 // connections refused with HTTP status 429: too many pending from one address
	Crowded      uint64 // connections refused because MaxConns were open
	Unfinished   uint64 // connections of Listen that ended without a WebSocket handshake, closed by either end
	Evicted      uint64 // connections without a handshake or hello, dropped for newer ones
	Unsaid       uint64 // pending connections that sent no hello in time, or closed before
	NotUpgraded  uint64 // HTTP requests that were no WebSocket handshake of this subprotocol
	Foreign      uint64 // handshakes refused with HTTP status 403: the page is of another host than the request names. See Config.Origins
	Malformed    uint64 // messages that could not be decoded; their peers were dropped
	Overrun      uint64 // datagrams lost to full receive queues
	Backlog      uint64 // datagrams lost to full send queues
	Stalled      uint64 // peers dropped because they took no data for the timeout
	Flooded      uint64 // peers dropped for exceeding ControlRate with pings, pongs or keep-alives
}

// Counters returns the counts so far.
func (e *Endpoint) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counters
}
