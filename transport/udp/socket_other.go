//go:build !unix

package udp

import (
	"net"
	"strings"
)

// socket writes through the net package, because a full send buffer does not block on these systems.
type socket struct {
	conn      *net.UDPConn
	connected bool
}

func (s *socket) attach(c *net.UDPConn, connected, _ bool) error {
	s.conn, s.connected = c, connected
	return nil
}

func (s *socket) writeDatagram(b []byte, to route) (err error) {
	if s.conn == nil {
		return net.ErrClosed
	}
	if s.connected {
		_, err = s.conn.Write(b)
	} else {
		_, err = s.conn.WriteToUDPAddrPort(b, to.AddrPort)
	}
	if isRefused(err) {
		return errRefused
	}
	return err
}

// isRefused recognises the system's error for an ICMP port unreachable by its text, since its
// number differs.
func isRefused(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "forcibly closed") || strings.Contains(err.Error(), "refused"))
}
