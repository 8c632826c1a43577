package ws

import "github.com/foretick/foretick/transport"

// takeMessage handles a message of a peer and returns a buffer for the next one.
func (e *Endpoint) takeMessage(p *peer, buf []byte, n int) []byte {
	b := buf[:n]
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Load()
	switch p.state {
	case greeting:
		if e.dial == nil {
			e.serveHello(p, b)
		} else {
			e.takeAnswer(p, b)
		}
		return buf
	case open:
	default:
		return buf // the end message was sent or received: this one is too late
	}
	p.heard = now
	if n > 0 && b[0] == typeData && n <= header+MTU {
		p.stats.Received++
		p.stats.ReceivedBytes += uint64(n - header)
		if e.in.Push(p.q, buf, b[header:]) {
			p.stats.ReceiveDropped++
			e.counters.Overrun++
		}
		return e.in.Buffer()
	}
	e.takeControl(p, b)
	return buf
}

func (e *Endpoint) takeControl(p *peer, b []byte) {
	if answer, err := parseAlive(b); err == nil {
		if !e.tolerated(p) {
			return
		}
		if answer && !p.alive {
			p.alive = true
			p.signalWake()
		}
		return
	}
	if c, reason, err := parseEnd(b); err == nil {
		e.bury(p, c, reason)
		return
	}
	e.malformed(p)
}

// bury ends a peer whose end message arrived; a close frame will follow.
func (e *Endpoint) bury(p *peer, c transport.Code, reason string) {
	e.reportEnd(p, c, reason)
	p.state, p.until = ended, e.clock.Load()+ticks(closeTime)
	p.out = queue{}
}

// malformed drops a peer that sent an invalid message. TCP does not damage data, so the peer really
// sent it.
func (e *Endpoint) malformed(p *peer) {
	const reason = "a message that is not understood"
	e.counters.Malformed++
	e.reportEnd(p, transport.Malformed, reason)
	e.sendFarewell(p, transport.Malformed, reason)
}

// takeAnswer handles a message to a client that is not accepted yet.
func (e *Endpoint) takeAnswer(p *peer, b []byte) {
	if len(b) == 1 && b[0] == typeAccept {
		p.state, p.heard, p.sent = open, e.clock.Load(), e.clock.Load()
		e.counters.Connections++
		e.in.Connect(p.q)
		p.signalWake()
		return
	}
	if c, reason, err := parseEnd(b); err == nil {
		e.bury(p, c, reason)
		return
	}
	e.malformed(p)
}

// leavePending removes a peer from the pending crowd.
func (e *Endpoint) leavePending(p *peer) {
	if p.pending {
		p.pending = false
		e.pending.Remove(p)
	}
}
