package main

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// The format of package udp's datagrams: see docs/STANDARD-udp.md.
const (
	udpHello     = 0xA0
	udpCookie    = 0xA1
	udpAccept    = 0xA2
	udpRefuse    = 0xA3
	udpUp        = 0xA4
	udpDown      = 0xA5
	udpAlive     = 0xA6
	udpChallenge = 0xA7
	udpResponse  = 0xA8
	udpClose     = 0xA9
	udpGone      = 0xAA

	udpMagic   = 0x46544b31
	udpCookie0 = 9 // offset of the cookie in a cookie datagram
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// udpWays implements ways for package udp.
type udpWays struct{ addr netip.AddrPort }

func overUDP() (*socketNet, error) {
	e, err := udp.Listen("127.0.0.1:0", udp.Config{
		MaxPeers: socketRoom, Timeout: silence, HelloRate: 1 << 20, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil },
	})
	if err != nil {
		return nil, err
	}
	return newSocketNet(udpWays{e.LocalAddr()}, e), nil
}

func (w udpWays) honest() (transport.Endpoint, error) {
	return udp.Dial(w.addr.String(), udp.Config{Token: honestName()})
}

// honestName returns an identity of an honest client.
func honestName() []byte { return binary.BigEndian.AppendUint64([]byte(honestSign), rand.Uint64()) }

func (w udpWays) rogue() (rogueEnd, error) { return dialUDP(w.addr, nil) }

// udpRogue is a hand-written client end of the udp transport, for peers that
// follow none of its rules.
type udpRogue struct {
	to    netip.AddrPort
	nonce uint64
	token []byte // sent with its hello
	ready chan struct{}
	done  sync.WaitGroup

	mu     sync.Mutex
	conn   *net.UDPConn
	cookie [20]byte
	id     uint64 // connection id; 0 before the server accepted
	events []transport.Event
	last   []byte
	first  [][]byte // messages to send once connected
	muted  bool
	ended  bool // the Disconnected event is in events
	closed bool
	// sends is how many datagrams of the caller are sent before the client is muted. Negative means
	// all.
	sends int
	// spoil is the number of the caller's datagram to damage. Negative means none.
	spoil int
	stats transport.Stats
}

var _ rogueEnd = (*udpRogue)(nil)

