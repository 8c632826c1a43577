package udp

import "net/netip"

// route is where a datagram came from, or goes to: an address of the other end, and the address of this machine that
// it was sent to. A server on a wildcard address of a machine with several must answer from the one that was spoken
// to: a client takes no datagram from another.
type route struct {
	netip.AddrPort
	// local is this machine's address. It is not valid where the socket has only one, on a client, and on systems
	// that do not say it.
	local netip.Addr
}

// wild reports whether a server's socket has several addresses.
func wild(a netip.Addr) bool { return a.IsUnspecified() }
