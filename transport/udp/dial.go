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

// dial holds the fields that only a client needs, guarded by the endpoint's lock.
type dial struct {
	p       *peer
	state   dialState
	hello   hello
	begun   uint32         // when the dial began, in ticks
	tried   uint32         // when the current address was first tried
	greeted uint32         // when the last hello was sent
	more    bool           // there are other addresses to try
	stay    uint32         // ticks without a reply after which the next address is tried
	parked  []*net.UDPConn // sockets of addresses tried before: a reply may still arrive there
	code    transport.Code // why the dial or the connection ended
	reason  string         // explains code
	told    uint32         // when the server was last notified that the connection has ended
	// far is the time of two round trips in ticks, as measured in the handshake.
	far    uint32
	looked uint32 // when the client last looked at its own address
	moved  uint32 // when the client last changed to another address of its own
	probe  *probe // nil while the first socket works
	open   func(to netip.AddrPort) (*net.UDPConn, error)
}

type dialState uint8

const (
	dialling dialState = iota
	open
	ended
)

const (
	helloEvery = 1  // tick: 50 ms
	helloTwice = 2  // ticks without a reply after which each hello is sent twice
	tryFor     = 20 // ticks until the next address of a name is tried
	tryAgain   = 5  // the same from the second round on, when a reply may already be waiting
	deadAfter  = 20 // ticks of silence after which ICMP can end an open connection
)

// Dial returns a client's endpoint that connects to a server, such as "192.0.2.7:27015" or "play.example.com:27015". It
// does not wait: a Connected or a Disconnected event follows. The code of a Disconnected event is Refused (or the code
// that the server's hook chose), Full, Timeout (no reply), or Unreachable (the network reports that nobody listens
// there, or the name is unknown). Dial tries a name's addresses in turn, a second each, and repeats until one replies.
// It returns an error for a faulty config or address format.
func Dial(addr string, cfg Config) (*Endpoint, error) {
	return dialBy(addr, cfg, (*Endpoint).resolve, openTo)
}

// dialBy is Dial with other functions to resolve a name and to open a socket.
func dialBy(addr string, cfg Config, resolve func(*Endpoint, string) ([]netip.Addr, error), open func(netip.AddrPort) (*net.UDPConn, error)) (*Endpoint, error) {
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
	now := e.clock.Load()
	e.dial = &dial{p: p, hello: hello{nonce: p.nonce}, begun: now, moved: now - staysFor, open: open}
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
		e.dialAddrs(addrs, uint16(port))
	}()
	go func() {
		defer e.running.Done()
		e.tend()
	}()
	return e, nil
}

// dialAddrs tries a server's addresses, and serves the connection with the first address that replies.
// A distant server may reply only after the next address is tried. So the sockets stay open, and an
// address that has replied is not abandoned.
func (e *Endpoint) dialAddrs(addrs []netip.Addr, port uint16) {
	defer e.unpark(nil)
	conns := make([]*net.UDPConn, len(addrs))
	var last error // why no socket could be opened
	for i, a := range addrs {
		if conns[i], last = e.dial.open(netip.AddrPortFrom(a, port)); last == nil {
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
			if conn.SetReadDeadline(time.Time{}) != nil { // refused closed it: nobody listens there
				conns[i] = nil
			}
		}
		if !tried {
			e.giveUp(transport.Unreachable, fmt.Sprint(last))
			return
		}
	}
}

// try sends hellos to an address, and reports whether to try another one.
func (e *Endpoint) try(conn *net.UDPConn, to netip.AddrPort, more bool, stay uint32) bool {
	ok, err := e.attach(conn, true)
	if err != nil {
		e.giveUp(transport.Unreachable, err.Error())
	}
	if err != nil || !ok {
		return false
	}
	e.turnTo(to, more, stay)
	e.readSocket(conn, e.takeDatagram)
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

// unpark closes all sockets except one.
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

// turnTo starts sending hellos to an address.
func (e *Endpoint) turnTo(to netip.AddrPort, more bool, stay uint32) {
	e.mu.Lock()
	d := e.dial
	d.p.moveTo(route{AddrPort: plain(to)})
	d.tried, d.more, d.stay, d.hello.cookie = e.clock.Load(), more, stay, cookie{}
	e.mu.Unlock()
	e.greet()
}

// greet sends a hello, without a token until there is a cookie.
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
	if d.greeted-d.tried >= helloTwice { // the link is long or lossy: the earlier of two hellos arrives sooner
		copies = 2
	}
	e.mu.Unlock()
	for range copies {
		if e.out.sendDatagram(b, to) == errRefused {
			e.refused(conn)
		}
	}
}

// giveUp ends a dial or a connection.
func (e *Endpoint) giveUp(c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endDial(c, reason)
}

func (e *Endpoint) endDial(c transport.Code, reason string) {
	if d := e.dial; d.state != ended {
		d.state, d.code, d.reason = ended, c, transport.CutReason(reason)
		e.endPeer(d.p, c, d.reason)
		e.closeParked(e.conn)
		d.endProbe()
	}
}

// refused handles an ICMP report that nobody listens at the address of socket c. While dialling, the
// report ends the attempt. Later it counts only if the server is also silent, since it can be forged.
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
		c.Close() // dialAddrs then tries the next address
		return
	}
	e.endDial(transport.Unreachable, "connection refused")
}
