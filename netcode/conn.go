package netcode

import "time"

// Conn is one side of a connection to one peer. It is not safe for concurrent
// use. Every now is a reading of the caller's monotonic clock, from any origin.
type Conn struct {
	cfg  Config
	seed uint32

	window    receiveWindow
	lineAt    time.Duration // when the newest acknowledged packet came
	lineKnown bool
	messages  []byte // of the datagram just received, not yet handed out
	from      Seq
	before    beforePacket // what Refuse restores

	sent   *SequenceBuffer[sentPacket]
	next   Seq // number of the next packet
	oldest Seq // fates before it are told
	kept   Seq // packets before it are forgotten
	fates  fateQueue

	packet  Packet
	scratch []byte // made with the first packet that carries a channel

	rtt     rttEstimator
	ackTime rttEstimator // from sending to knowing, by whatever ack: what a resend waits for
	rate    rateControl
	closing closing

	channels []channel
	events   eventCursor

	heard   time.Duration // when an authentic packet came last
	news    time.Duration // when an ack last named a packet for the first time
	started bool
	stats   Stats
}

// sentPacket is what must be known of a packet until it is acknowledged. One that
// was told lost is kept as long as an ack may still name it.
type sentPacket struct {
	at      time.Duration
	size    int
	told    bool       // its fate is
	entries []entryRef // of the channels
}

// sentPackets bounds the packets kept: 8 s at 128 packets/s.
const sentPackets = 1024

// NewConn makes a Conn. It panics with a *ConfigError when cfg does not validate.
func NewConn(cfg Config) *Conn {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.defaults()
	c := &Conn{
		cfg:    cfg,
		seed:   checksumSeed(cfg.Magic),
		window: newReceiveWindow(),
		sent:   NewSequenceBuffer[sentPacket](sentPackets),

		channels: newChannels(cfg.Channels, 0),
	}
	c.packet = Packet{c: c}
	c.rate = newRateControl(cfg)
	return c
}

// Admit ends what [Config.Newcomer] began: from now on the peer may send all that
// the channels take.
func (c *Conn) Admit() { c.cfg.Newcomer = false }

func (c *Conn) start(now time.Duration) {
	if !c.started {
		c.started, c.heard, c.news = true, now, now
	}
}

// NextFate gives the fates decided since, in the order of decision. Drain it
// after Receive and after Begin; what is not fetched within 1024 packets is
// dropped and counted.
func (c *Conn) NextFate() (Fate, bool) { return c.fates.pop() }

// NextMessage gives the caller's messages of the datagram just received, in the
// order written.
func (c *Conn) NextMessage() (Message, bool) {
	for len(c.messages) > 0 {
		t, body, rest, ok := readMessage(c.messages)
		if !ok {
			c.messages = nil // the caller changed the datagram under us
			break
		}
		c.messages = rest
		if t >= firstCaller {
			return Message{Type: t, Body: body, Seq: c.from}, true
		}
	}
	return Message{}, false
}

// SendReliable queues a message on channel 0, that reaches the peer's NextReliable exactly
// once, in order, however long it takes. payload is copied; tick and kind
// travel with it. Errors: ErrTooBig, ErrStreamFull.
func (c *Conn) SendReliable(tick Tick, kind uint8, payload []byte) error {
	return c.SendOn(0, tick, kind, payload)
}

// SendOn queues a message on a channel of [Config.Channels]; 0 is SendReliable's.
// payload is copied; tick and kind travel with it. On a reliable channel it
// reaches the peer's NextReliable exactly once, in that channel's order. On
// another it is an event: it goes with the next packets that have room, reaches
// the peer's NextEvent at most once, and makes the oldest one waiting go when 64
// wait. Errors: ErrNoChannel, ErrTooBig and ErrStreamFull, ErrEventTooBig.
func (c *Conn) SendOn(channel uint8, tick Tick, kind uint8, payload []byte) error {
	if int(channel) >= len(c.channels) {
		return ErrNoChannel
	}
	ch := &c.channels[channel]
	if ch.reliable {
		err := ch.out.push(tick, kind, payload)
		if err == nil {
			c.stats.ReliableSent++
		}
		return err
	}
	err := ch.sent.push(tick, kind, payload, &c.stats)
	if err == nil {
		c.stats.EventsSent++
	}
	return err
}

