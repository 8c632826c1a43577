package transport

import (
	"errors"
	"net"
	"strconv"
)

var (
	// ErrTooBig: the datagram exceeds Info.MTU. Send returns a *TooBigError, which unwraps to this.
	ErrTooBig = errors.New("transport: datagram too big")
	// ErrBacklog: the datagram was not sent because the send queue is full. A later one may be.
	ErrBacklog = errors.New("transport: send queue full")
	// ErrNoPeer: the peer does not exist, or no longer, or not yet.
	ErrNoPeer = errors.New("transport: no such peer")
	// ErrClosed: the endpoint is closed. It unwraps to net.ErrClosed.
	ErrClosed error = closedError{}
)

type closedError struct{}

func (closedError) Error() string { return "transport: endpoint closed" }
func (closedError) Unwrap() error { return net.ErrClosed }

// TooBigError is the error of Send for a datagram longer than Info.MTU. It unwraps to ErrTooBig.
type TooBigError struct {
	Size, Limit int // length of the datagram, and the longest that Send accepts, in bytes
}

// Error returns a text with both sizes.
func (e *TooBigError) Error() string {
	return "transport: datagram of " + strconv.Itoa(e.Size) + " bytes exceeds the limit of " + strconv.Itoa(e.Limit)
}

// Unwrap returns ErrTooBig.
func (e *TooBigError) Unwrap() error { return ErrTooBig }

// CloseCode returns the code of the *DisconnectError in err's tree, or None. So it reads client.View.Err
// and the error of client.Client.Run.
func CloseCode(err error) Code {
	if e := (*DisconnectError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return None
}

// CutReason returns reason cut to MaxReason bytes, never inside a UTF-8 sequence. Transports apply it to a
// reason before sending.
func CutReason(reason string) string {
	if len(reason) <= MaxReason {
		return reason
	}
	n := MaxReason
	for n > MaxReason-4 && reason[n]&0xC0 == 0x80 {
		n--
	}
	return reason[:n]
}
