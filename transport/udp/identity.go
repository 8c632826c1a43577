package udp

import (
	"time"

	"github.com/foretick/foretick/transport"
)

var _ transport.BanList = (*Endpoint)(nil)

// identify applies the identity rules to a client. It returns a refusal, or nil to accept the client.
func (e *Endpoint) identify(h *hello, identity []byte) []byte {
	replaced, err := e.named.Judge(identity, e.cfg.Same, time.Now())
	if err != nil {
		e.counters.Refused++
		e.refusals.Add(err)
		return e.refusal(h.nonce, err)
	}
	if answer := e.crowded(h, len(replaced) > 0); answer != nil { // the server may have filled up while the accept hook ran
		return answer
	}
	e.expel(replaced, transport.Replaced, "connected anew")
	return nil
}

// expel drops peers, and notifies both them and the caller of Recv.
func (e *Endpoint) expel(peers []*peer, c transport.Code, reason string) {
	reason = transport.CutReason(reason)
	for _, p := range peers {
		l := leaver{conn: p.conn, addr: p.addr, code: c, reason: reason}
		e.endPeer(p, c, reason)
		e.sendOff(l)
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