// NextReliable gives the next reliable message that is complete, in the order of
// its channel, which it names; channels of lower number first. Drain it after
// every Receive.
func (c *Conn) NextReliable() (Reliable, bool) {
	for i := range c.channels {
		if r, ok := c.NextReliableOn(uint8(i)); ok {
			return r, true
		}
	}
	return Reliable{}, false
}

// NextReliableOn is NextReliable of one channel alone. What is left in a channel
// waits there and holds the peer back: of at most 256 pieces, each 256 bytes of a
// message, that are sent ahead. Packets with later ones are refused with ErrBacklog,
// and not acknowledged. false for a channel that is not reliable or not there.
func (c *Conn) NextReliableOn(channel uint8) (Reliable, bool) {
	if int(channel) >= len(c.channels) || !c.channels[channel].reliable {
		return Reliable{}, false
	}
	r, ok := c.channels[channel].in.pop()
	if ok {
		r.Channel = channel
		c.stats.ReliableReceived++
	}
	return r, ok
}

// Pending is the number of reliable messages sent, on whatever channel, and not
// yet known to be delivered with all before them.
func (c *Conn) Pending() (n int) {
	for i := range c.channels {
		n += c.channels[i].out.messages
	}
	return n
}

// PendingOn is Pending of one channel; 0 for one that is not reliable or not
// there.
func (c *Conn) PendingOn(channel uint8) int {
	if int(channel) >= len(c.channels) {
		return 0
	}
	return c.channels[channel].out.messages
}

// SetRate sets the ceiling of what is sent, in bytes a second of datagrams, as
// [Config.Rate] did at first; 0 or less means Config.Rate again. A lower ceiling
// holds at once. A higher one does where congestion has not lowered the rate;
// otherwise the rate rises to it as the path allows. What a peer asks for is a
// wish: bound it by what the server can afford.
func (c *Conn) SetRate(bytesPerSecond int) {
	if bytesPerSecond <= 0 {
		bytesPerSecond = c.cfg.Rate
	}
	c.rate.setCeiling(float64(bytesPerSecond), float64(min(c.cfg.MinRate, bytesPerSecond)))
}

// RTT is the smoothed round-trip time, without the time the peer held acks back.
// 0 before the first sample.
func (c *Conn) RTT() time.Duration { return c.rtt.smoothed }

// Jitter is the smoothed mean deviation of the round-trip time.
func (c *Conn) Jitter() time.Duration { return c.rtt.deviation }

// Silent is how long ago the last authentic packet came, or the Conn was first
// used when none has.
func (c *Conn) Silent(now time.Duration) time.Duration {
	c.start(now)
	return now - c.heard
}

// Unanswered is how long ago the peer last acknowledged a packet that it had not
// acknowledged before, or the Conn was first used when it never has. An ack
// counts though it comes after the packet was told lost.
func (c *Conn) Unanswered(now time.Duration) time.Duration {
	c.start(now)
	return now - c.news
}

// Timeout is the configured bound for Silent.
func (c *Conn) Timeout() time.Duration { return c.cfg.Timeout }

// Stats returns the counters and current estimates.
func (c *Conn) Stats() Stats {
	s := c.stats
	s.Loss, s.Bandwidth, s.Rate = c.rate.loss, int(c.rate.delivered), int(c.rate.rate)
	s.Congested = c.rate.congested
	s.RTT, s.Jitter = c.rtt.smoothed, c.rtt.deviation
	return s
}

// Queued is how much waits in the reliable channels for its delivery, in bytes,
// where every message, or 256 bytes of a longer one, counts as 256: what
// [Channel.Queue] bounds, for all channels together.
func (c *Conn) Queued() (n int) {
	for i := range c.channels {
		n += c.channels[i].out.kept() * maxFragment
	}
	return n
}

// Withheld is how long ago the oldest part of a reliable message that is not
// acknowledged was first sent; 0 when none is out. It goes out again and again,
// so a peer that acknowledges everything else withholds this one on purpose.
func (c *Conn) Withheld(now time.Duration) (longest time.Duration) {
	for i := range c.channels {
		out := &c.channels[i].out
		if out.queued() > 0 && out.at(out.head).sends > 0 {
			longest = max(longest, now-out.at(out.head).firstAt)
		}
	}
	return longest
}

// QueuedSize is what a reliable message of so many bytes counts in [Conn.Queued].
func QueuedSize(payload int) int {
	return max(1, (payload+maxFragment-1)/maxFragment) * maxFragment
}
