package transport

import (
	"fmt"
	"net"
)

// DisconnectError is why a client's connection ended. It unwraps to [net.ErrClosed].
type DisconnectError struct {
	// Code is the reason, as the transport or the server gave it.
	Code Code
	// Detail is the other end's text, possibly empty.
	Detail string
}

// Error names the code and the detail.
func (e *DisconnectError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("foretick: disconnected: %v", e.Code)
	}
	return fmt.Sprintf("foretick: disconnected: %v: %s", e.Code, e.Detail)
}

// Unwrap returns net.ErrClosed.
func (e *DisconnectError) Unwrap() error { return net.ErrClosed }
