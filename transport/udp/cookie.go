package udp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
)

// mint creates and checks proofs that a client receives at its address: HMAC-SHA256 (RFC 2104) with keys that only
// this process has and that change over time. Only the reading goroutine uses it.
type mint struct {
	keys    [2]hash.Hash // current, previous
	rotated uint32       // when the keys were replaced, in seconds
	in      [64]byte
	sum     [sha256.Size]byte
}

const (
	cookieLife = 10 // in seconds
	keyLife    = 60 // in seconds as the current key, and as many again as the previous one
)

func newMint() *mint {
	m := &mint{}
	m.keys[0], m.keys[1] = newKey(), newKey()
	return m
}

func newKey() hash.Hash {
	var key [32]byte
	rand.Read(key[:]) // never fails
	return hmac.New(sha256.New, key[:])
}

// rotate replaces the keys when they are due; now is in seconds of the endpoint's clock.
func (m *mint) rotate(now uint32) {
	if now-m.rotated >= keyLife {
		m.rotated = now
		m.keys[1], m.keys[0] = m.keys[0], newKey()
	}
}

// mac returns the MAC of a purpose, two values and an address.
func (m *mint) mac(key int, purpose byte, a, b uint64, addr netip.AddrPort) []byte {
	in := append(m.in[:0], purpose)
	in = binary.BigEndian.AppendUint64(in, a)
	in = binary.BigEndian.AppendUint64(in, b)
	ip := addr.Addr().As16()
	in = append(in, ip[:]...)
	in = binary.BigEndian.AppendUint16(in, addr.Port())
	h := m.keys[key]
	h.Reset()
	h.Write(in)
	return h.Sum(m.sum[:0])
}

// cookie creates the cookie for a nonce and an address.
func (m *mint) cookie(now uint32, nonce uint64, addr netip.AddrPort) (c cookie) {
	m.rotate(now)
	binary.BigEndian.PutUint32(c[:], now)
	copy(c[4:], m.mac(0, typeCookie, nonce, uint64(now), addr))
	return c
}

// valid reports whether this mint created the cookie, for this nonce and address, recently enough.
func (m *mint) valid(now uint32, c *cookie, nonce uint64, addr netip.AddrPort) bool {
	m.rotate(now)
	made := binary.BigEndian.Uint32(c[:])
	if made > now || now-made > cookieLife {
		return false
	}
	for key := range m.keys {
		if hmac.Equal(c[4:], m.mac(key, typeCookie, nonce, uint64(made), addr)[:cookieSize-4]) {
			return true
		}
	}
	return false
}

// proof creates the value that a connection must return to show that it receives at addr. moves is how often it has
// moved, so that an old proof cannot move it back.
func (m *mint) proof(now uint32, id, moves uint64, addr netip.AddrPort) uint64 {
	m.rotate(now)
	return binary.BigEndian.Uint64(m.mac(0, typeChallenge, id, moves, addr))
}

func (m *mint) proven(now uint32, proof, id, moves uint64, addr netip.AddrPort) bool {
	m.rotate(now)
	for key := range m.keys {
		if binary.BigEndian.Uint64(m.mac(key, typeChallenge, id, moves, addr)) == proof {
			return true
		}
	}
	return false
}
