package netcode

import (
	"time"

	"github.com/foretick/foretick/internal/loss"
	"github.com/foretick/foretick/internal/misuse"
)

// Conn is one side of a connection to one peer. It is not safe for concurrent
// use. Every now argument is a reading of the caller's monotonic clock, from
// any origin.
type Conn struct {
	cfg  Config
	seed uint32

	window    receiveWindow
	lossIn    *loss.Window  // lossIn is nil until LossIn is called: a server has many connections, and asks none.
	lineAt    time.Duration // lineAt is the arrival of the newest acknowledged packet.
	lineKnown bool
	// messages has the messages of the newest datagram that NextMessage has not returned yet.
	messages []byte
	from     Seq
	before   beforePacket // before is what Refuse restores.

	sent   *SequenceBuffer[sentPacket]
	next   Seq           // next is the number of the next packet.
	oldest Seq           // oldest is the number before which all fates are decided.
	kept   Seq           // kept is the number before which all packets are forgotten.
	acked  Seq           // acked is the newest packet that the peer said it has.
	sentAt time.Duration // sentAt is when the newest packet was sent.
	// lapsed is true if a received packet showed that the connection lapsed: see Lapsed.
	lapsed bool
	fates  fateQueue

	packet  Packet
	scratch []byte // scratch is allocated with the first packet that carries a channel.

	rtt rttEstimator
	// ackTime estimates the time from sending a packet to any ack of it. A resend waits for about that time.
	ackTime rttEstimator
	rate    rateControl
	closing closing

	channels []channel
	events   eventCursor

	heard   time.Duration // heard is the arrival of the last authentic packet.
	news    time.Duration // news is when an ack last named a packet for the first time.
	started bool
	stats   Stats
}

// sentPacket holds what the Conn needs of a packet until it is acknowledged. A
// packet whose fate is "lost" is kept as long as an ack may still name it.
type sentPacket struct {
	at      time.Duration
	size    int
	told    bool       // told is true once the packet's fate is decided.
	entries []entryRef // entries are the channel data that the packet carried.
}

// sentPackets is the most packets kept: 8 s at 128 packets/s.
const sentPackets = 1024

