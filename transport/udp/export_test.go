package udp

// Vanish closes the endpoint without a word to anyone, as the end of its process does.
func Vanish(e *Endpoint) {
	e.mu.Lock()
	for i := range e.peers.Slots() {
		if p, ok := e.peers.At(i); ok {
			e.peers.Remove(p.id)
		}
	}
	e.mu.Unlock()
	e.Close(0, "")
}

// AppendSum adds the checksum to a datagram.
func AppendSum(b []byte) []byte { return appendSum(b, 0) }
