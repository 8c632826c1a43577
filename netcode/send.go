package netcode

import "time"

// Begin starts the next packet. There is one builder per Conn: a packet that was
// begun and not finished is discarded.
func (c *Conn) Begin(now time.Duration) *Packet {
	c.start(now)
	c.expire(now)
	c.rate.refill(now)
	c.out.age(now, c.resendAfter())
	p := &c.packet
	p.now, p.open, p.buf = now, true, p.buf[:0]
	if !c.cfg.Secure {
		p.buf = append(p.buf, 0, 0, 0, 0)
	}
	h := c.header(now)
	p.buf = h.append(p.buf)
	p.limit = min(c.cfg.MTU, len(p.buf)+c.rate.allowance())
	p.reserve = 0
	if owed := c.out.owed(maxEntryHead + maxFragment); owed > 0 {
		p.reserve = min(messageSize(2+owed), max(0, p.limit-len(p.buf)))
	}
	c.closing.write(p)
	return p
}

func (c *Conn) header(now time.Duration) header {
	h := header{seq: c.next, hasAck: c.window.has(c.window.line), ack: c.window.line, delay: unknownDelay}
	if h.hasAck {
		h.ackBits = c.window.ackBits()
		if c.lineKnown {
			h.delay = encodeDelay(now - c.lineAt)
		}
	}
	return h
}

// resendAfter is how long a stream entry waits for its ack: a round trip, what
// it varies by, and twice what the peer holds an ack back for.
func (c *Conn) resendAfter() time.Duration {
	if c.rtt.samples == 0 {
		return 250 * time.Millisecond
	}
	return c.rtt.smoothed + max(4*c.rtt.deviation, 10*time.Millisecond) + 2*c.ackDelay
}

func (c *Conn) finish(p *Packet) (Seq, []byte) {
	seq := c.next
	c.next++
	s := c.sent.Insert(seq)
	entries := s.entries[:0]
	if room := messageRoom(p.limit - len(p.buf)); room > 2 {
		var body []byte
		body, entries = c.out.write(c.scratch[:0], room, p.now, entries, &c.stats)
		if len(body) > 0 {
			p.put(messageStream, body)
		}
	}
	*s = sentPacket{at: p.now, size: len(p.buf), entries: entries}
	if !c.cfg.Secure {
		le.PutUint32(p.buf, checksum(c.seed, p.buf[4:]))
	}
	c.rate.spend(len(p.buf))
	c.stats.Sent++
	c.stats.SentBytes += uint64(len(p.buf))
	return seq, p.buf
}

// expire decides the packets that will not be acknowledged any more: too many
// newer ones are open, or an age went by that no round trip explains.
func (c *Conn) expire(now time.Duration) {
	patience := max(time.Second, 3*c.rtt.smoothed)
	for c.oldest != c.next {
		s := c.sent.Find(c.oldest)
		if !s.told {
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
	c.stats.Lost++
	c.rate.lost()
	c.tell(Fate{Seq: seq})
}

// suspect makes the entries of a packet that is probably lost due again.
func (c *Conn) suspect(s *sentPacket) {
	if s.suspect {
		return
	}
	s.suspect = true
	for _, id := range s.entries {
		c.out.lost(id, s.at)
	}
}

func (c *Conn) tell(f Fate) {
	if c.fates.push(f) {
		c.stats.FatesDropped++
	}
}
