package dtls

import (
	"time"

	"github.com/foretick/foretick/transport"
)

var _ transport.BanList = (*Endpoint)(nil)

// identify applies the identity rules to a peer, and refuses the peer if they demand it. It reports
// whether the peer may stay. It releases the lock temporarily.
func (e *Endpoint) identify(p *peer) bool {
	for {
		replaced, err := e.named.Judge(p.identity, e.cfg.Same, time.Now())
		if err != nil {
			e.counters.Refused++
			e.refusals.Add(err)
			e.refuseClient(p, err)
			return false
		}
		if e.crowded(p, len(replaced) > 0) { // the server may have filled up while the accept hook ran
			return false
		}
		if len(replaced) == 0 {
			return true
		}
		e.expel(replaced, transport.Replaced, "connected anew") // expel releases the lock: another peer may connect meanwhile
	}
}

// expel drops peers, and notifies both them and the caller of Recv. It releases the lock temporarily.
func (e *Endpoint) expel(peers []*peer, c transport.Code, reason string) {
	for _, p := range peers {
		e.reportEnd(p, c, reason)
		e.dropPeer(p, c, reason)
	}
	e.mu.Unlock()
	defer e.mu.Lock()
	for _, p := range peers {
		e.farewell(p)
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

// Ban implements transport.BanList. A banned client without a connection is refused after its handshake; Gate.Ban,
// which uses the ticket's identity, refuses it before.
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
