package netcode

import (
	"errors"
	"time"
)

// Receive processes one datagram. It checks the whole datagram before it
// changes anything, so a packet is either accepted and acknowledged whole, or
// refused whole. Errors: ErrMalformed (ErrChecksum is one), ErrDuplicate,
// ErrStale, ErrGap, ErrBacklog; each is counted. Then call NextMessage and NextEvent,
// which read b itself, and NextReliable. A caller that cannot use a message
// calls Refuse to withdraw the acknowledgement.
func (c *Conn) Receive(now time.Duration, b []byte) error {
	c.startAt(now)
	c.messages, c.events, c.before = nil, eventCursor{}, beforePacket{}
	h, messages, err := c.accept(b)
	if err == ErrStale {
		var lapsed bool
		lapsed, err = c.window.cross(h.seq)
		c.lapsed = c.lapsed || lapsed
		if err == nil {
			c.forgetEvents()
		}
	}
	if err != nil {
		c.countRefused(err)
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
	c.window.markReceived(h.seq)
	if c.lossIn != nil {
		c.lossIn.Received(h.seq, c.window.line)
	}
	if c.window.line == h.seq {
		c.lineAt, c.lineKnown = now, true
	} else if c.window.line != line {
		c.lineKnown = false
	}
	if h.hasAck {
		c.acknowledge(now, &h)
	}
	c.takeMessages(messages)
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
	there := c.window.checkSeq(h.seq)
	if there != nil && there != ErrStale {
		return h, nil, there
	}
	if h.hasAck && !c.ackable(h.ack) {
		return h, nil, errAck
	}
	if err := c.checkMessages(messages); err != nil {
		return h, nil, err
	}
	return h, messages, there
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

// checkOwn checks one of the protocol's internal messages.
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
	return in.checkBody(body, c.cfg.Newcomer)
}

func (c *Conn) takeMessages(b []byte) {
	for len(b) > 0 {
		t, body, rest, _ := readMessage(b)
		switch t {
		case messageStream:
			c.channels[0].in.takeBody(body)
		case messageChannel:
			c.channels[body[0]].in.takeBody(body[1:])
		case messageClose:
			c.closing.takeClose(body)
		}
		b = rest
	}
}

func (c *Conn) countRefused(err error) {
	switch {
	case err == ErrDuplicate:
		c.stats.Duplicate++
	case err == ErrStale, err == ErrGap:
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
