package udp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/foretick/foretick/transport"
)

// dial is what only a client has, guarded by the endpoint's lock.
type dial struct {
	p       *peer
	state   dialState
	hello   hello
	begun   uint32         // ticks
	tried   uint32         // when the present address was turned to
	greeted uint32         // when the last hello was sent
	more    bool           // there are other addresses to turn to
	stay    uint32         // ticks without an answer until the next is turned to
	parked  []*net.UDPConn // sockets of the addresses turned from: an answer may still come to them
	code    transport.Code // why it ended
	detail  string
	told    uint32 // when the server was last told so for what it sent
}

type dialState uint8

const (
	dialling dialState = iota
	open
	ended
)

const (
	helloEvery = 1  // tick: 50 ms
	helloTwice = 2  // ticks without an answer after which two hellos are sent at a time
	tryFor     = 20 // ticks until the next address of a name is tried
	tryAgain   = 5  // the same from the second time on, when an answer may be there already
	deadAfter  = 20 // ticks of silence after which ICMP is believed of an open connection
)

// Dial returns a client's endpoint that connects to a server, such as "192.0.2.7:27015" or "play.example.com:27015".
// It does not wait: Connected follows, or Disconnected with Refused (or the code that the server's hook chose), Full,
// Timeout when nobody answers, or Unreachable when the network says that nobody is there or the name is unknown. A
// name's addresses are tried in turn, a second each, and again until one answers. Errors: what is wrong with the config or the form of the address.
func Dial(addr string, cfg Config) (*Endpoint, error) {
	return dialBy(addr, cfg, (*Endpoint).resolve)
}

// dialBy is Dial by another way to find a name's addresses.
func dialBy(addr string, cfg Config, resolve func(*Endpoint, string) ([]netip.Addr, error)) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot dial: %w", err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("udp: cannot dial %s: the port must be a number from 1 to 65535", addr)
	}
	e := newEndpoint(cfg)
	var r [8]byte
	rand.Read(r[:])
	p := &peer{nonce: binary.BigEndian.Uint64(r[:])}
	e.dial = &dial{p: p, hello: hello{nonce: p.nonce}, begun: e.clock.Load()}
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, false)
	e.running.Add(2)
	go func() {
		defer e.running.Done()
		addrs, err := resolve(e, host)
		if err != nil {
			e.giveUp(transport.Unreachable, err.Error())
			return
		}
		e.connect(addrs, uint16(port))
	}()
	go func() {
		defer e.running.Done()
		e.tend()
	}()
	return e, nil
}

// connect lives through a connection with the first of a server's addresses that answers. Who is far away may answer
// when the next is tried already: the sockets stay open, and one to which an answer came is not turned from.
func (e *Endpoint) connect(addrs []netip.Addr, port uint16) {
	defer e.unpark(nil)
	conns := make([]*net.UDPConn, len(addrs))
	var last error // why there is no socket
	for i, a := range addrs {
		if conns[i], last = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, port))); last == nil {
			e.park(conns[i])
		}
	}
	for stay := uint32(tryFor); ; stay = tryAgain {
		tried := false
		for i, conn := range conns {
			if conn == nil {
				continue
			}
			tried = true
			more := slices.ContainsFunc(conns, func(c *net.UDPConn) bool { return c != nil && c != conn })
			if !e.try(conn, netip.AddrPortFrom(addrs[i], port), more, stay) {
				return
			}
			if conn.SetReadDeadline(time.Time{}) != nil { // it is closed: nobody is there
				conns[i] = nil
			}
		}
		if !tried {
			e.giveUp(transport.Unreachable, fmt.Sprint(last))
			return
		}
	}
}

// try greets an address, and reports whether another is to be tried.
func (e *Endpoint) try(conn *net.UDPConn, to netip.AddrPort, more bool, stay uint32) bool {
	ok, err := e.attach(conn, true)
	if err != nil {
		e.giveUp(transport.Unreachable, err.Error())
	}
	if err != nil || !ok {
		return false
	}
	e.turnTo(to, more, stay)
	e.read(conn, e.take)
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.closed && e.dial.state == dialling
}

// park keeps a socket open until unpark.
func (e *Endpoint) park(c *net.UDPConn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dial.parked = append(e.dial.parked, c)
}

// unpark closes all sockets but one.
func (e *Endpoint) unpark(but *net.UDPConn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closeParked(but)
}

func (e *Endpoint) closeParked(but *net.UDPConn) {
	for _, c := range e.dial.parked {
		if c != but {
			c.Close()
		}
	}
	e.dial.parked = nil
}

