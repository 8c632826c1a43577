package foretick

import (
	"net/netip"

	"github.com/foretick/foretick/transport"
)

// address returns where a peer's datagrams come from, for logs, and the origin that
// limits go by: the address without its port, and of an IPv6 address the /64, because
// one subscriber has all of it. Both are empty where the transport does not know.
func (s *Server) address(peer transport.PeerID) (addr, origin string) {
	var info transport.Info
	if !s.endpoint.Info(peer, &info) {
		return "", ""
	}
	return info.Addr, originOf(info.Addr)
}

func originOf(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr // the transport's own form
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		net, err := ip.Prefix(64)
		if err == nil {
			return net.String()
		}
	}
	return ip.String()
}
