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

	sent   *SequenceBuffer[sentPacket]
	next   Seq // number of the next packet
	oldest Seq // fates before it are told
	fates  fateQueue

	packet  Packet
	scratch []byte

	rtt     rttEstimator
	ackTime rttEstimator // from sending to knowing, by whatever ack: what a resend waits for
	rate    rateControl
	out     streamSender
	in      streamReceiver
	closing closing

	heard   time.Duration // when an authentic packet came last
	started bool
	stats   Stats
}

// sentPacket is what must be known of a packet until its fate is.
type sentPacket struct {
	at      time.Duration
	size    int
	told    bool
	entries []uint16 // of the reliable stream
}

// sentPackets bounds the packets whose fate is open: 2 s at 128 packets/s.
const sentPackets = 256

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
	}
	c.packet = Packet{c: c, buf: make([]byte, 0, cfg.MTU+maxHeader)}
	c.scratch = make([]byte, 0, cfg.MTU+maxEntryHead+maxFragment)
	c.rate = newRateControl(cfg)
	return c
}

func (c *Conn) start(now time.Duration) {
	if !c.started {
		c.started, c.heard = true, now
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

// SendReliable queues a message that reaches the peer's NextReliable exactly
// once, in order, however long it takes. payload is copied; tick and kind
// travel with it. Errors: ErrTooBig, ErrStreamFull.
func (c *Conn) SendReliable(tick Tick, kind uint8, payload []byte) error {
	err := c.out.push(tick, kind, payload)
	if err == nil {
		c.stats.ReliableSent++
	}
	return err
}

// NextReliable gives the next reliable message in order, when it is complete.
// Drain it after every Receive.
func (c *Conn) NextReliable() (Reliable, bool) {
	r, ok := c.in.pop()
	if ok {
		c.stats.ReliableReceived++
	}
	return r, ok
}

// Pending is the number of reliable messages sent and not yet known to be
// delivered with all before them.
func (c *Conn) Pending() int { return c.out.messages }

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
