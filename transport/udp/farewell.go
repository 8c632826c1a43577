package udp

import (
	"time"

	"github.com/foretick/foretick/transport"
)

// leaver is a dropped peer that is notified until it confirms, at most three times.
type leaver struct {
	conn   uint64
	addr   route
	code   transport.Code
	reason string
	at     [2]uint32 // ticks at which the notification is repeated; 0: done
}

const maxLeavers = 1024

// Disconnect implements transport.Endpoint. It notifies the peer up to three times within 300 ms, until the peer
// confirms, and again for each datagram from the peer.
func (e *Endpoint) Disconnect(id transport.PeerID, c transport.Code, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers.Get(id)
	if !ok || p.conn == 0 {
		return
	}
	e.sendOff(e.dismiss(p, c, transport.CutReason(reason)))
}

// sendOff notifies a leaver for the first time, and schedules the repeats.
func (e *Endpoint) sendOff(l leaver) {
	now := e.clock.Load()
	if l.at = [2]uint32{now + 2, now + 6}; len(e.leaving) < maxLeavers {
		e.leaving = append(e.leaving, l)
	}
	e.out.sendDatagram(appendEnd(nil, typeClose, l.conn, l.code, l.reason), l.addr)
}

// dismiss drops a peer because the caller asked for it. The returned leaver must still be notified.
func (e *Endpoint) dismiss(p *peer, c transport.Code, reason string) leaver {
	e.forgetPeer(p, c, reason)
	e.in.Drop(p.q)
	if d := e.dial; d != nil {
		d.state, d.code, d.reason = ended, c, reason
		d.endProbe()
	}
	return leaver{conn: p.conn, addr: p.addr, code: c, reason: reason}
}

// tendLeaving notifies again the peers that have not confirmed.
func (e *Endpoint) tendLeaving(now uint32) {
	keep := e.leaving[:0]
	for _, l := range e.leaving {
		for i, at := range l.at {
			if at != 0 && now >= at {
				l.at[i] = 0
				e.sendFarewell(&l)
			}
		}
		if l.at != [2]uint32{} {
			keep = append(keep, l)
		}
	}
	clear(e.leaving[len(keep):])
	e.leaving = keep
}

// sendFarewell queues a close message for a leaver.
func (e *Endpoint) sendFarewell(l *leaver) {
	m := e.letter(l.addr)
	m.n = len(appendEnd(m.b[:0], typeClose, l.conn, l.code, l.reason))
}

// farewellConfirmed records that a peer confirmed the end of its connection.
func (e *Endpoint) farewellConfirmed(conn uint64) {
	for i := range e.leaving {
		if e.leaving[i].conn == conn {
			last := len(e.leaving) - 1
			e.leaving[i], e.leaving[last] = e.leaving[last], leaver{}
			e.leaving = e.leaving[:last]
			break
		}
	}
	if len(e.leaving) == 0 {
		e.hush()
	}
}

// hush stops the notifications of a closing endpoint.
func (e *Endpoint) hush() {
	select {
	case e.quiet <- struct{}{}:
	default:
	}
}

// remind repeats to the server, at most once a tick, that the connection has ended.
func (e *Endpoint) remind() {
	d, now := e.dial, e.clock.Load()
	if d.state != ended || d.p.conn == 0 || d.told == now {
		return
	}
	d.told = now
	e.out.sendDatagram(appendEnd(e.note[:0], typeClose, d.p.conn, d.code, d.reason), d.p.addr)
}

// Close implements transport.Endpoint. It takes a round trip to the slowest peer, and at most Config.Linger. The
// accept hook must not call it.
func (e *Endpoint) Close(c transport.Code, reason string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return transport.ErrClosed
	}
	e.closed = true
	reason = transport.CutReason(reason)
	for i := range e.peers.Slots() {
		if p, ok := e.peers.At(i); ok && p.conn != 0 {
			e.leaving = append(e.leaving, e.dismiss(p, c, reason))
		}
	}
	select { // discard an earlier signal
	case <-e.quiet:
	default:
	}
	conn := e.conn
	e.mu.Unlock()
	e.farewell()
	close(e.done)
	if conn != nil {
		conn.Close()
	}
	e.running.Wait()
	return nil
}

// farewell notifies the leaving peers, and repeats it with pauses, because losses come in bursts.
func (e *Endpoint) farewell() {
	linger := max(e.cfg.Linger, 0)
	third := linger / 3
	for i, pause := range [...]time.Duration{third, linger - third, 0} {
		e.mu.Lock()
		e.post = nil // the timer may still be sending the old ones
		for i := range e.leaving {
			e.sendFarewell(&e.leaving[i])
		}
		letters := e.post
		e.mu.Unlock()
		for i := range letters {
			if e.out.sendDatagram(letters[i].b[:letters[i].n], letters[i].to) == errRefused && e.dial != nil {
				return
			}
		}
		if len(letters) == 0 || i == 2 {
			return
		}
		select {
		case <-e.quiet:
			return
		case <-time.After(pause):
		}
	}
}
