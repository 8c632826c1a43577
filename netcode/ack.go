package netcode

import "time"

// ackable reports whether a packet with that number may have been sent. An old number is fine and has no
// effect, because a packet that was delayed on a slow path may carry it.
func (c *Conn) ackable(ack Seq) bool {
	behind := c.next - 1 - ack
	return behind <= ^Seq(0)>>1 && uint64(behind) < c.stats.Sent
}

// acknowledge reports the fates that an ack decides. Numbers that are not held,
// because they are too old or were never sent, are ignored.
func (c *Conn) acknowledge(now time.Duration, h *header) {
	if Newer(h.ack, c.acked) {
		c.acked = h.ack
	}
	if s := c.sent.Find(h.ack); s != nil {
		if delay, ok := decodeDelay(h.delay); ok {
			c.rtt.addRTT(now-s.at, delay)
			c.rate.roundTrip(now, s.at, c.rtt.latest)
		}
		c.deliver(now, h.ack, s)
	}
	// A packet is suspected lost when three newer ones arrived (the threshold
	// of RFC 9002) and it is overdue. On a path that reorders much, newer
	// packets alone say little.
	overdue := c.ackTime.smoothed + c.ackTime.deviation
	for i := range Seq(AckReach) {
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
	// Neither this ack nor a later one can name a packet more than 32 numbers
	// back.
	for Distance(h.ack, c.kept) > AckReach {
		c.forgetOldest()
	}
}

// deliver records that the peer has a packet. If the packet was already reported lost, because the round trip
// is longer than known, its fate does not change; everything else is done as usual.
func (c *Conn) deliver(now time.Duration, seq Seq, s *sentPacket) {
	c.ackTime.addRTT(now-s.at, 0)
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
	c.queueFate(Fate{Seq: seq, Delivered: true})
}

// suspect makes the entries of a probably lost packet due again, except those
// that a later packet carries.
func (c *Conn) suspect(s *sentPacket) {
	for _, e := range s.entries {
		c.channels[e.channel].packetLost(e.id, s.at)
	}
}

// forgetOldest drops the oldest packet kept: no later ack can name it.
func (c *Conn) forgetOldest() {
	if s := c.sent.Find(c.kept); s != nil {
		if !s.told {
			c.lose(c.kept, s)
		}
		c.sent.Remove(c.kept)
	}
	c.kept++
	if Newer(c.kept, c.oldest) {
		c.oldest = c.kept
	}
}

// queueFate queues a fate for NextFate.
func (c *Conn) queueFate(f Fate) {
	if c.fates.pushFate(f) {
		c.stats.FatesDropped++
	}
}

// The ack delay is one byte: half milliseconds below 64 ms, then steps of 8 ms.
// 255 means longer than the byte can say, and gives no round-trip sample.
const unknownDelay = 255

func encodeDelay(d time.Duration) uint8 {
	switch {
	case d < 0:
		return 0
	case d < 64*time.Millisecond:
		return uint8(d / (500 * time.Microsecond))
	}
	return uint8(min(unknownDelay, 128+(d-64*time.Millisecond)/(8*time.Millisecond)))
}

func decodeDelay(v uint8) (time.Duration, bool) {
	switch {
	case v == unknownDelay:
		return 0, false
	case v < 128:
		return time.Duration(v) * 500 * time.Microsecond, true
	}
	return 64*time.Millisecond + time.Duration(v-128)*8*time.Millisecond, true
}