func dialUDP(to netip.AddrPort, token []byte) (*udpRogue, error) {
	c, err := net.DialUDP("udp", loopback, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	u := &udpRogue{to: to, nonce: rand.Uint64(), token: token, conn: c, ready: make(chan struct{}, 1), sends: -1, spoil: -1}
	u.done.Go(func() { u.read(c) })
	return u, nil
}

// read does the handshake and handles datagrams until the socket is closed.
func (u *udpRogue) read(c *net.UDPConn) {
	buf := make([]byte, 2048)
	until := time.Now().Add(rogueDial)
	u.hello(c, u.nonce, u.cookie, u.token)
	for {
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := c.Read(buf)
		u.mu.Lock()
		over, open := u.closed || u.conn != c, u.id != 0
		switch {
		case over:
		case err == nil:
			u.take(c, buf[:n])
		case errors.Is(err, os.ErrDeadlineExceeded) && !open && !u.ended && !u.muted:
			if time.Now().After(until) {
				u.end(transport.Timeout, "")
			} else {
				u.hello(c, u.nonce, u.cookie, u.token)
			}
		}
		u.mu.Unlock()
		if over || errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// hello sends a hello.
func (u *udpRogue) hello(c *net.UDPConn, nonce uint64, cookie [20]byte, token []byte) {
	b := append(make([]byte, 0, transport.MaxDatagram), udpHello)
	b = binary.BigEndian.AppendUint32(b, udpMagic)
	b = binary.BigEndian.AppendUint64(b, nonce)
	b = append(b, cookie[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(token)))
	b = append(b, token...)
	b = b[:transport.MaxDatagram-4]
	_, _ = c.Write(udpSum(b)) // losses do not matter, here and in other calls of Write
}

// udpSum appends a datagram's checksum.
func udpSum(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// udpPair returns a datagram with two numbers.
func udpPair(kind byte, a, b uint64) []byte {
	d := binary.BigEndian.AppendUint64([]byte{kind}, a)
	return udpSum(binary.BigEndian.AppendUint64(d, b))
}

// udpEnd returns a close datagram.
func udpEnd(id uint64, code transport.Code, detail []byte) []byte {
	d := binary.BigEndian.AppendUint64([]byte{udpClose}, id)
	d = binary.BigEndian.AppendUint16(d, uint16(code))
	return udpSum(append(append(d, byte(len(detail))), detail...))
}

// take handles a datagram, with the lock held.
func (u *udpRogue) take(c *net.UDPConn, b []byte) {
	if len(b) < 5 || u.muted {
		return
	}
	switch b[0] {
	case udpDown:
		u.stats.Received++
		if u.id != 0 && len(u.events) < 256 {
			u.add(transport.Event{Kind: transport.Data, Peer: 1, Data: append([]byte(nil), b[5:]...)})
		}
	case udpCookie:
		if len(b) >= udpCookie0+20 && u.id == 0 && u.cookie == [20]byte{} {
			copy(u.cookie[:], b[udpCookie0:])
			u.hello(c, u.nonce, u.cookie, u.token)
		}
	case udpAccept:
		if len(b) >= 17 && u.id == 0 && !u.ended {
			u.id = binary.BigEndian.Uint64(b[9:])
			u.add(transport.Event{Kind: transport.Connected, Peer: 1})
			for _, b := range u.first {
				_, _ = c.Write(append(binary.BigEndian.AppendUint64([]byte{udpUp}, u.id), b...))
			}
		}
	case udpRefuse, udpClose:
		if len(b) >= 12 {
			u.end(transport.Code(binary.BigEndian.Uint16(b[9:])), "")
			_, _ = c.Write(binary.BigEndian.AppendUint64([]byte{udpGone}, u.id))
		}
	case udpGone:
		u.end(transport.Gone, "")
	case udpAlive, udpChallenge:
		if len(b) >= 17 && u.id != 0 {
			answer, value := byte(udpAlive), uint64(0)
			if b[0] == udpChallenge {
				answer, value = udpResponse, binary.BigEndian.Uint64(b[9:])
			}
			_, _ = c.Write(udpPair(answer, u.id, value))
		}
	}
}

func (u *udpRogue) add(e transport.Event) {
	u.events = append(u.events, e)
	select {
	case u.ready <- struct{}{}:
	default:
	}
}

func (u *udpRogue) end(code transport.Code, detail string) {
	if !u.ended {
		u.ended = true
		u.add(transport.Event{Kind: transport.Disconnected, Peer: 1, Code: code, Reason: detail})
	}
}

func (u *udpRogue) Recv(ev []transport.Event) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return 0
	}
	n := copy(ev, u.events)
	u.events = append(u.events[:0], u.events[n:]...)
	if len(u.events) > 0 {
		select {
		case u.ready <- struct{}{}:
		default:
		}
	}
	return n
}

func (u *udpRogue) Ready() <-chan struct{} { return u.ready }

func (u *udpRogue) Send(_ transport.PeerID, b []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.id == 0 || u.ended {
		return transport.ErrNoPeer
	}
	if u.muted || u.closed {
		return nil
	}
	d := append(binary.BigEndian.AppendUint64([]byte{udpUp}, u.id), b...)
	if u.spoil == 0 && len(b) > 0 {
		d[9+rand.IntN(len(b))] ^= 1 << rand.IntN(8)
	}
	u.spoil--
	u.last = d
	_, _ = u.conn.Write(d)
	if u.sends--; u.sends == 0 {
		u.muted = true
	}
	return nil
}

func (u *udpRogue) Flush() {}

// Disconnect implements transport.Endpoint: the layer above ends the connection.
func (u *udpRogue) Disconnect(_ transport.PeerID, c transport.Code, reason string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.farewell(c)
	u.ended = true
}

func (u *udpRogue) Info(_ transport.PeerID, out *transport.Info) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	*out = transport.Info{Addr: u.to.String(), MTU: udp.MTU, Stats: u.stats}
	return u.id != 0
}

func (u *udpRogue) farewell(c transport.Code) {
	if u.id != 0 && !u.muted && !u.ended && !u.closed {
		for range 3 {
			_, _ = u.conn.Write(udpEnd(u.id, c, nil))
		}
	}
}

func (u *udpRogue) Close(c transport.Code, _ string) error {
	u.mu.Lock()
	u.farewell(c)
	u.closed = true
	_ = u.conn.Close()
	u.mu.Unlock()
	u.done.Wait()
	return nil
}

func (u *udpRogue) mute() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.muted = true
}

