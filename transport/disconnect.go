package transport

import (
	"net"
	"strconv"
)

// DisconnectError is why a connection ended. It unwraps to [net.ErrClosed]. An accept hook can return one to
// choose the code and the text of a refusal.
type DisconnectError struct {
	// Code is the reason, as the transport or the server gave it.
	Code Code
	// Detail is the other end's text, possibly empty.
	Detail string
}

// Error names the code and the detail, which is in quotes if it has characters that do not print: a remote
// peer may have chosen it.
func (e *DisconnectError) Error() string {
	s := "foretick: disconnected: " + e.Code.String()
	switch quoted := strconv.Quote(e.Detail); {
	case e.Detail == "":
		return s
	case quoted == `"`+e.Detail+`"`:
		return s + ": " + e.Detail
	default:
		return s + ": " + quoted
	}
}

// Unwrap returns net.ErrClosed.
func (e *DisconnectError) Unwrap() error { return net.ErrClosed }
