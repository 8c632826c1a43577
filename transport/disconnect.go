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
	// Reason is the other end's text, possibly empty.
	Reason string
}

// Error names the code and the reason, which is in quotes if it has characters that do not print: a remote
// peer may have chosen it.
func (e *DisconnectError) Error() string {
	s := "foretick: disconnected: " + e.Code.String()
	switch quoted := strconv.Quote(e.Reason); {
	case e.Reason == "":
		return s
	case quoted == `"`+e.Reason+`"`:
		return s + ": " + e.Reason
	default:
		return s + ": " + quoted
	}
}

// Unwrap returns net.ErrClosed.
func (e *DisconnectError) Unwrap() error { return net.ErrClosed }
