//go:build js

package ws

import (
	"errors"
	"fmt"
	"net/netip"
)

// Server is a server's endpoint where programs can listen. In a browser none can: Listen and NewServer fail.
type Server struct{ Endpoint }

// LocalAddr returns the zero AddrPort.
func (s *Server) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Listen fails with errors.ErrUnsupported: a browser accepts no connections. Code that is shared with native servers
// builds with it.
func Listen(string, Config) (*Server, error) { return NewServer(Config{}) }

// NewServer fails with errors.ErrUnsupported: see Listen.
func NewServer(Config) (*Server, error) {
	return nil, fmt.Errorf("ws: a browser accepts no connections: %w", errors.ErrUnsupported)
}
