package ws

import "github.com/foretick/foretick/transport"

// Counters counts, by cause, what an endpoint dropped or refused.
type Counters struct {
	Connections  uint64 // connections ever established
	Refused      uint64 // clients refused by the accept hook
	AcceptPanics uint64 // panics in the accept hook and in Config.ClientAddr, each of which refused a client
	AcceptErrors uint64 // errors of Listen's listener, such as no free file descriptors; it waits and goes on
	Full         uint64 // clients refused because MaxPeers was reached
	Limited      uint64 // connections refused with HTTP status 429: too many pending from one address
	Crowded      uint64 // connections refused because MaxConns were open
	Unfinished   uint64 // connections of Listen that ended without a WebSocket handshake, closed by either end
	Evicted      uint64 // connections without a handshake or hello, dropped for newer ones
	Unsaid       uint64 // pending connections that sent no hello in time, or closed before it
	NotUpgraded  uint64 // HTTP requests that were no WebSocket handshake of this subprotocol
	Foreign      uint64 // handshakes refused with HTTP status 403: the page is of another host than the request names. See Config.Origins
	Malformed    uint64 // messages that could not be decoded; their peers were dropped
	Overrun      uint64 // datagrams lost to full receive queues
	Replaced     uint64 // datagrams not sent, because newer ones replaced them before the connection took them
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

// AppendCounts implements transport.Counted. Refused clients are counted by reason too: the error of an accept hook may
// name it with a method Reason() string, as those of package ticket do. Names are the fields of Counters.
func (e *Endpoint) AppendCounts(dst []transport.Count) []transport.Count {
	const layer = "ws"
	c := e.Counters()
	dst = append(dst,
		transport.Count{Layer: layer, Name: "connections", N: c.Connections},
		transport.Count{Layer: layer, Name: "refused", N: c.Refused},
		transport.Count{Layer: layer, Name: "accept_panics", N: c.AcceptPanics},
		transport.Count{Layer: layer, Name: "accept_errors", N: c.AcceptErrors},
		transport.Count{Layer: layer, Name: "full", N: c.Full, Refusal: "no room: Config.MaxPeers are connected"},
		transport.Count{Layer: layer, Name: "limited", N: c.Limited, Refusal: "too many connections without a hello from one address: Config.MaxPendingPerAddr"},
		transport.Count{Layer: layer, Name: "crowded", N: c.Crowded, Refusal: "too many connections: Config.MaxConns"},
		transport.Count{Layer: layer, Name: "unfinished", N: c.Unfinished},
		transport.Count{Layer: layer, Name: "evicted", N: c.Evicted},
		transport.Count{Layer: layer, Name: "unsaid", N: c.Unsaid},
		transport.Count{Layer: layer, Name: "not_upgraded", N: c.NotUpgraded},
		transport.Count{Layer: layer, Name: "foreign", N: c.Foreign, Refusal: "the page is of another host than the request names: Config.Origins"},
		transport.Count{Layer: layer, Name: "malformed", N: c.Malformed},
		transport.Count{Layer: layer, Name: "overrun", N: c.Overrun},
		transport.Count{Layer: layer, Name: "replaced", N: c.Replaced},
		transport.Count{Layer: layer, Name: "backlog", N: c.Backlog},
		transport.Count{Layer: layer, Name: "stalled", N: c.Stalled},
		transport.Count{Layer: layer, Name: "flooded", N: c.Flooded},
	)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refusals.Append(dst, layer)
}
