package netcode

import "errors"

// Errors of [Conn.TakeOver].
var (
	// ErrTaken: the peer's count of messages is too high or too low to be true.
	ErrTaken = errors.New("netcode: the peer's count of reliable messages is impossible")
	// ErrNotNew: the channel has been sent on before.
	ErrNotNew = errors.New("netcode: the channel has been sent on")
)

// Forgotten is the count to pass to [Conn.TakeOver] for a peer that has no
// record of earlier connections.
const Forgotten = -1

// TakeOver moves the undelivered messages of a reliable channel from an old
// connection to c, in order, so that each survives the loss of a connection
// exactly once. It queues on c the messages that old has queued and its peer
// has not received. It does not change old, which is of no further use. c must
// not have sent on the channel, and the channel must be configured alike on
// both.
//
// taken is the number of messages of the channel that the peer's NextReliable
// has returned, modulo 2³². It counts from the first message sent, over all
// connections that took over from one another. The peer counts and sends it
// (see [Hello.Taken]), because acknowledgements may be lost. With [Forgotten],
// TakeOver queues every message not known to be delivered, and both ends count
// from 0.
//
// On an error nothing changes. Errors: ErrTaken, for a count below the
// acknowledged messages or above the sent ones; ErrNotNew; ErrNoChannel.
func (c *Conn) TakeOver(old *Conn, channel uint8, taken int64) error {
	i := int(channel)
	if i >= len(c.channels) || i >= len(old.channels) || !c.channels[i].reliable || !old.channels[i].reliable {
		return ErrNoChannel
	}
	from, to := &old.channels[i].out, &c.channels[i].out
	if to.next != 0 || to.passed != 0 || to.most < from.most {
		return ErrNotNew
	}
	skip := 0
	if taken != Forgotten {
		n := uint32(taken) - from.passed
		if taken < 0 || n > uint32(from.messages) {
			return ErrTaken
		}
		skip, to.passed = int(n), uint32(taken)
	}
	for id := from.base; id != from.next; id++ {
		e := from.entryAt(id)
		if skip > 0 {
			if e.last {
				skip--
			}
			continue
		}
		if n := to.kept() + 1; n > len(to.ring) {
			to.growEntries(n)
		}
		out := to.entryAt(to.next)
		*out = outEntry{payload: append(out.payload[:0], e.payload...), tick: e.tick, kind: e.kind, first: e.first, last: e.last, due: true}
		to.next++
		if e.last {
			to.messages++
		}
	}
	return nil
}
