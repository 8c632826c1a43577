package dtls

import (
	"time"

	pion "github.com/pion/dtls/v2"

	"github.com/foretick/foretick/transport"
)

// Vanish closes the endpoint without an authentic message, as the end of its process would.
func Vanish(e *Endpoint) {
	e.mu.Lock()
	for _, p := range e.links {
		p.releaseLibrary()
		e.peers.Remove(p.id)
		p.state = over
	}
	clear(e.links)
	e.mu.Unlock()
	e.Close(0, "")
}

// SetHandshakeTime sets the time limit of a handshake.
func SetHandshakeTime(e *Endpoint, d time.Duration) {
	e.mu.Lock()
	e.handshake = d
	e.mu.Unlock()
}

// Held returns how many peers, links, handshakes, identities and queues an endpoint holds.
func Held(e *Endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.peers.Len() + len(e.links) + len(e.shakes) + len(e.unreleased) + e.named.Len() + e.in.Open() +
		e.silent.Len()
}

// UseUp leaves an endpoint n sequence numbers for records to a peer, after which the connection ends.
func UseUp(e *Endpoint, id transport.PeerID, n uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, _ := e.peers.Get(id)
	e.sending.Lock()
	defer e.sending.Unlock()
	p.write.next = lastSequence - farewells + 1 - n
}

// Suites offers this package's suite to the library.
func Suites(psk bool) func() []pion.CipherSuite {
	s := &suite{psk: psk}
	return func() []pion.CipherSuite { return []pion.CipherSuite{s} }
}

// Links returns how many connections below an endpoint knows.
func Links(e *Endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.links)
}

// ForgetAddrs resets how many handshakes each address has begun.
func ForgetAddrs(e *Endpoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cfg.MaxHandshakesPerAddr = 1 << 20
}

// Fingerprint identifies the key with which an endpoint writes to a peer.
func Fingerprint(e *Endpoint, id transport.PeerID) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, _ := e.peers.Get(id)
	e.sending.Lock()
	defer e.sending.Unlock()
	return string(p.write.aead.Seal(nil, make([]byte, 12), make([]byte, 32), nil))
}

// Shakes returns how many handshakes are under way.
func Shakes(e *Endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.shakes)
}

// Sum ends a datagram of a handshake as this package does, and as an attacker may.
func Sum(b []byte) []byte { return appendSum(b) }

// HandshakeTime is the time limit of a handshake.
const HandshakeTime = handshakeTime
