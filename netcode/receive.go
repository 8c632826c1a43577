package netcode

import (
	"errors"
	"time"
)

// Receive takes one datagram. It checks all of it before it changes anything, so
// that a packet is either taken whole and acknowledged, or refused whole and
// not. Errors: ErrMalformed (of which ErrChecksum), ErrDuplicate, ErrStale,
// ErrBacklog; each is counted. The messages are then at NextMessage, which reads
// b itself, NextEvent likewise, and NextReliable. A caller that cannot use one of
// them takes the acknowledgement back with Refuse.
func (c *Conn) Receive(now time.Duration, b []byte) error {
	c.start(now)
	c.messages, c.events, c.before = nil, eventCursor{}, beforePacket{}
	h, messages, err := c.accept(b)
	if err != nil {
		c.count(err)
		return err
	}
	c.heard = max(c.heard, now)
	c.stats.Received++
	c.stats.ReceivedBytes += uint64(len(b))
	if Newer(c.window.line, h.seq) {
		c.stats.OutOfOrder++
	}
	line := c.window.line
	c.before = beforePacket{true, line, c.window.far, c.window.hunt, c.lineAt, c.lineKnown}
	c.window.mark(h.seq)
	if c.window.line == h.seq {
		c.lineAt, c.lineKnown = now, true
	} else if c.window.line != line {
		c.lineKnown = false
	}
	if h.hasAck {
		c.acknowledge(now, &h)
	}
	c.take(messages)
	c.messages, c.from = messages, h.seq
	c.events.messages = messages
	return nil
}

// accept checks a datagram and changes nothing.
func (c *Conn) accept(b []byte) (h header, messages []byte, err error) {
	if !c.cfg.Secure {
		if len(b) < 4 {
			return h, nil, errHeader
		}
		if le.Uint32(b) != checksum(c.seed, b[4:]) {
			return h, nil, ErrChecksum
		}
		b = b[4:]
	}
	h, messages, ok := parseHeader(b)
	if !ok {
		return h, nil, errHeader
	}
	if err := c.window.check(h.seq); err != nil {
		return h, nil, err
	}
	if h.hasAck && !c.ackable(h.ack) {
		return h, nil, errAck
	}
	return h, messages, c.checkMessages(messages)
}

// ackable reports whether a packet of that number may have been sent. An ack from
// long ago is one: a packet that a slow path delayed carries it, and nobody is to
// blame. It decides nothing any more.
func (c *Conn) ackable(ack Seq) bool {
	behind := c.next - 1 - ack
	return behind <= ^Seq(0)>>1 && uint64(behind) < c.stats.Sent
}

func (c *Conn) checkMessages(b []byte) error {
	for len(b) > 0 {
		t, body, rest, ok := readMessage(b)
		if !ok {
			return errMessage
		}
		if t < firstCaller {
			if err := c.checkOwn(t, body); err != nil {
				return err
			}
		}
		b = rest
	}
	return nil
}

// checkOwn checks a message of the protocol's own.
func (c *Conn) checkOwn(t MessageType, body []byte) error {
	switch t {
	case messageStream:
		return c.checkStream(0, body)
	case messageChannel:
		if len(body) < 1 || body[0] == 0 {
			return errChannel
		}
		return c.checkStream(body[0], body[1:])
	case messageEvents:
		if len(body) < 1 || !c.hasEvents(body[0]) {
			return errChannel
		}
		if !validEvents(body) {
			return errEvents
		}
		if c.cfg.Newcomer {
			return ErrBacklog
		}
		return nil
	case messageClose:
		if !validClose(body) {
			return errClose
		}
		return nil
	}
	return errType
}

func (c *Conn) checkStream(channel uint8, body []byte) error {
	if int(channel) >= len(c.channels) || !c.channels[channel].reliable {
		return errChannel
	}
	in := &c.channels[channel].in
	if in.broken {
		return errBroken
	}
	return in.check(body, c.cfg.Newcomer)
}

func (c *Conn) take(b []byte) {
	for len(b) > 0 {
		t, body, rest, _ := readMessage(b)
		switch t {
		case messageStream:
			c.channels[0].in.take(body)
		case messageChannel:
			c.channels[body[0]].in.take(body[1:])
		case messageClose:
			c.closing.take(body)
		}
		b = rest
	}
}

func (c *Conn) count(err error) {
	switch {
	case err == ErrDuplicate:
		c.stats.Duplicate++
	case err == ErrStale:
		c.stats.Stale++
	case err == ErrBacklog:
		c.stats.Backlog++
	case err == ErrChecksum:
		c.stats.Checksum++
	case errors.Is(err, ErrMalformed):
		c.stats.Malformed++
		if err == errAck {
			c.stats.FalseAcks++
		}
	}
}

// acknowledge tells the fates that an ack decides. Numbers that are not held,
// because they are too old or were never sent, mean nothing.
func (c *Conn) acknowledge(now time.Duration, h *header) {
	if s := c.sent.Find(h.ack); s != nil {
		if delay, ok := decodeDelay(h.delay); ok {
			c.rtt.sample(now-s.at, delay)
			c.rate.roundTrip(now, s.at, c.rtt.latest)
		}
		c.deliver(now, h.ack, s)
	}
	// A packet is suspected when three newer ones came (RFC 9002's threshold), and
	// it is overdue: on a path that reorders much, newer ones say little.
	overdue := c.ackTime.smoothed + c.ackTime.deviation
	for i := range Seq(ackReach) {
		seq := h.ack - 1 - i
		s := c.sent.Find(seq)
		if s == nil {
			continue
		}
		if h.ackBits&(1<<i) != 0 {
			c.deliver(now, seq, s)
		} else if !s.told && i >= 2 && now-s.at >= overdue {
			c.suspect(s)
		}
	}
	// Those before the 32 cannot be named by this ack or a later one.
	for Distance(h.ack, c.kept) > ackReach {
		c.forget()
	}
}

// deliver notes that the peer has a packet. Where that was told lost, because the
// round trip is longer than was known, its fate stands; the rest is as good.
func (c *Conn) deliver(now time.Duration, seq Seq, s *sentPacket) {
	c.ackTime.sample(now-s.at, 0)
	c.rate.acked(s.size)
	for _, e := range s.entries {
		c.channels[e.channel].delivered(e.id, &c.stats)
	}
	c.news = now
	c.sent.Remove(seq)
	if s.told {
		c.stats.AckedLate++
		c.rate.found()
		return
	}
	s.told = true
	c.stats.Delivered++
	c.tell(Fate{Seq: seq, Delivered: true})
}
