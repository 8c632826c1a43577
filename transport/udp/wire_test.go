//go:build unix

package udp

import (
	"bytes"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
)

var goldenCookie = cookie{0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// golden is every datagram except hello, whose length makes it a separate test.
var golden = []struct {
	name, hex string
	b         []byte
}{
	{"cookie", "a10102030405060708000000070102030405060708090a0b0c0d0e0f10", appendCookie(nil, 0x0102030405060708, &goldenCookie)},
	{"accept", "a201020304050607081112131415161718", appendPair(nil, typeAccept, 0x0102030405060708, 0x1112131415161718)},
	{"refuse", "a301020304050607080005046e6f7065", appendEnd(nil, typeRefuse, 0x0102030405060708, transport.Full, "nope")},
	{"alive", "a611121314151617180000000000000001", appendPair(nil, typeAlive, 0x1112131415161718, ask)},
	{"challenge", "a711121314151617182122232425262728", appendPair(nil, typeChallenge, 0x1112131415161718, 0x2122232425262728)},
	{"response", "a811121314151617182122232425262728", appendPair(nil, typeResponse, 0x1112131415161718, 0x2122232425262728)},
	{"close", "a91112131415161718000102" + "6869", appendEnd(nil, typeClose, 0x1112131415161718, transport.Closed, "hi")},
	{"gone", "aa1112131415161718", appendGone(nil, 0x1112131415161718)},
}

func TestGoldenVectors(t *testing.T) {
	for _, g := range golden {
		got := g.b
		if g.name != "gone" {
			body, err := checked(got)
			require.NoError(t, err, g.name)
			got = body
		}
		assert.Equal(t, g.hex, hex.EncodeToString(got), g.name)
	}
	// CRC-32C of "123456789" is 0xE3069283 (RFC 3720, and every table since).
	assert.Equal(t, []byte("123456789\xe3\x06\x92\x83"), appendSum([]byte("123456789"), 0))
}

func TestGoldenHello(t *testing.T) {
	b := appendHello(nil, &hello{nonce: 0x0102030405060708, cookie: goldenCookie, token: []byte("ticket")})
	require.Len(t, b, helloSize)
	head := "a046544b310102030405060708" + hex.EncodeToString(goldenCookie[:]) + "00067469636b6574"
	assert.Equal(t, head, hex.EncodeToString(b[:len(head)/2]))
	assert.Equal(t, make([]byte, helloSize-sumSize-len(head)/2), b[len(head)/2:helloSize-sumSize])
	h, err := parseHello(b)
	require.NoError(t, err)
	assert.Equal(t, hello{0x0102030405060708, goldenCookie, []byte("ticket")}, h)
}

// The document contains the test vectors.
func TestDocumentHoldsTheVectors(t *testing.T) {
	doc, err := os.ReadFile("../../docs/STANDARD-udp.md")
	require.NoError(t, err)
	for _, g := range golden {
		assert.True(t, strings.Contains(string(doc), hex.EncodeToString(g.b)), "%s: %x", g.name, g.b)
	}
}

func TestAnyFlippedBitIsFound(t *testing.T) {
	for _, g := range golden {
		if g.name == "gone" {
			continue
		}
		for bit := range len(g.b) * 8 {
			b := bytes.Clone(g.b)
			b[bit/8] ^= 1 << (bit % 8)
			if parseAny(b) {
				t.Fatalf("%s passes with bit %d flipped", g.name, bit)
			}
		}
	}
}

// parseAny reports whether any decoder accepts b. It panics if one reads out of bounds.
func parseAny(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	ok := false
	take := func(err error) { ok = ok || err == nil }
	if h, err := parseHello(b); err == nil {
		ok = true
		if len(h.token) > MaxToken {
			panic("token too long")
		}
	}
	_, _, err := parseCookie(b)
	take(err)
	for _, k := range []byte{typeAccept, typeAlive, typeChallenge, typeResponse} {
		_, _, err := parsePair(b, k)
		take(err)
	}
	for _, k := range []byte{typeRefuse, typeClose} {
		_, _, reason, err := parseEnd(b, k)
		take(err)
		if len(reason) > transport.MaxReason {
			panic("detail too long")
		}
	}
	_, err = parseGone(b)
	take(err)
	return ok
}

func FuzzDecoders(f *testing.F) {
	for _, g := range golden {
		f.Add(g.b)
	}
	f.Add(appendHello(nil, &hello{nonce: 1, token: []byte("t")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { parseAny(b) })
		// Also with a valid checksum, which mutations would not find.
		if len(b) >= sumSize {
			parseAny(appendSum(bytes.Clone(b[:len(b)-sumSize]), 0))
		}
	})
}

func TestCookies(t *testing.T) {
	m := newMint()
	addr := netip.MustParseAddrPort("192.0.2.7:1000")
	c := m.cookie(100, 5, addr)
	assert.True(t, m.valid(100, &c, 5, addr))
	assert.True(t, m.valid(100+cookieLife, &c, 5, addr))
	assert.False(t, m.valid(101+cookieLife, &c, 5, addr), "too old")
	assert.False(t, m.valid(99, &c, 5, addr), "of the future")
	assert.False(t, m.valid(100, &c, 6, addr), "another nonce")
	assert.False(t, m.valid(100, &c, 5, netip.MustParseAddrPort("192.0.2.7:1001")), "another port")
	assert.False(t, m.valid(100, &c, 5, netip.MustParseAddrPort("192.0.2.8:1000")), "another address")
	assert.False(t, newMint().valid(100, &c, 5, addr), "another process")
	for bit := range cookieSize * 8 {
		d := c
		d[bit/8] ^= 1 << (bit % 8)
		require.False(t, m.valid(105, &d, 5, addr), "bit %d", bit)
	}
	c = m.cookie(m.rotated+keyLife-1, 5, addr)
	assert.True(t, m.valid(m.rotated+keyLife, &c, 5, addr), "across a change of keys")
	assert.Zero(t, testing.AllocsPerRun(100, func() { m.valid(m.rotated, &c, 5, addr) }))

	p := m.proof(200, 9, 0, addr)
	assert.True(t, m.proven(200, p, 9, 0, addr))
	assert.False(t, m.proven(200, p, 9, 1, addr), "an old proof moves nothing back")
	assert.False(t, m.proven(200, p, 8, 0, addr))
}

// newMeasured returns a server, the address of a stranger, and a function that returns how many bytes
// the stranger received.
func newMeasured(t testing.TB) (e *Endpoint, from netip.AddrPort, received func() int) {
	e, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	t.Cleanup(func() { e.Close(transport.Closed, "") })
	c := listenRaw(t)
	buf := make([]byte, 2048)
	return e, plain(c.LocalAddr().(*net.UDPAddr).AddrPort()), func() (n int) {
		return drain(c, buf)
	}
}

// FuzzAmplification sends a server a datagram from an address without proof: the server must reply with no more
// bytes than it got, store nothing, and report nothing.
func FuzzAmplification(f *testing.F) {
	e, addr, received := newMeasured(f)
	from := route{AddrPort: addr}
	e.limits = newLimits(1 << 20)
	known := &peer{conn: 0x1112131415161718, nonce: 77, heard: e.clock.Load()}
	known.moveTo(route{AddrPort: netip.MustParseAddrPort("127.0.0.1:9")})
	buried := &peer{conn: 0x3132333435363738, nonce: 78}
	e.mu.Lock()
	known.id = e.peers.Add(known)
	known.q = e.in.Add(known.id, false)
	e.byConn[known.conn] = known
	e.graves.bury(buried, transport.Kicked, strings.Repeat("x", transport.MaxReason))
	e.mu.Unlock()
	for _, g := range golden {
		f.Add(g.b)
	}
	f.Add(appendHello(nil, &hello{nonce: 1}))
	f.Add(appendHello(nil, &hello{nonce: 1, cookie: goldenCookie}))
	f.Add(append([]byte{typeUp}, "\x11\x12\x13\x14\x15\x16\x17\x18 a datagram from elsewhere"...))
	f.Add(append([]byte{typeUp}, "\x31\x32\x33\x34\x35\x36\x37\x38 of a connection that ended"...))
	f.Add(append([]byte{typeUp}, "\x31\x32\x33\x34\x35\x36\x37\x38"...))
	f.Add(append([]byte{typeUp}, "\x11\x12\x13\x14\x15\x16\x17\x18 short"...))
	f.Add([]byte{typeUp, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		inputs := [][]byte{b}
		if len(b) >= sumSize {
			inputs = append(inputs, appendSum(bytes.Clone(b[:len(b)-sumSize]), 0))
		}
		for _, b := range inputs {
			if len(b) > bufferSize {
				b = b[:bufferSize]
			}
			e.mu.Lock()
			buf := e.in.Buffer()
			known.challenged = 0
			known.heard = e.clock.Load()
			for _, g := range e.graves.byConn {
				g.told = 0
			}
			e.mu.Unlock()
			e.limits.all = meter{} // the limits are not what keeps replies short
			e.serveDatagram(buf, copy(buf, b), from)
			if n := received(); n > len(b) {
				t.Fatalf("%d bytes answered with %d", len(b), n)
			}
			e.mu.Lock()
			peers, moved := e.peers.Len(), known.addr == from
			e.mu.Unlock()
			if peers > 1 || moved {
				t.Fatalf("%x made a connection, or moved one", b)
			}
			if peers == 0 { // b was a valid close: its id is the connection's
				e.mu.Lock()
				known.id = e.peers.Add(known)
				known.q = e.in.Add(known.id, false)
				e.byConn[known.conn] = known
				e.mu.Unlock()
			}
			e.Recv(make([]transport.Event, 8))
		}
	})
}
