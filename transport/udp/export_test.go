package udp

import (
	"fmt"

	"github.com/foretick/foretick/transport"
)

// Vanish closes the endpoint without any message, as the end of its process would.
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

// ConnectionID returns the number that identifies a connection in its datagrams.
func ConnectionID(e *Endpoint, id transport.PeerID) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, _ := e.peers.Get(id)
	return fmt.Sprintf("connection %x", p.conn)
}

// CookieKey returns a value that differs for servers that make cookies with different keys.
func CookieKey(e *Endpoint) string {
	h := e.mint.keys[1] // the reading goroutine uses the other one for the first minute
	h.Reset()
	return fmt.Sprintf("cookies %x", h.Sum(nil))
}
