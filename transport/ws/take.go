package ws

import (
	"errors"

	"github.com/foretick/foretick/transport"
)

// take handles a message of a peer and returns a buffer for the next one.
func (e *Endpoint) take(p *peer, buf []byte, n int) []byte {
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
		return buf // the farewell was sent: this message is late
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
			p.signal()
		}
		return
	}
	if c, detail, err := parseEnd(b); err == nil {
		e.bury(p, c, detail)
		return
	}
	e.malformed(p)
}

// bury ends a peer whose end message arrived; a close frame will follow.
func (e *Endpoint) bury(p *peer, c transport.Code, detail string) {
	e.end(p, c, detail)
	p.state, p.until = ended, e.clock.Load()+ticks(closeTime)
	p.out = queue{}
}

// malformed drops a peer for an invalid message. TCP delivers without damage, so the peer really sent it.
func (e *Endpoint) malformed(p *peer) {
	const detail = "a message that is not understood"
	e.counters.Malformed++
	e.end(p, transport.Malformed, detail)
	e.leave(p, transport.Malformed, detail)
}

// takeAnswer handles messages to a client before it is accepted.
func (e *Endpoint) takeAnswer(p *peer, b []byte) {
	if len(b) == 1 && b[0] == typeAccept {
		p.state, p.heard, p.sent = open, e.clock.Load(), e.clock.Load()
		e.counters.Connections++
		e.in.Connect(p.q)
		p.signal()
		return
	}
	if c, detail, err := parseEnd(b); err == nil {
		e.bury(p, c, detail)
		return
	}
	e.malformed(p)
}

// serveHello decides on a client. It is called with the lock held, and releases it during the accept hook.
func (e *Endpoint) serveHello(p *peer, b []byte) {
	token, err := parseHello(b)
	if err != nil {
		e.malformed(p)
		return
	}
	if e.crowded(p, e.cfg.Same == transport.ReplaceOld && e.named.Len() > 0) {
		return
	}
	if e.cfg.Accept != nil {
		identity, err := e.ask(p, token)
		switch {
		case p.state != greeting: // dropped in the meantime
			return
		case err != nil:
			e.counters.Refused++
			e.refuse(p, err)
			return
		}
		p.identity = append([]byte(nil), identity...)
	}
	if !e.identify(p) {
		return
	}
	e.settled(p)
	p.state, p.greet = open, true
	p.heard, p.sent = e.clock.Load(), e.clock.Load()
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, true)
	e.named.Add(p.identity, p)
	e.counters.Connections++
	p.signal()
}

// ask calls the accept hook when it is p's turn. It releases the lock temporarily. If the peer is dropped while it
// waits, ask returns without calling the hook.
func (e *Endpoint) ask(p *peer, token []byte) (identity []byte, err error) {
	panicked := false
	e.mu.Unlock()
	defer func() {
		if e.mu.Lock(); panicked {
			e.counters.AcceptPanics++
		}
	}()
	select {
	case e.asking <- struct{}{}:
	case <-p.gone:
		return nil, nil
	}
	defer func() { <-e.asking }()
	select {
	case <-p.gone:
		return nil, nil
	default:
		identity, err, panicked = e.accept.Ask(p.addr, token)
		return identity, err
	}
}

// settled removes a peer from the pending ones.
func (e *Endpoint) settled(p *peer) {
	if p.pending {
		p.pending = false
		e.pending.Remove(p)
	}
}

// crowded refuses a peer when there is no room, unless it may replace another. Ended peers whose event the caller has
// not read also count, since they use memory.
func (e *Endpoint) crowded(p *peer, replaces bool) bool {
	if e.closed {
		e.cut(p)
		return true
	}
	if (replaces || e.peers.Len() < e.cfg.MaxPeers) && e.in.Open() < 2*e.cfg.MaxPeers {
		return false
	}
	e.counters.Full++
	e.leave(p, transport.Full, "")
	return true
}

func (e *Endpoint) refuse(p *peer, err error) {
	var ce *transport.CloseError
	if errors.As(err, &ce) {
		e.leave(p, ce.Code, ce.Detail)
		return
	}
	e.leave(p, transport.Refused, err.Error())
}