// misuse implements rogueEnd.
func (u *udpRogue) misuse(draw func(int) int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || u.muted {
		return
	}
	switch draw(8) {
	case 0:
		for range draw(40) {
			_, _ = u.conn.Write(udpPair(udpAlive, u.id, uint64(draw(3))))
		}
	case 1:
		_, _ = u.conn.Write(udpPair(udpResponse, u.id, rand.Uint64()))
	case 2: // it forges its own end, and continues
		_, _ = u.conn.Write(udpEnd(u.id, transport.Code(draw(1<<16)), junk(nil, draw(201), draw)))
	case 3:
		u.move()
	case 4:
		_, _ = u.conn.Write(junk(binary.BigEndian.AppendUint64([]byte{udpUp}, u.id), draw(1400), draw))
	case 5:
		for range draw(20) {
			_, _ = u.conn.Write(u.last)
		}
	case 6: // the same hello again, or another with the same cookie
		u.hello(u.conn, u.nonce+uint64(draw(2)), u.cookie, junk(nil, draw(100), draw))
	default:
		_, _ = u.conn.Write(anyDatagram(u.id, draw))
	}
}

// move continues the connection from another port.
func (u *udpRogue) move() {
	c, err := net.DialUDP("udp", loopback, net.UDPAddrFromAddrPort(u.to))
	if err != nil {
		return
	}
	_ = u.conn.Close()
	u.conn = c
	u.done.Go(func() { u.read(c) })
}

// anyDatagram returns a datagram of any type, mostly with a correct checksum.
func anyDatagram(id uint64, draw func(int) int) []byte {
	if draw(4) == 0 {
		id = rand.Uint64()
	}
	b := []byte{byte(udpHello + draw(12))}
	b = binary.BigEndian.AppendUint64(b, id)
	b = junk(b, [...]int{0, 1, 3, 8, 20, 24, 1187, 1191}[draw(8)], draw)
	if draw(4) > 0 {
		return udpSum(b)
	}
	return b
}

// breaks implements ways.
func (w udpWays) breaks(draw func(int) int) func() {
	if draw(3) == 0 { // only a handshake
		u, err := dialUDP(w.addr, nil)
		if err != nil {
			return func() {}
		}
		return func() {
			u.mute()
			_ = u.Close(0, "")
		}
	}
	c, err := net.DialUDP("udp", loopback, net.UDPAddrFromAddrPort(w.addr))
	if err != nil {
		return func() {}
	}
	u := &udpRogue{}
	for range 1 + draw(20) {
		switch draw(6) {
		case 0:
			_, _ = c.Write(junk(nil, draw(1400), draw))
		case 1: // half a handshake
			u.hello(c, rand.Uint64(), [20]byte{}, nil)
		case 2: // an invented cookie
			u.hello(c, rand.Uint64(), [20]byte(junk(nil, 20, draw)), junk(nil, draw(1100), draw))
		case 3: // a hello without padding
			b := binary.BigEndian.AppendUint32([]byte{udpHello}, udpMagic)
			_, _ = c.Write(udpSum(junk(b, draw(100), draw)))
		default:
			_, _ = c.Write(anyDatagram(rand.Uint64(), draw))
		}
	}
	return func() { _ = c.Close() }
}
