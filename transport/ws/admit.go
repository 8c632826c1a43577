//go:build !js

package ws

import (
	"errors"
	"time"

	"github.com/foretick/foretick/transport"
)

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
		identity, err := e.askAccept(p, token)
		switch {
		case p.state != greeting: // dropped in the meantime
			return
		case err != nil:
			e.counters.Refused++
			e.refusals.Add(err)
			e.refusePeer(p, err)
			return
		}
		p.identity = append([]byte(nil), identity...)
	}
	if !e.identify(p) {
		return
	}
	e.leavePending(p)
	p.state, p.greet = open, true
	p.heard, p.sent = e.clock.Load(), e.clock.Load()
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, true)
	e.named.Add(p.identity, p)
	e.counters.Connections++
	p.signalWake()
}

// askAccept calls the accept hook when it is p's turn. It releases the lock temporarily. If the peer is dropped while it
// waits, askAccept returns without calling the hook.
func (e *Endpoint) askAccept(p *peer, token []byte) (identity []byte, err error) {
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
	e.sendFarewell(p, transport.Full, "")
	return true
}

func (e *Endpoint) refusePeer(p *peer, err error) {
	var why *transport.DisconnectError
	if errors.As(err, &why) {
		e.sendFarewell(p, why.Code, why.Reason)
		return
	}
	e.sendFarewell(p, transport.Refused, err.Error())
}

// identify applies the identity rules to a peer, and refuses the peer if they demand it. It reports
// whether the peer may stay.
func (e *Endpoint) identify(p *peer) bool {
	replaced, err := e.named.Judge(p.identity, e.cfg.Same, time.Now())
	if err != nil {
		e.counters.Refused++
		e.refusals.Add(err)
		e.refusePeer(p, err)
		return false
	}
	if e.crowded(p, len(replaced) > 0) { // the server may have filled up while the accept hook ran
		return false
	}
	e.expel(replaced, transport.Replaced, "connected anew")
	return true
}
