package ticket

import (
	"crypto/cipher"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/refused"
)

// Gate decides which tickets a server accepts. It remembers a used ticket until the ticket expires. Any goroutine may
// call its methods. NewGate creates it.
//
// A Gate forgets used tickets when its process ends. After a restart, a used ticket is accepted again until it
// expires. That takes its secret (with package dtls) or the ticket itself (with other transports). So keep tickets
// short-lived.
type Gate struct {
	key     []byte
	aead    cipher.AEAD
	servers []netip.AddrPort
	now     func() time.Time

	mu    sync.Mutex
	used  map[ID]int64 // Unix time in seconds until which to remember
	swept int64
	bans  map[string]time.Time
}

const (
	maxUsed   = 1 << 17
	longest   = 24 * time.Hour // a ticket valid for longer is refused, since it would have to be remembered for longer
	sweepTime = 5              // seconds
)

// NewGate returns the gate of a server that shares key with the matchmaker. servers are the addresses under which
// tickets may name this server: the ones that players dial, not the local ones. now is the clock; nil: time.Now. It
// returns an error for a faulty key or server address.
func NewGate(key []byte, servers []netip.AddrPort, now func() time.Time) (*Gate, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("ticket: the key has %d bytes; it needs %d", len(key), KeySize)
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("ticket: servers is empty: list the addresses under which tickets name this server")
	}
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now
	}
	g := &Gate{key: slices.Clone(key), aead: aead, now: now, used: make(map[ID]int64), bans: make(map[string]time.Time)}
	for _, a := range servers {
		if !a.IsValid() || a.Addr().IsUnspecified() || a.Port() == 0 {
			return nil, fmt.Errorf("ticket: %v is not an address that a ticket can name", a)
		}
		g.servers = append(g.servers, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return g, nil
}

// Check opens a sealed part. It returns the claims, and the secret that the bearer must know, without marking the
// ticket as used. Errors: ErrMalformed, ErrForged, ErrExpired, ErrServer, ErrUsed, ErrBanned.
func (g *Gate) Check(sealed []byte) (c Claims, secretOf [SecretSize]byte, err error) {
	if c, err = open(g.aead, sealed); err != nil {
		return Claims{}, secretOf, err
	}
	if secretOf, err = secret(g.key, sealed); err != nil {
		return Claims{}, secretOf, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.judge(&c); err != nil {
		return Claims{}, [SecretSize]byte{}, err
	}
	return c, secretOf, nil
}

func (g *Gate) judge(c *Claims) error {
	now := g.now()
	switch until, banned := g.bans[string(c.Identity)]; {
	case !now.Before(c.Expires) || c.Expires.Sub(now) > longest:
		return ErrExpired
	case !slices.ContainsFunc(c.Servers, func(a netip.AddrPort) bool { return slices.Contains(g.servers, a) }):
		return ErrServer
	case banned && (until.IsZero() || now.Before(until)):
		return ErrBanned
	}
	if _, used := g.used[c.ID]; used {
		return ErrUsed
	}
	return nil
}

// Use marks a ticket that passed Check as used. For concurrent callers with the same ticket, all except the first get
// ErrUsed.
func (g *Gate) Use(c Claims) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.judge(&c); err != nil {
		return err
	}
	now := g.now().Unix()
	if now-g.swept >= sweepTime || len(g.used) >= maxUsed {
		g.swept = now
		for id, until := range g.used {
			if until <= now {
				delete(g.used, id)
			}
		}
	}
	if len(g.used) >= maxUsed {
		return refused.Because("tickets", &transport.CloseError{Code: transport.Full, Detail: "too many tickets"})
	}
	g.used[c.ID] = c.Expires.Unix()
	return nil
}

// Accept checks a sealed part, marks it as used, and returns its identity as Claims.Shown does. It is an accept hook for transports whose
// client sends Ticket.Sealed as its token. On an unencrypted transport, an eavesdropper can use the token first.
func (g *Gate) Accept(_ netip.AddrPort, token []byte) (identity []byte, err error) {
	c, _, err := g.Check(token)
	if err == nil {
		err = g.Use(c)
	}
	if err != nil {
		return nil, err
	}
	return c.Shown(), nil
}

// Ban refuses an identity's tickets until a time; the zero time means permanently. Ban does nothing for an empty
// identity. It does not end a connection: also disconnect the peer.
func (g *Gate) Ban(identity []byte, until time.Time) {
	if len(identity) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for id, t := range g.bans {
		if !t.IsZero() && !now.Before(t) {
			delete(g.bans, id)
		}
	}
	g.bans[string(identity)] = until
}

// Unban ends a ban.
func (g *Gate) Unban(identity []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.bans, string(identity))
}
