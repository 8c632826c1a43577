package transport

import (
	"errors"
	"net"
	"strconv"
)

var (
	// ErrTooBig: the datagram exceeds Info.MTU. Send returns a *TooBigError, which unwraps to this.
	ErrTooBig = errors.New("transport: datagram too big")
	// ErrBacklog: the datagram was not sent, as the send queue is full; a later one may be.
	ErrBacklog = errors.New("transport: send queue full")
	// ErrNoPeer: there is no such peer (any more, or yet).
	ErrNoPeer = errors.New("transport: no such peer")
	// ErrClosed: the endpoint is closed. It unwraps to net.ErrClosed.
	ErrClosed error = closedError{}
)

type closedError struct{}

func (closedError) Error() string { return "transport: endpoint closed" }
func (closedError) Unwrap() error { return net.ErrClosed }

// TooBigError is what Send answers to a datagram that exceeds Info.MTU. It unwraps to ErrTooBig.
type TooBigError struct {
	Size, Limit int // bytes
}

// Error names both sizes.
func (e *TooBigError) Error() string {
	return "transport: datagram of " + strconv.Itoa(e.Size) + " bytes exceeds the limit of " + strconv.Itoa(e.Limit)
}

// Unwrap returns ErrTooBig.
func (e *TooBigError) Unwrap() error { return ErrTooBig }

// CloseError is the end of a connection as an error, for those who pass one on. It unwraps to net.ErrClosed.
// An accept hook that returns one chooses the code with which a client is refused.
type CloseError struct {
	Code   Code
	Detail string
}

// Error returns the code, and the detail quoted, as a remote peer may have chosen it.
func (e *CloseError) Error() string {
	s := "connection ended: " + e.Code.String()
	if e.Detail != "" {
		s += " " + strconv.Quote(e.Detail)
	}
	return s
}

// Unwrap returns net.ErrClosed.
func (e *CloseError) Unwrap() error { return net.ErrClosed }

// CloseCode returns the code of the *CloseError in err's tree, or None.
func CloseCode(err error) Code {
	var e *CloseError
	if errors.As(err, &e) {
		return e.Code
	}
	return None
}

// CutDetail returns detail cut to MaxDetail bytes, not within a UTF-8 sequence: what a transport does to the
// detail it is given before it sends it.
func CutDetail(detail string) string {
	if len(detail) <= MaxDetail {
		return detail
	}
	n := MaxDetail
	for n > MaxDetail-4 && detail[n]&0xC0 == 0x80 {
		n--
	}
	return detail[:n]
}
