package foretick

import (
	"errors"
	"unsafe"
)

// Request is a message from a player to the server, apart from its commands: a line of
// chat, a purchase, the choice of a team. It arrives exactly once and in order, also across
// a lost connection if the server holds the player's place. It is not predicted, and costs
// no bytes in ticks without one. Input of every tick belongs in the command: see
// [Protocol.Command]. The net tags of its fields set how they travel, as in a component. It
// cannot hold entity handles. The zero value is ready for [Request.Handle], which registers
// it.
type Request[T any] struct {
	id int // 1 and up
}

const (
	// requestRate is how many requests a second a client may send on average.
	requestRate = 32
	// requestBurst is how many it may send at once.
	requestBurst = 64

	// After a network stall, queued requests arrive at once: up to the length of the
	// client's queue.
	requestsHeld  = 512
	requestsSpare = requestRate / 16 // a second, for a clock that runs fast
)

// Errors of Request.Send.
var (
	// ErrNotIn: the client has no place in a match, not yet or no longer.
	ErrNotIn = errors.New("foretick: the client is in no match: send requests while its state is Syncing, Playing or Resuming")
	// ErrTooMany: the client has used up its allowance, 32 a second and 64 at once, or its queue
	// is full, as in a long reconnect. This request was not sent. Try again later.
	ErrTooMany = errors.New("foretick: too many requests: a client may send 32 a second, and 64 at once")
	// ErrNotThere: the server's build of the game does not have the request; see
	// expert.BuildDifference.
	ErrNotThere = errors.New("foretick: the server's build of the game does not have this request")
)

// Send queues the request, which leaves with the next packet. c is a [Client], or a preview
// (package preview), whose next tick handles it. While the client reconnects
// (see [ClientConfig.Redial]), the request waits. If the player's place is gone by then,
// waiting requests are dropped and counted in [stats.Client.RequestsDropped]. Errors:
// [ErrNotIn], [ErrTooMany], [ErrNotThere]. Send panics with [UsageError] for a request that
// is not declared with [Request.Handle]. Send is not safe for
// concurrent use, like the rest of a client.
func (r *Request[T]) Send(c Requester, v T) error {
	if r.id == 0 {
		misuse("request %s is sent and not declared: call its Handle in Protocol, on both ends", typeNameOf[T]())
	}
	return c.request(r.id, unsafe.Pointer(&v))
}

// Requester is a player's end: a [Client], or a preview of package preview.
type Requester interface {
	request(id int, v unsafe.Pointer) error
}

func (c *Client) request(id int, v unsafe.Pointer) error {
	return c.link.request(&c.p.Requests[id-1], v)
}
