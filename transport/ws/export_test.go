package ws

// Held returns how many connections, pending ones and peers an endpoint holds.
func Held(e *Endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.conns) + e.pending.Len() + e.peers.Len() + e.in.Open()
}
