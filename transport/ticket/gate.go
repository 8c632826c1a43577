package ticket

import (
	"crypto/cipher"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
)

// Gate decides at a server which tickets are let in. It remembers a used ticket until the ticket expires.
// Its methods may be called from any goroutine. NewGate makes one.
//
// A Gate forgets when its process ends. So a ticket that was used before a restart is let in once more, until it
// expires, and only to who knows its secret (package dtls) or has it (elsewhere): keep tickets short-lived.
type Gate struct {
	key     []byte
	aead    cipher.AEAD
	servers []netip.AddrPort
	now     func() time.Time

	mu    sync.Mutex
	used  map[ID]int64 // until when to remember, Unix seconds
	swept int64
	bans  map[string]time.Time
}

const (
	maxUsed   = 1 << 17
	longest   = 24 * time.Hour // a ticket that is valid for longer is refused, as it would be remembered for longer
	sweepTime = 5              // seconds
)

// NewGate returns the gate of a server that shares key with the matchmaker. servers are the addresses by which tickets
// may name this server: those that players dial, not those that it listens on. now is the clock; nil: time.Now.
// Errors: what is wrong with the key or the servers.
func NewGate(key []byte, servers []netip.AddrPort, now func() time.Time) (*Gate, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("ticket: the key has %d bytes; it needs %d", len(key), KeySize)
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("ticket: the gate needs the addresses by which tickets name its server")
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
			return nil, fmt.Errorf("ticket: %v is no address that a ticket can name", a)
		}
		g.servers = append(g.servers, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return g, nil
}

// Check opens a sealed part and reports what it claims and the secret that its bearer must know, without using it up.
// Errors: ErrMalformed, ErrForged, ErrExpired, ErrServer, ErrUsed, ErrBanned.
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

// Use uses up a ticket that Check passed; of several callers with the same one, all but the first get ErrUsed.
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
		return &transport.CloseError{Code: transport.Full, Detail: "too many tickets"}
	}
	g.used[c.ID] = c.Expires.Unix()
	return nil
}

// Accept checks a sealed part, uses it up, and returns its identity: an accept hook for transports whose client shows
// Ticket.Sealed as its token. What that transport does not encrypt, others can use first.
func (g *Gate) Accept(_ netip.AddrPort, token []byte) (identity []byte, err error) {
	c, _, err := g.Check(token)
	if err == nil {
		err = g.Use(c)
	}
	if err != nil {
		return nil, err
	}
	return c.Identity, nil
}

// Ban refuses an identity's tickets until a time; the zero time is for ever. Ban does nothing for an
// empty identity. It does not end a connection: disconnect the peer as well.
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
