package multi

import "github.com/foretick/foretick/transport"

// Counters counts the traffic of one part.
type Counters struct {
	Name                     string // name of the part
	Peers                    int    // peers connected now
	MaxPeers                 int    // most peers that the part accepts; 0: not known
	Connected                uint64 // peers that ever connected
	Sent, Received           uint64 // datagrams
	SentBytes, ReceivedBytes uint64 // bytes of these datagrams
	SendFailed               uint64 // sends that the part refused with an error
}

// Counters appends the counters of each part to dst, in the order of New.
func (e *Endpoint) Counters(dst []Counters) []Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.parts {
		dst = append(dst, p.counters)
	}
	return dst
}

// AppendCounts implements transport.Counted: for each part its traffic, as in Counters, and the part's own counters. Each
// count has the part's name.
func (e *Endpoint) AppendCounts(dst []transport.Count) []transport.Count {
	for _, p := range e.parts {
		from := len(dst)
		e.mu.Lock()
		c := p.counters
		e.mu.Unlock()
		const layer = "multi"
		dst = append(dst,
			transport.Count{Layer: layer, Name: "connected", N: c.Connected},
			transport.Count{Layer: layer, Name: "sent", N: c.Sent},
			transport.Count{Layer: layer, Name: "received", N: c.Received},
			transport.Count{Layer: layer, Name: "sent_bytes", N: c.SentBytes},
			transport.Count{Layer: layer, Name: "received_bytes", N: c.ReceivedBytes},
			transport.Count{Layer: layer, Name: "send_failed", N: c.SendFailed},
		)
		if p.counts != nil {
			dst = p.counts.AppendCounts(dst)
		}
		for i := from; i < len(dst); i++ {
			if of := &dst[i].Part; *of == "" {
				*of = c.Name
			} else { // the part is joined itself
				*of = c.Name + "/" + *of
			}
		}
	}
	return dst
}
