package ticket

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// KeySize is the length of the key that a matchmaker shares with its servers, in bytes.
	KeySize = 32
	// SecretSize is the length of a ticket's secret, in bytes.
	SecretSize = 32
	// MaxIdentity is the longest identity, in bytes.
	MaxIdentity = 256
	// MaxMatch is the longest name of a match, in bytes.
	MaxMatch = 64
	// MaxServers is the most servers that a ticket may name.
	MaxServers = 16
	// MaxSealed is the longest sealed part, in bytes.
	MaxSealed = sealedHeader + idSize + 8 + 1 + MaxServers*addrSize + MaxIdentity + chacha20poly1305.Overhead
)

const (
	version      = 1
	idSize       = 16
	addrSize     = 18
	sealedHeader = 1 + chacha20poly1305.NonceSizeX
	sealLabel    = "foretick ticket 1 seal"
	secretLabel  = "foretick ticket 1 secret "
)

var (
	// ErrMalformed: the bytes are not a ticket.
	ErrMalformed error = &fault{"malformed", "ticket: malformed"}
	// ErrForged: the sealed part was not made with this key, or was changed.
	ErrForged error = &fault{"forged", "ticket: not issued under this key"}
	// ErrExpired: the ticket is no longer valid. The error of a Gate wraps it, and names both clocks.
	ErrExpired error = &fault{"expired", "ticket: expired"}
	// ErrServer: the ticket names other servers.
	ErrServer error = &fault{"server", "ticket: issued for another server"}
	// ErrUsed: the ticket was used before.
	ErrUsed error = &fault{"used", "ticket: already used"}
	// ErrBanned: the ticket's identity may not connect.
	ErrBanned error = &fault{"banned", "ticket: banned"}
)

// fault is why a ticket is not accepted. Endpoints count refused clients by its reason.
type fault struct{ reason, text string }

// Error returns the text.
func (f *fault) Error() string { return f.text }

// Reason returns the reason in a word, as metrics show it.
func (f *fault) Reason() string { return f.reason }

// ID identifies a ticket.
type ID [idSize]byte

// Claims are a ticket's statements about its bearer.
type Claims struct {
	// Identity identifies the bearer, as shown in Info.Identity on the server. At most MaxIdentity bytes, with Match
	// and three bytes more if there is a Match. It may not begin with the bytes 0 and 'M'.
	Identity []byte
	// Match names the match that the bearer plays in, for a process that runs many (package host). Transports then
	// show JoinIdentity of both, so identities are unique within a match. Empty: none. At most MaxMatch bytes.
	Match string
	// Expires is the end of the ticket's validity, to the second. Half a minute from now is enough to connect.
	Expires time.Time
	// Servers are the servers that accept the ticket. At least one, at most MaxServers.
	Servers []netip.AddrPort
	// ID is random, set by Issue.
	ID ID
}

// Ticket is the data for the player.
type Ticket struct {
	Expires time.Time
	Servers []netip.AddrPort
	Sealed  []byte           // the part for the server, which only servers can open
	Secret  [SecretSize]byte // the part for the player: it keys the connection and is never sent
}

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	return key
}

