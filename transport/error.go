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

// CloseError is the end of a connection as an error value. It unwraps to net.ErrClosed. An accept hook can
// return one to choose the code of a refusal.
type CloseError struct {
	Code   Code
	Detail string
}

// Error returns the code, and the detail in quotes because a remote peer may have chosen it.
func (e *CloseError) Error() string {
	s := "connection ended: " + e.Code.String()
	if e.Detail != "" {
		s += " " + strconv.Quote(e.Detail)
	}
	return s
}

// Unwrap returns net.ErrClosed.
func (e *CloseError) Unwrap() error { return net.ErrClosed }

// CloseCode returns the code of the *CloseError or *DisconnectError in err's tree, or None. So it reads client.View.Err
// and the error of client.Client.Run.
func CloseCode(err error) Code {
	var e *CloseError
	var d *DisconnectError
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &d):
		return d.Code
	}
	return None
}

// CutDetail returns detail cut to MaxDetail bytes, never inside a UTF-8 sequence. Transports apply it to a
// detail before sending.
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
