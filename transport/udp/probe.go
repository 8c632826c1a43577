package udp

import (
	"net"
	"net/netip"
)

// probe is a client's second socket, for when the client's own address has changed: another network, a
// VPN, a cable. The first socket is bound to the old address, from which nothing is sent any more. The
// probe asks the server from the new address. It replaces the first socket once the server has replied
// to it.
type probe struct {
	conn *net.UDPConn
	out  socket
	// since is when the server had last been heard on the first socket. The probe ends once the server
	// is heard there again.
	since uint32
}

const (
	silentFor = 5  // ticks of silence, plus two round trips, after which a client checks its own address
	lookEvery = 4  // ticks between two checks while the server is silent
	staysFor  = 20 // ticks after a move in which a failed send alone causes no check
)

// openTo opens a socket to a server. The system chooses the address to send from.
func openTo(to netip.AddrPort) (*net.UDPConn, error) {
	return net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
}

// from returns the local address of a socket.
func from(c *net.UDPConn) netip.Addr { return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr() }

// mind checks a client's own address when a send has failed or the server is silent. If the system
// would now choose another address, it asks the server from that one. The timer calls it in each tick.
func (e *Endpoint) mind(now uint32) {
	failed := e.failed.Swap(false)
	e.mu.Lock()
	d := e.dial
	if d == nil || d.state != open || e.closed {
		e.mu.Unlock()
		return
	}
	failed = failed && now-d.moved >= staysFor
	silent := now-d.p.heard >= silentFor+d.far
	waits := d.probe != nil && d.probe.since == d.p.heard
	if !failed && !silent && !waits {
		d.endProbe()
		e.mu.Unlock()
		return
	}
	if !failed && now-d.looked < lookEvery {
		e.mu.Unlock()
		return
	}
	d.looked = now
	to, mine, p := d.p.addr.AddrPort, from(e.conn), d.probe
	e.mu.Unlock()

	conn, err := d.open(to)
	if err != nil { // the server cannot be reached yet
		return // there is no way to the server yet
	}
	if at := from(conn); p != nil && at == from(p.conn) || p == nil && at == mine && !failed {
		conn.Close()
	} else if p = e.replaceProbe(conn); p == nil {
		return
	}
	if p != nil && p.out.writeDatagram(appendPair(nil, typeAlive, d.p.conn, ask), route{}) != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if d.probe == p {
			d.endProbe() // the next check opens another one
		}
	}
}

// replaceProbe makes conn the probe, and reads it. It returns nil, and closes conn, if the connection has ended.
func (e *Endpoint) replaceProbe(conn *net.UDPConn) *probe {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.dial
	p := &probe{conn: conn, since: d.p.heard}
	if d.state != open || e.closed || p.out.attach(conn, true, false) != nil {
		conn.Close()
		return nil
	}
	d.endProbe()
	d.probe = p
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		moved := false
		e.readSocket(conn, func(buf []byte, n int, from route) []byte {
			if moved = moved || n > 0 && buf[0] == typeChallenge && e.moveToProbe(p, buf[:n]); moved {
				return e.takeDatagram(buf, n, from) // the challenge too: takeDatagram replies from the new address
			}
			return buf
		})
	}()
	return p
}

// moveToProbe makes the probe the endpoint's socket, if a datagram is the server's challenge to it. It
// reports whether it did.
func (e *Endpoint) moveToProbe(p *probe, challenge []byte) bool {
	conn, _, err := parsePair(challenge, typeChallenge)
	e.mu.Lock()
	d := e.dial
	if err != nil || d.probe != p || d.state != open || conn != d.p.conn || e.closed {
		e.mu.Unlock()
		return false
	}
	old := e.conn
	d.probe, d.moved = nil, e.clock.Load()
	d.p.stats.Migrations++
	e.mu.Unlock()
	ok, err := e.attach(p.conn, true)
	if ok && err == nil {
		old.Close()
	}
	return ok
}

// endProbe closes the probe, if there is one.
func (d *dial) endProbe() {
	if d.probe != nil {
		d.probe.conn.Close()
		d.probe = nil
	}
}
