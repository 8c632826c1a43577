package impair

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/foretick/foretick/transport/sim"
)

// Proxy forwards UDP datagrams between clients and one server over two bad links. It does not interpret them, so it
// works with any protocol and language. NewProxy creates it. Any goroutine may call its methods.
type Proxy struct {
	front   *net.UDPConn
	server  netip.AddrPort
	running sync.WaitGroup

	mu       sync.Mutex
	seed     uint64
	links    uint64
	up, down sim.Link
	routes   map[netip.AddrPort]*route
	line     line[crossing]
	dark     time.Duration // everything is lost until this time
	free     [][]byte
	closed   bool
}

// route is the state of one client.
type route struct {
	client   netip.AddrPort
	back     *net.UDPConn
	up, down *sim.Path
	used     time.Duration // when the client last sent a datagram
}

// crossing is a datagram in transit.
type crossing struct {
	r    *route
	up   bool // from the client to the server
	b    []byte
	back *net.UDPConn // the socket that sends it to the server
}

const (
	maxRoutes   = 1024
	routeIdle   = time.Minute
	maxCrossing = 1500
	keepBuffers = 1024
)

// NewProxy returns a proxy that listens on addr and forwards to server. The link up applies towards the server, down
// towards the clients.
func NewProxy(addr, server string, up, down sim.Link, seed uint64) (*Proxy, error) {
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		return nil, fmt.Errorf("impair: cannot find the server: %w", err)
	}
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("impair: cannot listen: %w", err)
	}
	front, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, fmt.Errorf("impair: cannot listen: %w", err)
	}
	front.SetReadBuffer(1 << 20)
	p := &Proxy{front: front, server: to.AddrPort(), seed: seed, up: up, down: down,
		routes: make(map[netip.AddrPort]*route), line: newLine[crossing]()}
	p.running.Add(2)
	go p.clients()
	go p.deliver()
	return p, nil
}

// Addr returns the address for clients to dial.
func (p *Proxy) Addr() netip.AddrPort {
	a := p.front.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// SetLinks changes the links for future datagrams.
func (p *Proxy) SetLinks(up, down sim.Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.down = up, down
	for _, r := range p.routes {
		r.up.SetLink(up)
		r.down.SetLink(down)
	}
}

// Blackhole drops everything in both directions for the time d from now, for current and later clients.
func (p *Proxy) Blackhole(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.line.now()
	p.dark = now + d
	for _, r := range p.routes {
		r.up.Blackhole(now, p.dark)
		r.down.Blackhole(now, p.dark)
	}
}

// Rebind gives every client a new port towards the server, like a NAT that lost its mappings. Datagrams in transit to
// the old ports are lost. It returns net.ErrClosed after Close.
func (p *Proxy) Rebind() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	var errs []error
	for _, r := range p.routes {
		old := r.back
		if err := p.bindRoute(r); err != nil {
			errs = append(errs, err)
			continue
		}
		old.Close()
	}
	return errors.Join(errs...)
}

// Stats returns the total path statistics, up and down, of the clients that the proxy still knows.
func (p *Proxy) Stats() (up, down sim.PathStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.routes {
		add(&up, r.up.Stats())
		add(&down, r.down.Stats())
	}
	return up, down
}

func add(to *sim.PathStats, s sim.PathStats) {
	to.Sent += s.Sent
	to.Lost += s.Lost
	to.Overrun += s.Overrun
	to.Dark += s.Dark
	to.Duplicated += s.Duplicated
	to.Reordered += s.Reordered
	to.Corrupted += s.Corrupted
}

// Close stops the proxy and its goroutines. A second Close returns net.ErrClosed.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return net.ErrClosed
	}
	p.closed = true
	for _, r := range p.routes {
		r.back.Close()
	}
	p.mu.Unlock()
	close(p.line.done)
	p.front.Close()
	p.running.Wait()
	return nil
}

