package udp

import (
	"encoding/binary"

	"github.com/foretick/foretick/transport"
)

// takeDatagram handles a datagram received by a client.
func (e *Endpoint) takeDatagram(buf []byte, n int, _ route) []byte {
	b := buf[:n]
	if n == 0 || n > transport.MaxDatagram {
		e.countInvalid(nil)
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
		e.countInvalid(nil)
	}
	if err != nil {
		e.countInvalid(err)
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
	if ours && first { // later cookies wait for the next hello, so that copies do not multiply
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
	d.far = min(now-d.tried, staysFor)
	e.counters.Connections++
	e.in.Connect(d.p.q)
	e.closeParked(e.conn)
	return nil
}

func (e *Endpoint) takeEnd(b []byte) error {
	key, c, reason, err := parseEnd(b, b[0])
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.dial
	if b[0] == typeRefuse {
		if d.state == dialling && key == d.p.nonce {
			e.endDial(c, text(reason))
		}
		return nil
	}
	if d.p.conn != 0 && key == d.p.conn && (d.state != open || e.believed(d.p, c, text(reason))) {
		e.endDial(c, text(reason))
		e.out.sendDatagram(appendGone(nil, key), d.p.addr) // the server need not repeat the message
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
		e.endDial(d.p.reason(transport.Gone, why))
		e.farewellConfirmed(conn)
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
		e.out.sendDatagram(appendPair(nil, typeResponse, conn, value), p.addr)
	case value == ask:
		e.out.sendDatagram(appendPair(nil, typeAlive, conn, 0), p.addr)
	}
	return nil
}