// NewConn returns a Conn. It panics when cfg does not validate, with a
// foretick.UsageError that unwraps to a *ConfigError.
func NewConn(cfg Config) *Conn {
	if err := cfg.Validate(); err != nil {
		misuse.Panic(err)
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
	c.acked-- // the number before the first
	c.rate = newRateControl(cfg)
	return c
}

// Admit ends the limits of [Config.Newcomer]: from now on the peer may send all
// that the channels accept.
func (c *Conn) Admit() { c.cfg.Newcomer = false }

func (c *Conn) startAt(now time.Duration) {
	if !c.started {
		c.started, c.heard, c.news = true, now, now
	}
}

// NextFate returns the fates decided since the last call, in the order of
// decision. Drain it after Receive and after Begin. Fates that wait for more
// than 1024 packets are dropped and counted.
func (c *Conn) NextFate() (Fate, bool) { return c.fates.pop() }

// NextMessage returns the caller's messages of the datagram just received, in
// the order written.
func (c *Conn) NextMessage() (Message, bool) {
	for len(c.messages) > 0 {
		t, body, rest, ok := readMessage(c.messages)
		if !ok {
			c.messages = nil // the caller changed the datagram after Receive
			break
		}
		c.messages = rest
		if t >= firstCaller {
			return Message{Type: t, Body: body, Seq: c.from}, true
		}
	}
	return Message{}, false
}

// SendReliable queues a message on channel 0. It reaches the peer's
// NextReliable exactly once, in order, however long that takes. SendReliable
// copies payload; tick and kind travel with it. Errors: ErrTooBig,
// ErrStreamFull.
func (c *Conn) SendReliable(tick Tick, kind uint8, payload []byte) error {
	return c.SendOn(0, tick, kind, payload)
}

// SendOn queues a message on a channel of [Config.Channels]; SendReliable uses
// channel 0. It copies payload; tick and kind travel with it. On a reliable
// channel the message reaches the peer's NextReliable exactly once, in the
// order of that channel. On an unreliable channel it is an event: it goes with
// the next packets that have room and reaches the peer's NextEvent at most
// once. When 64 events wait, a new one drops the oldest. Errors: ErrNoChannel;
// ErrTooBig and ErrStreamFull; ErrEventTooBig.
func (c *Conn) SendOn(channel uint8, tick Tick, kind uint8, payload []byte) error {
	if int(channel) >= len(c.channels) {
		return ErrNoChannel
	}
	ch := &c.channels[channel]
	if ch.reliable {
		err := ch.out.pushMessage(tick, kind, payload)
		if err == nil {
			c.stats.ReliableSent++
		}
		return err
	}
	err := ch.sent.pushEvent(tick, kind, payload, &c.stats)
	if err == nil {
		c.stats.EventsSent++
	}
	return err
}

// NextReliable returns the next complete reliable message, in the order of its
// channel, which it names. Channels of lower number come first. Drain it after
// every Receive.
func (c *Conn) NextReliable() (Reliable, bool) {
	for i := range c.channels {
		if r, ok := c.NextReliableOn(uint8(i)); ok {
			return r, true
		}
	}
	return Reliable{}, false
}

// NextReliableOn is NextReliable for one channel. Undrained messages stay in
// the channel and hold the peer back: it may send at most 256 pieces ahead,
// each 256 bytes of a message. Packets with later pieces are refused with
// ErrBacklog and not acknowledged. It returns false for an unreliable or
// unknown channel.
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

// Pending returns the number of reliable messages, on all channels, that wait
// for their delivery. A message counts until it and all before it on its
// channel are acknowledged.
func (c *Conn) Pending() (n int) {
	for i := range c.channels {
		n += c.channels[i].out.messages
	}
	return n
}

// PendingOn is Pending for one channel. It returns 0 for an unreliable or
// unknown channel.
func (c *Conn) PendingOn(channel uint8) int {
	if int(channel) >= len(c.channels) {
		return 0
	}
	return c.channels[channel].out.messages
}

// SetRate sets the ceiling of [Config.Rate], in bytes a second of datagrams; 0
// or less restores Config.Rate. A lower ceiling holds at once. A higher one
// holds at once unless congestion has lowered the rate; then the rate rises as
// the path allows. Treat a rate that a peer asks for as a wish: limit it to a
// rate that the server can afford.
func (c *Conn) SetRate(bytesPerSecond int) {
	if bytesPerSecond <= 0 {
		bytesPerSecond = c.cfg.Rate
	}
	c.rate.setCeiling(float64(bytesPerSecond), float64(min(c.cfg.MinRate, bytesPerSecond)))
}

// RTT returns the smoothed round-trip time, without the time that the peer held
// acks back. It returns 0 before the first sample.
func (c *Conn) RTT() time.Duration { return c.rtt.smoothed }

// MeasuredRTT is RTT, but negative before the first sample, as lagcomp.Measured takes it.
func (c *Conn) MeasuredRTT() time.Duration {
	if c.rtt.samples == 0 {
		return -1
	}
	return c.rtt.smoothed
}

// Jitter returns the smoothed mean deviation of the round-trip time.
func (c *Conn) Jitter() time.Duration { return c.rtt.deviation }

// Silent returns the time since the last authentic packet arrived. If none has,
// it counts from the first use of the Conn.
func (c *Conn) Silent(now time.Duration) time.Duration {
	c.startAt(now)
	return now - c.heard
}

// Unanswered returns the time since the peer last acknowledged a packet for the
// first time. If it never has, it counts from the first use of the Conn. An ack
// of a packet already reported lost counts too.
func (c *Conn) Unanswered(now time.Duration) time.Duration {
	c.startAt(now)
	return now - c.news
}

// Paused reports whether the next packet has to wait, because the peer has acknowledged none
// for LongestSilence packets. From then on, one packet goes each second, so
// that numbers last for hours more. Ask it before Begin.
func (c *Conn) Paused(now time.Duration) bool {
	return c.next-1-c.acked > LongestSilence && now-c.sentAt < time.Second && now >= c.sentAt
}

// Lapsed reports whether the two ends can no longer understand one another, because one did
// not hear the other for more than LongestSilence packets.
// Nobody broke a rule. End the connection, and begin a new one with fresh numbers.
func (c *Conn) Lapsed() bool {
	return c.lapsed || c.next-1-c.acked > 2*LongestSilence-2
}

// Timeout returns Config.Timeout. The Conn does not end the connection after that time:
// compare it with [Conn.Silent].
func (c *Conn) Timeout() time.Duration { return c.cfg.Timeout }

// Stats returns the counters and current estimates.
func (c *Conn) Stats() Stats {
	s := c.stats
	s.Loss, s.DeliveryRate, s.Rate = c.rate.loss, int(c.rate.delivered), int(c.rate.rate)
	s.Congested = c.rate.congested
	s.LostIn = c.window.lost
	s.RTT, s.Jitter = c.rtt.smoothed, c.rtt.deviation
	return s
}

// LossIn returns the share of the peer's packets that were lost lately, 0 to 1. A silence of many packets counts
// as three lost ones. A packet counts as lost once 32 later ones have arrived. The measurement begins with the
// first call.
func (c *Conn) LossIn() float64 {
	if c.lossIn == nil {
		c.lossIn = new(loss.Window)
	}
	return c.lossIn.Share()
}

// Queued returns the bytes waiting for delivery in all reliable channels
// together. Each message, or each 256 bytes of a longer one, counts as 256, as
// in [Channel.Queue].
func (c *Conn) Queued() (n int) {
	for i := range c.channels {
		n += c.channels[i].out.kept() * maxFragment
	}
	return n
}

// Withheld returns the time since the oldest unacknowledged part of a reliable
// message was first sent; 0 when there is none. That part is sent again and
// again, so a peer that acknowledges everything else withholds it on purpose.
func (c *Conn) Withheld(now time.Duration) (longest time.Duration) {
	for i := range c.channels {
		out := &c.channels[i].out
		if out.queued() > 0 && out.entryAt(out.head).sends > 0 {
			longest = max(longest, now-out.entryAt(out.head).firstAt)
		}
	}
	return longest
}

// QueuedSize returns what a reliable message of payload bytes counts in
// [Conn.Queued].
func QueuedSize(payload int) int {
	return max(1, (payload+maxFragment-1)/maxFragment) * maxFragment
}