// bindRoute gives a route a socket towards the server, and a goroutine that reads it.
func (p *Proxy) bindRoute(r *route) error {
	back, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.server))
	if err != nil {
		return fmt.Errorf("impair: %w", err)
	}
	back.SetReadBuffer(1 << 20)
	r.back = back
	p.running.Add(1)
	go p.answers(r, back)
	return nil
}

// clients reads the datagrams that clients send.
func (p *Proxy) clients() {
	defer p.running.Done()
	buf := make([]byte, maxCrossing)
	for {
		n, from, err := p.front.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		p.mu.Lock()
		if r := p.route(from); r != nil {
			p.pass(r, r.up, true, buf[:n])
		}
		p.mu.Unlock()
	}
}

// answers reads the datagrams that the server sends to a client through one socket.
func (p *Proxy) answers(r *route, back *net.UDPConn) {
	defer p.running.Done()
	buf := make([]byte, maxCrossing)
	for {
		n, err := back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // ICMP reports that nobody listens: the server's datagrams are lost
			continue
		}
		p.mu.Lock()
		if !p.closed && r.back == back {
			p.pass(r, r.down, false, buf[:n])
		}
		p.mu.Unlock()
	}
}

// route returns the client's route, and creates it if there is room.
func (p *Proxy) route(from netip.AddrPort) *route {
	if p.closed {
		return nil
	}
	if r := p.routes[from]; r != nil {
		r.used = p.line.now()
		return r
	}
	if len(p.routes) >= maxRoutes {
		p.forgetIdle()
		if len(p.routes) >= maxRoutes {
			return nil
		}
	}
	r := &route{client: from, used: p.line.now(), up: sim.NewPath(p.up, p.seed, 2*p.links),
		down: sim.NewPath(p.down, p.seed, 2*p.links+1)}
	r.up.Blackhole(0, p.dark)
	r.down.Blackhole(0, p.dark)
	if p.bindRoute(r) != nil {
		return nil
	}
	p.links++
	p.routes[from] = r
	return r
}

// forgetIdle drops routes that have been idle for a while.
func (p *Proxy) forgetIdle() {
	for from, r := range p.routes {
		if p.line.now()-r.used > routeIdle {
			r.back.Close()
			delete(p.routes, from)
		}
	}
}

func (p *Proxy) pass(r *route, path *sim.Path, up bool, b []byte) {
	now := p.line.now()
	fate := path.Send(now, len(b))
	for i := range fate.Copies {
		c := crossing{r: r, up: up, b: append(p.buffer(), b...)}
		fate.Damage(i, c.b)
		if !p.line.addItem(fate.At[i], c) {
			p.releaseBuffer(c.b)
		}
	}
}

func (p *Proxy) buffer() []byte {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b[:0]
	}
	return make([]byte, 0, maxCrossing)
}

func (p *Proxy) releaseBuffer(b []byte) {
	if len(p.free) < keepBuffers {
		p.free = append(p.free, b)
	}
}

// deliver sends the datagrams that are due.
func (p *Proxy) deliver() {
	defer p.running.Done()
	var batch []crossing
	for {
		batch = p.collect(batch)
		if len(batch) == 0 && !p.line.waitForDue(nil) {
			return
		}
		for i := range batch {
			if c := &batch[i]; c.up {
				c.back.Write(c.b)
			} else {
				p.front.WriteToUDPAddrPort(c.b, c.r.client)
			}
		}
	}
}

// collect reclaims the buffers of a batch and returns the next one. If that is empty, it arms the line.
func (p *Proxy) collect(batch []crossing) []crossing {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range batch {
		p.releaseBuffer(batch[i].b)
	}
	clear(batch)
	batch = batch[:0]
	now := p.line.now()
	for c, ok := p.line.nextDue(now); ok; c, ok = p.line.nextDue(now) {
		c.back = c.r.back
		batch = append(batch, c)
	}
	if len(batch) == 0 {
		p.line.arm()
	}
	return batch
}
