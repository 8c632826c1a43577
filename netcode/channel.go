package netcode

import (
	"errors"
	"fmt"
	"time"
)

// Limits of channels.
const (
	// MaxChannels is the most channels a Conn can have, including channel 0.
	MaxChannels = 8
	// MaxEvent is the longest payload of an unreliable event, in bytes. It fits
	// in any packet.
	MaxEvent = 256
)

// Channel configures one channel of a [Conn], for [Conn.SendOn]. Channels do
// not wait for one another: a large or lost message delays only its own
// channel. Channels share the room in a packet by priority. Both ends must
// agree on the number of channels and on which are reliable; a packet with a
// message for an unknown channel is refused. The zero value is an unreliable
// channel of the lowest priority.
type Channel struct {
	// Reliable makes the channel an ordered stream: every message of up to
	// MaxReliable bytes arrives exactly once. An unreliable channel carries
	// events of up to MaxEvent bytes; each arrives at most once, in any order.
	Reliable bool
	// Priority is the channel's share of the room when several channels want to
	// send: twice the number gets twice the bytes. The channel that is furthest
	// below its share goes first. So a small message of high priority overtakes
	// a transfer of low priority, and no channel starves. 0 means 1.
	Priority uint8
	// Queue is the most bytes that may wait in a reliable channel for delivery.
	// Each message, or each 256 bytes of a longer one, counts as 256. A message
	// stays queued until all of it is delivered, so that another connection can
	// take it over. 0 means 256 KiB for channel 0 and 128 KiB for the others.
	// The minimum of 64 KiB fits the longest message; the maximum is 1 MiB. It
	// is rounded up to a power of two. Negative is an error.
	Queue int
	// Repeat is the number of packets that carry an event of an unreliable
	// channel. Repeating stops early when the event is known to have arrived. 0
	// means 1, at most 16. Negative is an error.
	Repeat int
	// MaxAge is how old an event may get, counted from the next packet begun;
	// an older one is dropped. 0 means 250 ms, at most 24 h. Negative is an
	// error.
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

// channel holds both directions of one channel, as streams or as events.
type channel struct {
	number   uint8
	reliable bool
	priority int
	credit   int64 // credit is the channel's claim to room in packets: see share.

	out  streamSender
	in   streamReceiver
	sent eventSender
	seen *SequenceBuffer[struct{}] // seen has the numbers of the events received.
}

// newChannels builds the channels of a validated Config.
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

// AddChannels appends channels to those of [Config.Channels]. Tools use it when
// they learn the channels from the peer. Neither end may have sent on the new
// channels yet: a packet with a message for an unknown channel is refused. An
// error is a *ConfigError that lists every fault, and then no channel is added.
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

func (ch *channel) ageEntries(now, rto time.Duration, st *Stats) {
	if ch.reliable {
		ch.out.ageEntries(now, rto)
	} else {
		ch.sent.ageEvents(now, st)
	}
}

// owed returns how many bytes wait to be sent, up to limit.
func (ch *channel) owed(limit int) int {
	if ch.reliable {
		return ch.out.owed(limit)
	}
	return ch.sent.owed(limit)
}

// writeBody appends a body of at most room bytes with the due data to dst, and a
// reference to each part to carried. It returns dst unchanged when nothing
// fits.
func (ch *channel) writeBody(dst []byte, room int, now time.Duration, carried []entryRef, st *Stats) (MessageType, []byte, []entryRef) {
	t, base := messageStream, len(dst)
	if ch.number != 0 {
		t, dst = messageChannel, append(dst, ch.number)
		if !ch.reliable {
			t = messageEvents
		}
	}
	mark := len(dst)
	if ch.reliable {
		dst, carried = ch.out.writeEntries(dst, room-(mark-base), ch.number, now, carried, st)
	} else {
		dst, carried = ch.sent.writeEvents(dst, room-(mark-base), ch.number, carried, st)
	}
	if len(dst) == mark {
		dst = dst[:base]
	}
	return t, dst, carried
}

// entryRef identifies a stream entry or an event that a packet carried.
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

// packetLost makes the data of a lost packet due again. Events are not affected: each
// goes into a fixed number of packets.
func (ch *channel) packetLost(id uint16, sentAt time.Duration) {
	if ch.reliable {
		ch.out.entryLost(id, sentAt)
	}
}
