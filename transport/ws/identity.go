package ws

import (
	"time"

	"github.com/foretick/foretick/transport"
)

var _ transport.BanList = (*Endpoint)(nil)

// expel drops peers, and notifies both them and the caller of Recv.
func (e *Endpoint) expel(peers []*peer, c transport.Code, reason string) {
	for _, p := range peers {
		e.reportEnd(p, c, reason)
		e.sendFarewell(p, c, reason)
	}
}

// DisconnectIdentity implements transport.BanList.
func (e *Endpoint) DisconnectIdentity(identity []byte, c transport.Code, reason string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	there := e.named.Find(identity)
	e.expel(there, c, reason)
	return len(there) > 0
}

// Ban implements transport.BanList. A banned client without a connection is refused after the accept
// hook.
func (e *Endpoint) Ban(identity []byte, until time.Time, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.named.Ban(identity, until, time.Now(), reason)
	e.expel(e.named.Find(identity), transport.Kicked, reason)
}

// Unban implements transport.BanList.
func (e *Endpoint) Unban(identity []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.named.Unban(identity)
}
