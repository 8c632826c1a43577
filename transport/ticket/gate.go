package ticket

import (
	"crypto/cipher"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
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
	keys    atomic.Pointer[[]gateKey] // newest first
	servers []netip.AddrPort
	now     func() time.Time

	mu    sync.Mutex
	used  map[ID]int64 // used tickets, with the Unix time in seconds until which to remember them
	swept int64        // when used was last swept, in Unix seconds
	bans  map[string]time.Time
}

// gateKey is a key that tickets may be sealed with.
type gateKey struct {
	key  []byte
	aead cipher.AEAD
}

// MaxKeys is the most keys of a Gate: the new one and the old one.
const MaxKeys = 2

const (
	maxUsed = 1 << 17
	// longest is the longest validity of a ticket. A ticket valid for longer is refused, since it would
	// have to be remembered for longer.
	longest   = 24 * time.Hour
	sweepTime = 5 // in seconds
)

// NewGate returns the gate of a server that shares key with the matchmaker. servers are the addresses under which
// tickets may name this server: the ones that players dial, not the local ones. now is the clock; nil: time.Now. It
// returns an error for a faulty key or server address.
func NewGate(key []byte, servers []netip.AddrPort, now func() time.Time) (*Gate, error) {
	if len(servers) == 0 {
		return nil, fmt.Errorf("ticket: servers is empty: list the addresses under which tickets name this server")
	}
	if now == nil {
		now = time.Now
	}
	g := &Gate{now: now, used: make(map[ID]int64), bans: make(map[string]time.Time)}
	if err := g.SetKeys(key); err != nil {
		return nil, err
	}
	for _, a := range servers {
		if !a.IsValid() || a.Addr().IsUnspecified() || a.Port() == 0 {
			return nil, fmt.Errorf("ticket: %v is not an address that a ticket can name", a)
		}
		g.servers = append(g.servers, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return g, nil
}

// SetKeys replaces the keys that tickets may be issued under, while the server runs. To change the key, call it with
// both keys on every server, let the matchmaker issue under the new one, and call it with the new one alone when the last
// old ticket has expired. Used tickets stay used. It takes 1 to MaxKeys keys. After an error the keys are as before.
func (g *Gate) SetKeys(keys ...[]byte) error {
	if len(keys) == 0 || len(keys) > MaxKeys {
		return fmt.Errorf("ticket: a Gate has 1 to %d keys, and not %d", MaxKeys, len(keys))
	}
	all := make([]gateKey, len(keys))
	for i, key := range keys {
		if len(key) != KeySize {
			return fmt.Errorf("ticket: the key has %d bytes; it needs %d", len(key), KeySize)
		}
		aead, err := sealer(key)
		if err != nil {
			return err
		}
		all[i] = gateKey{slices.Clone(key), aead}
	}
	g.keys.Store(&all)
	return nil
}

// openSealed opens a sealed part with one of the keys.
func (g *Gate) openSealed(sealed []byte) (c Claims, key []byte, err error) {
	for _, k := range *g.keys.Load() {
		if c, err = open(k.aead, sealed); err != ErrForged {
			return c, k.key, err
		}
	}
	return c, nil, err
}

// Check opens a sealed part. It returns the claims, and the secret that the bearer must know, without marking the
// ticket as used. Errors: ErrMalformed, ErrForged, ErrExpired, ErrServer, ErrUsed, ErrBanned.
func (g *Gate) Check(sealed []byte) (c Claims, secretOf [SecretSize]byte, err error) {
	c, key, err := g.openSealed(sealed)
	if err != nil {
		return Claims{}, secretOf, err
	}
	if secretOf, err = secret(key, sealed); err != nil {
		return Claims{}, secretOf, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.judgeClaims(&c); err != nil {
		return Claims{}, [SecretSize]byte{}, err
	}
	return c, secretOf, nil
}

func (g *Gate) judgeClaims(c *Claims) error {
	now := g.now()
	switch until, banned := g.bans[string(c.Identity)]; {
	case !now.Before(c.Expires) || c.Expires.Sub(now) > longest:
		return &expiredError{c.Expires, now}
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

// expiredError is ErrExpired with the times of both clocks, because often one of them is wrong.
type expiredError struct{ expires, now time.Time }

// Error returns a text with both times. Clients receive it.
func (e *expiredError) Error() string {
	when, now := e.expires.UTC().Format(time.DateTime), e.now.UTC().Format(time.DateTime)
	if e.now.Before(e.expires) {
		return fmt.Sprintf("ticket: valid until %s UTC, which is over %v after this server's clock, %s UTC: issue it for less, or set the clock", when, longest, now)
	}
	return fmt.Sprintf("ticket: expired at %s UTC by the matchmaker's clock; this server's clock says %s UTC, %v later", when, now, e.now.Sub(e.expires).Round(time.Second))
}

// Unwrap returns ErrExpired.
func (e *expiredError) Unwrap() error { return ErrExpired }

// Use marks a ticket that passed Check as used. For concurrent callers with the same ticket, all except the first get
// ErrUsed.
func (g *Gate) Use(c Claims) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.judgeClaims(&c); err != nil {
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
		return refused.Because("tickets", &transport.DisconnectError{Code: transport.Full, Reason: "too many tickets"})
	}
	g.used[c.ID] = c.Expires.Unix()
	return nil
}

// Accept checks a sealed part, marks it as used, and returns its identity as Claims.Shown does. It is
// an accept hook for transports whose client sends Ticket.Sealed as its token. On an unencrypted
// transport, an eavesdropper can use the token first.
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
