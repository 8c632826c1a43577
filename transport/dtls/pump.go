package dtls

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/foretick/foretick/transport"
)

// pump processes the events of the endpoint below.
func (e *Endpoint) pump() {
	var ev [64]transport.Event
	for {
		n := e.below.Recv(ev[:])
		for i := range ev[:n] {
			switch ev[i].Kind {
			case transport.Data:
				e.arrive(ev[i].Peer, ev[i].Data)
			case transport.Connected:
				e.connected(ev[i].Peer)
			case transport.Disconnected:
				e.gone(ev[i].Peer, ev[i].Code, ev[i].Reason)
			}
		}
		if n == len(ev) {
			continue
		}
		select {
		case <-e.below.Ready():
		case <-e.kick:
			e.catchUp()
		case <-e.done:
			return
		}
	}
}

func (e *Endpoint) connected(below transport.PeerID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	p := e.dial
	if p == nil {
		p = &peer{}
	} else if p.state != waiting || p.below != 0 {
		return
	}
	var info transport.Info
	e.below.Info(below, &info)
	addr, _ := netip.ParseAddrPort(info.Addr)
	p.below, p.addr, p.name, p.mtu = below, addr, info.Addr, info.MTU-overhead
	p.until = e.clock.Load() + ticks(e.handshake)
	e.links[below] = p
	if e.dial == nil {
		e.roomToWait()
		e.silent.Add(p, addr.Addr())
	}
	if e.dial != nil {
		p.summed = true
		e.shake(p)
	}
}

// roomToWait makes room for one more connection without a handshake. If there are too many, it drops
// the oldest of the address that has the most.
func (e *Endpoint) roomToWait() {
	if e.silent.Len() < e.cfg.MaxHandshakes {
		return
	}
	if p, ok := e.silent.Oldest(); ok {
		e.counters.Evicted++
		e.cut(p, transport.Full, "too many that begin no handshake")
	}
}

// gone handles the end of the connection below.
func (e *Endpoint) gone(below transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.links[below]
	if p == nil && e.dial != nil && e.dial.below == 0 { // the dial never connected
		p = e.dial
	}
	if p == nil || p.state == over {
		return
	}
	e.reportEnd(p, c, reason)
	delete(e.links, below)
	e.cut(p, c, reason)
}

// arrive handles a datagram, which holds a few records.
func (e *Endpoint) arrive(below transport.PeerID, b []byte) {
	e.mu.Lock()
	p := e.links[below]
	if p == nil || e.closed {
		e.mu.Unlock()
		return
	}
	if handshake, summed := e.sift(p, b); len(handshake) > 0 && !p.freed {
		if p.state == waiting && e.dial == nil {
			p.summed = summed
			e.shake(p)
		}
		if p.shim != nil {
			p.shim.pushDatagram(handshake)
		}
	}
	e.mu.Unlock()
}

// sift handles the protected records of a datagram, and returns its other records, which are for the
// library.
func (e *Endpoint) sift(p *peer, b []byte) (handshake []byte, summed bool) {
	whole := true
	b, sum, summed, ok := unsum(b)
	if !ok || summed && p.copied(sum) {
		if !ok {
			e.counters.Damaged++
		}
		return nil, summed
	}
	for len(b) > 0 {
		record, rest, ok := next(b)
		if !ok {
			e.counters.Guarded++
			whole = false
			break
		}
		b = rest
		switch p.guard.judgeRecord(record) {
		case drop:
			e.counters.Guarded++
			whole = false
		case library:
			handshake = append(handshake, record...)
		case ours:
			e.protected(p, record)
		}
	}
	if !p.guard.done && (!whole || p.summed && !summed) { // a record was damaged or forged
		return nil, summed
	}
	return handshake, summed
}

// protected handles a protected record. It decrypts the record without the lock, because no other
// goroutine uses the reader.
func (e *Endpoint) protected(p *peer, record []byte) {
	switch p.state {
	case waiting, shaking:
		if p.state == shaking && len(p.early) < maxEarly {
			p.early = append(p.early, slices.Clone(record))
		} else {
			e.counters.Early++
		}
		return
	case leaving, over:
		return
	}
	e.mu.Unlock()
	plain, err := p.read.readRecord(e.buf[:0], record)
	e.mu.Lock()
	switch {
	case errors.Is(err, errReplayed):
		e.counters.Replayed++
	case err != nil:
		e.counters.Forged++
	case p.state == greeting || p.state == open: // the state has not changed since
		p.heard = e.clock.Load()
		p.releaseLibrary()
		if record[0] == typeAlert {
			e.alert(p, plain)
			return
		}
		e.handleMessage(p, plain)
	}
}

// catchUp handles records that arrived before their keys, once the keys are there.
func (e *Endpoint) catchUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	var late []*peer
	for _, p := range e.links {
		if len(p.early) > 0 && p.state > shaking {
			late = append(late, p)
		}
	}
	for _, p := range late {
		records := p.early
		p.early = nil
		for _, r := range records {
			e.protected(p, r)
		}
	}
}

// alert handles an authentic alert. Other implementations close a connection with one.
func (e *Endpoint) alert(p *peer, b []byte) {
	if len(b) == 2 && b[1] == alertClose {
		e.reportEnd(p, transport.Closed, "")
		e.cut(p, transport.Closed, "")
	}
}

// handleMessage handles an authentic message; plain is at the start of e.buf.
func (e *Endpoint) handleMessage(p *peer, plain []byte) {
	if len(plain) == 0 {
		e.malformed(p)
		return
	}
	switch plain[0] {
	case msgData:
		e.accepted(p)
		if p.state != open {
			return // a client that is not accepted yet, or a server that got no hello
		}
		p.stats.Received++
		p.stats.ReceivedBytes += uint64(len(plain) - msgHeader)
		if e.in.Push(p.q, e.buf, plain[msgHeader:]) {
			p.stats.ReceiveDropped++
			e.counters.Overrun++
		}
		e.buf = e.in.Buffer()
		return
	case msgHello:
		if e.dial == nil && len(plain) <= msgHeader+MaxToken {
			e.hello(p, plain[msgHeader:])
			return
		}
	case msgAccept:
		if e.dial != nil && len(plain) == msgHeader {
			e.accepted(p)
			return
		}
	case msgAlive:
		if answer, ok := parseAlive(plain); ok {
			if answer && p.state == open {
				e.later(p, msgAlive, 0)
			}
			return
		}
	case msgEnd:
		if c, reason, ok := parseEnd(plain); ok {
			e.reportEnd(p, c, reason)
			e.cut(p, c, "")
			return
		}
	}
	e.malformed(p)
}

// later sends a small message, with the lock released meanwhile.
func (e *Endpoint) later(p *peer, kind byte, body ...byte) {
	e.mu.Unlock()
	_ = e.protect(p, kind, body)
	e.mu.Lock()
}

// malformed drops a peer that sent an authentic but invalid message: no network damage can
// explain it.
func (e *Endpoint) malformed(p *peer) {
	const reason = "a message that is not understood"
	e.counters.Malformed++
	e.reportEnd(p, transport.Malformed, reason)
	e.dropPeer(p, transport.Malformed, reason)
	e.mu.Unlock()
	e.farewell(p)
	e.mu.Lock()
}

// accepted records that the server accepted the client. A datagram from the server proves it as well as
// an accept message.
func (e *Endpoint) accepted(p *peer) {
	if e.dial != nil && p.state == greeting {
		p.state, p.heard, p.sent = open, e.clock.Load(), e.clock.Load()
		e.counters.Connections++
		e.in.Connect(p.q)
	}
}
