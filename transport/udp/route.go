package udp

import "net/netip"

// route is the two addresses of a datagram: that of the other end, and that of this machine. A machine
// may have several. A server that listens on all of them must reply from the address that the client
// sent to, because the client accepts no other.
type route struct {
	netip.AddrPort
	// local is this machine's address. It is not valid if the socket has only one, on a client, and on
	// systems that do not report it.
	local netip.Addr
}

// wild reports whether a server's socket has several addresses.
func wild(a netip.Addr) bool { return a.IsUnspecified() }
