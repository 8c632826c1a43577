package dtls

import "time"

// Vanish closes the endpoint without a word that is believed, as the end of its process does.
func Vanish(e *Endpoint) {
	e.mu.Lock()
	for _, p := range e.links {
		p.settle()
		e.peers.Remove(p.id)
		p.state = over
	}
	clear(e.links)
	e.mu.Unlock()
	e.Close(0, "")
}

// SetHandshakeTime sets how long a handshake may take.
func SetHandshakeTime(e *Endpoint, d time.Duration) {
	e.mu.Lock()
	e.handshake = d
	e.mu.Unlock()
}

// Held returns how many peers, links, handshakes, identities and queues an endpoint holds.
func Held(e *Endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.peers.Len() + len(e.links) + len(e.shakes) + len(e.named) + e.in.Open()
}
