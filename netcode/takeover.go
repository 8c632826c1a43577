package netcode

import "errors"

// Errors of [Conn.TakeOver].
var (
	// ErrTaken: the peer cannot have taken so many messages, or so few.
	ErrTaken = errors.New("netcode: the peer's count of reliable messages is impossible")
	// ErrNotNew: something was sent on the channel before.
	ErrNotNew = errors.New("netcode: the channel has been sent on")
)

// Forgotten is the count for [Conn.TakeOver] of a peer that knows nothing of the
// connections before.
const Forgotten = -1

// TakeOver queues on a reliable channel of c, in order, what old has queued on the
// same channel and its peer has not taken, so that messages survive the loss of a
// connection exactly once. old is not changed, and no longer of use; c must not
// have sent on the channel, which must be alike on both. taken is how many messages
// of the channel the peer's NextReliable has given, from the first one that was
// sent on it, over all connections that took over from one another, modulo 2³². The
// peer counts them and says so (see [Hello.Taken]), as acknowledgements may have
// been lost. With [Forgotten] everything is queued that is not known to be
// delivered, and both ends count from 0.
//
// Errors, with which nothing was done: ErrTaken, for a count below what the peer
// has acknowledged or above what was sent; ErrNotNew; ErrNoChannel.
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
		e := from.at(id)
		if skip > 0 {
			if e.last {
				skip--
			}
			continue
		}
		if n := to.kept() + 1; n > len(to.ring) {
			to.grow(n)
		}
		out := to.at(to.next)
		*out = outEntry{payload: append(out.payload[:0], e.payload...), tick: e.tick, kind: e.kind, first: e.first, last: e.last, due: true}
		to.next++
		if e.last {
			to.messages++
		}
	}
	return nil
}
