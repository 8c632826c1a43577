//go:build js

package ws

import (
	"errors"
	"fmt"
	"net/netip"
)

// Server is a server's endpoint on systems where programs can listen. In a browser Listen and NewServer
// fail.
type Server struct{ Endpoint }

// LocalAddr returns the zero AddrPort.
func (s *Server) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Listen fails with errors.ErrUnsupported: a browser accepts no connections. It exists so that code
// shared with native servers compiles.
func Listen(string, Config) (*Server, error) { return NewServer(Config{}) }

// NewServer fails with errors.ErrUnsupported: see Listen.
func NewServer(Config) (*Server, error) {
	return nil, fmt.Errorf("ws: a browser accepts no connections: %w", errors.ErrUnsupported)
}
