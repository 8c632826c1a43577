package netcode

import "time"

// Begin starts the next packet. A Conn has one packet at a time: one that was
// begun and not finished is discarded.
func (c *Conn) Begin(now time.Duration) *Packet {
	c.startAt(now)
	c.expire(now)
	c.rate.refill(now)
	rto := c.resendAfter()
	for i := range c.channels {
		c.channels[i].ageEntries(now, rto, &c.stats)
	}
	p := &c.packet
	if p.buf == nil { // allocated late, because a peer that is sent nothing needs none
		p.buf = make([]byte, 0, c.cfg.MTU+maxHeader)
	}
	p.now, p.open, p.buf = now, true, p.buf[:0]
	if !c.cfg.Secure {
		p.buf = append(p.buf, 0, 0, 0, 0)
	}
	h := c.header(now)
	p.buf = h.append(p.buf)
	p.limit = min(c.cfg.MTU, len(p.buf)+max(c.rate.allowance(), alwaysRoom))
	p.reserve = 0
	if owed := c.owed(); owed > 0 {
		room := p.limit - len(p.buf)
		p.reserve = min(messageSize(owed), room*3/4, room-alwaysRoom)
		if due := min(messageSize(owed), c.cfg.MTU-p.limit); due > p.reserve && due <= c.rate.lent() {
			p.limit += due - p.reserve
			p.reserve = due
		}
	}
	c.closing.writeClose(p)
	return p
}

// alwaysRoom is the room for messages in every packet, however little the rate
// leaves: a player's newest commands must go.
const alwaysRoom = 66

func (c *Conn) header(now time.Duration) header {
	h := header{seq: c.next, hasAck: c.window.received(c.window.line), ack: c.window.line, delay: unknownDelay}
	if h.hasAck {
		h.ackBits = c.window.ackBits()
		if c.lineKnown {
			h.delay = encodeDelay(now - c.lineAt)
		}
	}
	return h
}

// resendAfter returns how long a stream entry waits for its ack: the usual time
// of acks, plus their variation.
func (c *Conn) resendAfter() time.Duration {
	if c.ackTime.samples == 0 {
		return 250 * time.Millisecond
	}
	return c.ackTime.smoothed + max(3*c.ackTime.deviation, 10*time.Millisecond)
}

// owed returns the size of the body that the channels want: all due data, or
// one entry if that is less. A channel number fits in the head of an entry,
// which never uses all of maxEntryHead.
func (c *Conn) owed() (n int) {
	for i := range c.channels {
		n += c.channels[i].owed(maxEntryHead + maxFragment)
	}
	if n == 0 {
		return 0
	}
	return 2 + min(n, maxEntryHead+maxFragment)
}

// streamRoom returns how much of the packet the channels may use. They get what
// was reserved, or more if that still leaves the caller half a packet of the
// rate. So a large transfer never holds up commands and snapshots.
func (c *Conn) streamRoom(p *Packet) int {
	spare := c.rate.allowance() - len(p.buf) - c.cfg.MTU/2
	return min(p.limit-len(p.buf), max(p.reserve, spare))
}

func (c *Conn) finishPacket(p *Packet) (Seq, []byte) {
	seq := c.next
	c.next++
	c.sentAt = p.now
	if c.next-c.kept > sentPackets {
		c.forgetOldest()
	}
	s := c.sent.Insert(seq)
	entries := s.entries[:0]
	before := len(p.buf)
	entries = c.carry(p, entries)
	c.rate.carried(len(p.buf) - before)
	*s = sentPacket{at: p.now, size: len(p.buf), entries: entries}
	if !c.cfg.Secure {
		le.PutUint32(p.buf, checksum(c.seed, p.buf[4:]))
	}
	c.rate.spend(len(p.buf))
	c.stats.Sent++
	c.stats.SentBytes += uint64(len(p.buf))
	return seq, p.buf
}

// carry writes due channel data into the room left, channel by channel, and
// records it in entries.
func (c *Conn) carry(p *Packet, entries []entryRef) []entryRef {
	if !owing(c.channels) {
		return entries
	}
	if c.scratch == nil {
		c.scratch = make([]byte, 0, c.cfg.MTU+minTurn)
	}
	end := len(p.buf) + c.streamRoom(p)
	s := newShare(c.channels, end-len(p.buf))
	for s.count > 0 {
		i, turn := s.nextChannel()
		var t MessageType
		var body []byte
		before := len(p.buf)
		t, body, entries = c.channels[i].writeBody(c.scratch[:0], min(turn, messageRoom(end-before)), p.now, entries, &c.stats)
		if len(body) == 0 {
			break // otherwise the other channels would keep using up the room that this one waits for
		}
		p.putMessage(t, body)
		s.took(i, len(p.buf)-before)
	}
	s.settleCredit()
	return entries
}

// expire declares packets lost when too many newer ones are open, or when they
// are older than any round trip explains. The path may become longer than that:
// then an ack comes late, and the limit grows with it.
func (c *Conn) expire(now time.Duration) {
	patience := max(time.Second, 3*c.ackTime.smoothed)
	if c.ackTime.samples == 0 {
		patience = max(patience, c.cfg.Timeout) // no round trip is known yet
	}
	for c.oldest != c.next {
		if s := c.sent.Find(c.oldest); s != nil && !s.told {
			if c.next-c.oldest < sentPackets && now-s.at < patience {
				break
			}
			c.lose(c.oldest, s)
		}
		c.oldest++
	}
}

func (c *Conn) lose(seq Seq, s *sentPacket) {
	s.told = true
	c.suspect(s)
	for _, e := range s.entries {
		if c.channels[e.channel].reliable {
			c.stats.FragmentsLost++
		} else {
			c.stats.EventsLost++
		}
	}
	c.stats.Lost++
	c.rate.packetLost()
	c.queueFate(Fate{Seq: seq})
}
