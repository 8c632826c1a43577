package udp

import (
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/pulse"
)

// tend is the endpoint's timer: it sends hellos and keep-alives, checks timeouts, and repeats
// notifications of the end.
func (e *Endpoint) tend() {
	pulse.Run(e.done, tickTime, tickTime, func(passed uint32) {
		e.out.flushHeld() // for callers that do not call Flush
		if passed == 0 {
			return
		}
		now := e.clock.Add(passed)
		if e.tendOnce(now) {
			e.greet()
		}
		e.mind(now)
	})
}

// tendOnce does the work that is due and reports whether to send a hello.
func (e *Endpoint) tendOnce(now uint32) (greet bool) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return false
	}
	e.post = e.post[:0]
	if d := e.dial; d != nil && d.state == dialling {
		greet = e.tendDial(d, now)
	} else {
		for i := range e.peers.Slots() {
			if p, ok := e.peers.At(i); ok {
				e.tendPeer(p, now)
			}
		}
	}
	e.tendLeaving(now)
	post := e.post
	e.mu.Unlock()
	for i := range post {
		e.out.sendDatagram(post[i].b[:post[i].n], post[i].to)
	}
	return greet
}

// noAnswer is the text of a dial that timed out. It names the size of a hello, since some paths drop
// datagrams of that size.
const noAnswer = "no answer: nothing listens there, or the path drops UDP, perhaps only payloads of 1200 bytes, which it must carry"

func (e *Endpoint) tendDial(d *dial, now uint32) (greet bool) {
	switch {
	case now-d.begun >= ticks(e.cfg.Timeout):
		e.endDial(transport.Timeout, noAnswer)
	case d.more && d.hello.cookie == cookie{} && now-d.tried >= d.stay && e.conn != nil:
		d.more = false
		_ = e.conn.SetReadDeadline(time.Unix(1, 0)) // dialAddrs then tries the next address
	case now-d.greeted >= helloEvery:
		return true
	}
	return false
}

func (e *Endpoint) tendPeer(p *peer, now uint32) {
	silent, alive := now-p.heard, ticks(e.cfg.KeepAlive)
	switch {
	case silent >= ticks(e.cfg.Timeout):
		l := e.letter(p.addr)
		l.n = len(appendEnd(l.b[:0], typeClose, p.conn, transport.Timeout, ""))
		e.connectionLost(p, transport.Timeout, "nothing heard")
	case p.confirmed(now):
		e.connectionLost(p, p.rumour.code, p.rumour.reason)
	case e.dial != nil && silent >= deadAfter && p.refused > p.heard:
		e.connectionLost(p, transport.Unreachable, "connection refused")
	case silent >= 2*alive && now-p.asked >= askEvery: // keep-alives were lost: ask now
		p.sent, p.asked = now, now
		l := e.letter(p.addr)
		l.n = len(appendPair(l.b[:0], typeAlive, p.conn, ask))
	case now-p.sent >= alive:
		p.sent = now
		l := e.letter(p.addr)
		l.n = len(appendPair(l.b[:0], typeAlive, p.conn, 0))
	}
}

// connectionLost ends a connection for which the peer gave no reason.
func (e *Endpoint) connectionLost(p *peer, c transport.Code, reason string) {
	if e.dial != nil {
		e.endDial(c, reason)
		return
	}
	e.endPeer(p, c, reason)
}

// letter returns an empty letter, which is sent after the lock is released.
func (e *Endpoint) letter(to route) *letter {
	e.post = append(e.post, letter{to: to})
	return &e.post[len(e.post)-1]
}
