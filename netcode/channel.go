package netcode

import (
	"errors"
	"fmt"
	"time"
)

// Limits of channels.
const (
	// MaxChannels is how many channels a Conn has at most, channel 0 among them.
	MaxChannels = 8
	// MaxEvent is the longest payload of an unreliable event, in bytes: it fits
	// in any packet.
	MaxEvent = 256
)

// Channel is one of the ways that [Conn.SendOn] sends. Channels do not wait for
// one another: a large message, or a lost one, holds up its own channel only.
// What they owe shares the room that a packet has for it, by priority. Both ends
// must agree on how many channels there are and which are reliable; a packet
// with a message for any other is refused. The zero value is an unreliable
// channel of the lowest priority.
type Channel struct {
	// Reliable makes the channel an ordered stream in which every message
	// arrives once, up to MaxReliable bytes each. Otherwise it carries events of
	// up to MaxEvent bytes, each of which arrives at most once, in any order.
	Reliable bool
	// Priority is the channel's share of the room while several channels want
	// it: twice the number, twice the bytes. Of those waiting, the channel that
	// is furthest behind its share goes first, so that a small message of high
	// priority goes before a transfer of low priority, and nothing waits for
	// ever. 0 means 1.
	Priority uint8
	// Queue bounds what waits in a reliable channel for its delivery, in bytes,
	// where every message, or 256 bytes of a longer one, counts as 256. A message
	// waits until all of it is delivered, so that another connection can take it
	// over. 0 means 256 KiB for channel 0 and 128 KiB for another. At least 64 KiB,
	// so that the longest message fits; at most 1 MiB. Rounded up to a power of two. Negative is an error.
	Queue int
	// Repeat is how many packets carry an event of an unreliable channel, unless
	// it is known to have arrived before. 0 means 1, at most 16. Negative is an error.
	Repeat int
	// MaxAge is how long after the next packet begun an event may still be
	// sent; then it is dropped. 0 means 250 ms, at most 24 h. Negative is an error.
	MaxAge time.Duration
}

func (c Channel) defaults(number int) Channel {
	if c.Priority == 0 {
		c.Priority = 1
	}
	if c.Queue == 0 {
		c.Queue = otherQueue
		if number == 0 {
			c.Queue = streamQueue
		}
	}
	if c.Repeat == 0 {
		c.Repeat = 1
	}
	if c.MaxAge == 0 {
		c.MaxAge = 250 * time.Millisecond
	}
	return c
}

func (c Channel) faults(number int) (errs []error) {
	c = c.defaults(number)
	if number == 0 && !c.Reliable {
		errs = append(errs, errors.New("Channels[0] must be Reliable"))
	}
	if c.Queue < minStreamQueue || c.Queue > maxStreamQueue {
		errs = append(errs, fmt.Errorf("Channels[%d].Queue is %d bytes, must be %d to %d", number, c.Queue, minStreamQueue, maxStreamQueue))
	}
	if c.Repeat < 0 || c.Repeat > maxRepeat {
		errs = append(errs, fmt.Errorf("Channels[%d].Repeat is %d packets, must be 1 to %d", number, c.Repeat, maxRepeat))
	}
	if c.MaxAge < 0 || c.MaxAge > maxAge {
		errs = append(errs, fmt.Errorf("Channels[%d].MaxAge is %v, must be positive and at most %v", number, c.MaxAge, maxAge))
	}
	return errs
}

// channel is both directions of one channel: streams, or events.
type channel struct {
	number   uint8
	reliable bool
	priority int
	credit   int64 // see share

	out  streamSender
	in   streamReceiver
	sent eventSender
	seen *SequenceBuffer[struct{}] // events received
}

// newChannels makes the channels of a validated Config.
func newChannels(cfg []Channel, first int) []channel {
	channels := make([]channel, len(cfg))
	for i, c := range cfg {
		ch := &channels[i]
		ch.number, ch.reliable, ch.priority = uint8(first+i), c.Reliable, int(c.Priority)
		if c.Reliable {
			ch.out = newStreamSender(c.Queue)
		} else {
			ch.sent = newEventSender(c.Repeat, c.MaxAge)
			ch.seen = NewSequenceBuffer[struct{}](eventsSeen)
		}
	}
	return channels
}

// AddChannels puts channels behind those of [Config.Channels], for an end that
// learns of them from its peer, as a tool does. Neither end may have sent on them
// yet: a packet with a message for a channel that is not there is refused. The error
// is a *ConfigError with every fault, and then nothing was added.
func (c *Conn) AddChannels(more ...Channel) error {
	cfg := c.cfg
	cfg.Channels = append(cfg.Channels[:len(cfg.Channels):len(cfg.Channels)], more...)
	if err := cfg.Validate(); err != nil {
		return err
	}
	first := len(c.channels)
	c.cfg = cfg.defaults()
	c.channels = append(c.channels, newChannels(c.cfg.Channels[first:], first)...)
	return nil
}

func (ch *channel) age(now, rto time.Duration, st *Stats) {
	if ch.reliable {
		ch.out.age(now, rto)
	} else {
		ch.sent.age(now, st)
	}
}

// owed is how many bytes wait to be sent, up to limit.
func (ch *channel) owed(limit int) int {
	if ch.reliable {
		return ch.out.owed(limit)
	}
	return ch.sent.owed(limit)
}

// write appends a body of at most room bytes with what is due to dst, and what
// it carries to carried. It returns dst unchanged when nothing fits.
func (ch *channel) write(dst []byte, room int, now time.Duration, carried []entryRef, st *Stats) (MessageType, []byte, []entryRef) {
	t, base := messageStream, len(dst)
	if ch.number != 0 {
		t, dst = messageChannel, append(dst, ch.number)
		if !ch.reliable {
			t = messageEvents
		}
	}
	mark := len(dst)
	if ch.reliable {
		dst, carried = ch.out.write(dst, room-(mark-base), ch.number, now, carried, st)
	} else {
		dst, carried = ch.sent.write(dst, room-(mark-base), ch.number, carried, st)
	}
	if len(dst) == mark {
		dst = dst[:base]
	}
	return t, dst, carried
}

// entryRef names what a packet carried: a stream's entry, or an event.
type entryRef struct {
	channel uint8
	id      uint16
}

func (ch *channel) delivered(id uint16, st *Stats) {
	if ch.reliable {
		ch.out.delivered(id, st)
	} else {
		ch.sent.delivered(id)
	}
}

// lost makes what a packet carried due again. An event goes into a fixed number
// of packets whatever becomes of them.
func (ch *channel) lost(id uint16, sentAt time.Duration) {
	if ch.reliable {
		ch.out.lost(id, sentAt)
	}
}
