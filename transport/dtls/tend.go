package dtls

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/pulse"
)

// tend is the endpoint's timer: it sends hellos and keep-alives, checks timeouts, and repeats farewells.
func (e *Endpoint) tend() {
	var due []letter
	pulse.Run(e.done, tickTime/2, tickTime, func(passed uint32) {
		e.repeatFlights()
		if passed == 0 {
			return
		}
		due = e.tendOnce(e.clock.Add(passed), due[:0])
		for _, l := range due {
			if l.kind == msgEnd {
				e.farewell(l.to)
			} else {
				_ = e.protect(l.to, l.kind, l.body)
			}
		}
		clear(due)
	})
}

// repeatFlights makes handshakes repeat the flight that waits for a reply. A server repeats its last
// flight until it hears from the client.
func (e *Endpoint) repeatFlights() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.unreleased {
		p.shim.repeat()
	}
}

// letter is a message to send after the lock is released.
type letter struct {
	to   *peer
	kind byte
	body []byte
}

var (
	alive = []byte{0}
	asks  = []byte{ask}
)

func (e *Endpoint) tendOnce(now uint32, due []letter) []letter {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return due
	}
	for _, p := range e.links {
		switch p.state {
		case open:
			due = e.tendPeer(p, now, due)
		case leaving:
			due = e.tendLeaving(p, now, due)
		case over:
		default:
			if int32(now-p.until) >= 0 {
				e.late(p)
			} else if p.state == greeting && e.dial != nil && now != p.sent {
				p.sent = now
				due = append(due, letter{p, msgHello, e.cfg.Token})
			}
		}
	}
	return due
}

// late drops a peer that did not get to open in time.
func (e *Endpoint) late(p *peer) {
	const reason = "the handshake was not finished"
	e.counters.Failed++
	e.reportEnd(p, transport.Timeout, reason)
	e.cut(p, transport.Timeout, reason)
}

func (e *Endpoint) tendPeer(p *peer, now uint32, due []letter) []letter {
	silent, every := now-p.heard, ticks(e.cfg.KeepAlive)
	switch {
	case silent >= ticks(e.cfg.Timeout):
		e.reportEnd(p, transport.Timeout, "nothing heard")
		e.dropPeer(p, transport.Timeout, "")
		return append(due, letter{p, msgEnd, nil})
	case silent >= 2*every && now-p.asked >= askEvery: // keep-alives were lost: ask now
		p.sent, p.asked = now, now
		return append(due, letter{p, msgAlive, asks})
	case now-p.sent >= every:
		p.sent = now
		return append(due, letter{p, msgAlive, alive})
	}
	return due
}

func (e *Endpoint) tendLeaving(p *peer, now uint32, due []letter) []letter {
	for i, at := range p.again {
		if at != 0 && now >= at {
			p.again[i] = 0
			due = append(due, letter{p, msgEnd, nil})
		}
	}
	if p.again == [2]uint32{} && (len(due) == 0 || due[len(due)-1].to != p) {
		e.cut(p, p.code, p.reason)
	}
	return due
}