// Issue creates a ticket with the key that the matchmaker and the servers share. It returns an error for a faulty key
// or faulty claims.
func Issue(key []byte, c Claims) (*Ticket, error) {
	switch {
	case len(key) != KeySize:
		return nil, fmt.Errorf("ticket: the key has %d bytes; it needs %d", len(key), KeySize)
	case len(c.Match) > MaxMatch:
		return nil, fmt.Errorf("ticket: Claims.Match has %d bytes; it may have %d", len(c.Match), MaxMatch)
	case len(c.Shown()) > MaxIdentity:
		return nil, fmt.Errorf("ticket: Claims.Identity, with Match, has %d bytes; it may have %d", len(c.Shown()), MaxIdentity)
	case strings.HasPrefix(string(c.Identity), matchMark):
		return nil, fmt.Errorf("ticket: Claims.Identity begins with %q, which marks a match: use another identity", matchMark)
	case len(c.Servers) == 0 || len(c.Servers) > MaxServers:
		return nil, fmt.Errorf("ticket: Claims.Servers names %d; it may name 1 to %d", len(c.Servers), MaxServers)
	case c.Expires.Unix() <= 0:
		return nil, errors.New("ticket: Claims.Expires is not set")
	}
	rand.Read(c.ID[:])
	plain := append([]byte(nil), c.ID[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(c.Expires.Unix()))
	plain = appendServers(plain, c.Servers)
	plain = append(plain, c.Shown()...)
	sealed := make([]byte, sealedHeader, sealedHeader+len(plain)+chacha20poly1305.Overhead)
	sealed[0] = version
	rand.Read(sealed[1:])
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	sealed = aead.Seal(sealed, sealed[1:], plain, sealed[:1])
	t := &Ticket{Expires: time.Unix(c.Expires.Unix(), 0), Servers: append([]netip.AddrPort(nil), c.Servers...), Sealed: sealed}
	t.Secret, err = secret(key, sealed)
	return t, err
}

func sealer(key []byte) (cipher.AEAD, error) {
	k, err := hkdf.Key(sha256.New, key, nil, sealLabel, chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	return chacha20poly1305.NewX(k)
}

func secret(key, sealed []byte) (s [SecretSize]byte, err error) {
	k, err := hkdf.Key(sha256.New, key, nil, secretLabel+string(sealed), SecretSize)
	copy(s[:], k)
	return s, err
}

func appendServers(b []byte, servers []netip.AddrPort) []byte {
	b = append(b, byte(len(servers)))
	for _, a := range servers {
		ip := a.Addr().As16()
		b = append(b, ip[:]...)
		b = binary.BigEndian.AppendUint16(b, a.Port())
	}
	return b
}

// parseServers returns the servers at the start of b, and the bytes after them.
func parseServers(b []byte) ([]netip.AddrPort, []byte, error) {
	if len(b) == 0 {
		return nil, nil, ErrMalformed
	}
	n := int(b[0])
	if n == 0 || n > MaxServers || len(b) < 1+n*addrSize {
		return nil, nil, ErrMalformed
	}
	servers := make([]netip.AddrPort, n)
	for i := range servers {
		a := b[1+i*addrSize:]
		servers[i] = netip.AddrPortFrom(netip.AddrFrom16([16]byte(a[:16])).Unmap(), binary.BigEndian.Uint16(a[16:]))
	}
	return servers, b[1+n*addrSize:], nil
}

// open decrypts a sealed part, even if the ticket has expired.
func open(aead cipher.AEAD, sealed []byte) (c Claims, err error) {
	if len(sealed) < sealedHeader+chacha20poly1305.Overhead || len(sealed) > MaxSealed || sealed[0] != version {
		return c, ErrMalformed
	}
	plain, err := aead.Open(nil, sealed[1:sealedHeader], sealed[sealedHeader:], sealed[:1])
	if err != nil {
		return c, ErrForged
	}
	if len(plain) < idSize+8 {
		return c, ErrMalformed
	}
	c.ID = ID(plain[:idSize])
	c.Expires = time.Unix(int64(binary.BigEndian.Uint64(plain[idSize:])), 0)
	if c.Servers, c.Identity, err = parseServers(plain[idSize+8:]); err != nil {
		return c, err
	}
	if match, identity, ok := SplitIdentity(c.Identity); ok {
		c.Match, c.Identity = match, identity
	}
	return c, nil
}

// MarshalBinary returns the ticket for the player. It never fails.
func (t *Ticket) MarshalBinary() ([]byte, error) {
	b := []byte{version}
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires.Unix()))
	b = append(b, t.Secret[:]...)
	b = appendServers(b, t.Servers)
	return append(b, t.Sealed...), nil
}

// UnmarshalBinary decodes the bytes that MarshalBinary returned. Error: ErrMalformed.
func (t *Ticket) UnmarshalBinary(b []byte) error {
	const head = 1 + 8 + SecretSize
	if len(b) < head || b[0] != version {
		return ErrMalformed
	}
	servers, sealed, err := parseServers(b[head:])
	if err != nil || len(sealed) < sealedHeader+chacha20poly1305.Overhead || len(sealed) > MaxSealed {
		return ErrMalformed
	}
	*t = Ticket{Expires: time.Unix(int64(binary.BigEndian.Uint64(b[1:])), 0), Servers: servers,
		Sealed: append([]byte(nil), sealed...), Secret: [SecretSize]byte(b[9:head])}
	return nil
}