func (e *Endpoint) resolve(host string) ([]netip.Addr, error) {
	if host == "" {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		select {
		case <-e.done:
			cancel()
		case <-stop:
		}
	}()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

// turnTo begins to greet an address.
func (e *Endpoint) turnTo(to netip.AddrPort, more bool, stay uint32) {
	e.mu.Lock()
	d := e.dial
	d.p.moveTo(plain(to))
	d.tried, d.more, d.stay, d.hello.cookie = e.clock.Load(), more, stay, cookie{}
	e.mu.Unlock()
	e.greet()
}

// greet sends a hello: a bare one until there is a cookie.
func (e *Endpoint) greet() {
	e.mu.Lock()
	d := e.dial
	if d.state != dialling || e.conn == nil {
		e.mu.Unlock()
		return
	}
	if d.hello.cookie != (cookie{}) {
		d.hello.token = e.cfg.Token
	}
	d.greeted = e.clock.Load()
	b := appendHello(make([]byte, 0, helloSize), &d.hello)
	to, conn, copies := d.p.addr, e.conn, 1
	if d.greeted-d.tried >= helloTwice { // the link is long or bad: the better of two is there earlier
		copies = 2
	}
	e.mu.Unlock()
	for range copies {
		if e.out.send(b, to) == errRefused {
			e.refused(conn)
		}
	}
}

// giveUp ends a dial, or a connection.
func (e *Endpoint) giveUp(c transport.Code, detail string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over(c, detail)
}

func (e *Endpoint) over(c transport.Code, detail string) {
	if d := e.dial; d.state != ended {
		d.state, d.code, d.detail = ended, c, transport.CutDetail(detail)
		e.end(d.p, c, d.detail)
		e.closeParked(e.conn)
	}
}

// refused: ICMP said that nobody is at the address of socket c. While dialling that is believed; later only when the
// server is silent as well, as it can be forged.
func (e *Endpoint) refused(c *net.UDPConn) {
	if e.dial == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.dial
	if c != e.conn {
		return
	}
	d.p.refused = e.clock.Load()
	if e.closed {
		e.hush()
	}
	if d.state != dialling {
		return
	}
	if d.more {
		c.Close() // connect turns to the next address
		return
	}
	e.over(transport.Unreachable, "connection refused")
}

// take handles a datagram that came to a client.
func (e *Endpoint) take(buf []byte, n int, _ netip.AddrPort) []byte {
	b := buf[:n]
	if n == 0 || n > transport.MaxDatagram {
		e.fault(nil)
		return buf
	}
	var err error
	switch b[0] {
	case typeDown:
		return e.takeData(buf, n)
	case typeCookie:
		err = e.takeCookie(b)
	case typeAccept:
		err = e.takeAccept(b)
	case typeRefuse, typeClose:
		err = e.takeEnd(b)
	case typeAlive, typeChallenge:
		err = e.takeSignal(b)
	case typeGone:
		err = e.takeGone(b)
	default:
		e.fault(nil)
	}
	if err != nil {
		e.fault(err)
	}
	return buf
}

func (e *Endpoint) takeData(buf []byte, n int) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.dial.p
	if n < downHeader || binary.BigEndian.Uint32(buf[1:]) != uint32(p.nonce) || e.dial.state != open {
		e.counters.UnknownID++
		if n >= downHeader && binary.BigEndian.Uint32(buf[1:]) == uint32(p.nonce) {
			e.remind()
		}
		return buf
	}
	p.heard = e.clock.Load()
	p.stats.Received++
	p.stats.ReceivedBytes += uint64(n - downHeader)
	if e.in.Push(p.q, buf, buf[downHeader:n]) {
		p.stats.ReceiveDropped++
		e.counters.Overrun++
	}
	return e.in.Buffer()
}

func (e *Endpoint) takeCookie(b []byte) error {
	nonce, c, err := parseCookie(b)
	if err != nil {
		return err
	}
	e.mu.Lock()
	d := e.dial
	first := d.hello.cookie == cookie{}
	ours := nonce == d.p.nonce && d.state == dialling && c != cookie{}
	if ours {
		d.hello.cookie = c
	}
	e.mu.Unlock()
	if ours && first { // later ones wait for the next hello, so that copies make no more of them
		e.greet()
	}
	return nil
}

func (e *Endpoint) takeAccept(b []byte) error {
	nonce, conn, err := parsePair(b, typeAccept)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.dial
	if nonce != d.p.nonce || d.state != dialling || conn == 0 || e.closed {
		return nil
	}
	d.state = open
	now := e.clock.Load()
	d.p.conn, d.p.heard, d.p.sent = conn, now, now
	e.counters.Connections++
	e.in.Connect(d.p.q)
	e.closeParked(e.conn)
	return nil
}

func (e *Endpoint) takeEnd(b []byte) error {
	key, c, detail, err := parseEnd(b, b[0])
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.dial
	if b[0] == typeRefuse {
		if d.state == dialling && key == d.p.nonce {
			e.over(c, text(detail))
		}
		return nil
	}
	if d.p.conn != 0 && key == d.p.conn && (d.state != open || e.believed(d.p, c, text(detail))) {
		e.over(c, text(detail))
		e.out.send(appendGone(nil, key), d.p.addr) // it need not be said again
	}
	return nil
}

func (e *Endpoint) takeGone(b []byte) error {
	conn, err := parseGone(b)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	const why = "the server does not know this connection"
	if d := e.dial; d.p.conn != 0 && conn == d.p.conn && (d.state != open || e.believed(d.p, transport.Gone, why)) {
		e.over(d.p.reason(transport.Gone, why))
		e.told(conn)
	}
	return nil
}

func (e *Endpoint) takeSignal(b []byte) error {
	conn, value, err := parsePair(b, b[0])
	if err != nil {
		return err
	}
	e.mu.Lock()
	p := e.dial.p
	ours := e.dial.state == open && conn == p.conn
	if ours {
		p.heard = e.clock.Load()
	} else if conn == p.conn {
		e.remind()
	}
	e.mu.Unlock()
	switch {
	case !ours:
	case b[0] == typeChallenge:
		e.out.send(appendPair(nil, typeResponse, conn, value), p.addr)
	case value == ask:
		e.out.send(appendPair(nil, typeAlive, conn, 0), p.addr)
	}
	return nil
}
