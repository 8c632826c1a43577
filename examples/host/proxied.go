//go:build !js

package main

import (
	"net/netip"
	"strings"

	"github.com/foretick/foretick/transport/ws"
)

// clientAddr returns what reads a browser's address from the header of a proxy; nil: there is none. The
// last entry is the proxy's own: others may be anybody's words.
func (o *options) clientAddr() func(r *ws.Request) netip.AddrPort {
	if o.proxyHeader == "" {
		return nil
	}
	return func(r *ws.Request) netip.AddrPort {
		all := strings.Split(r.Header.Get(o.proxyHeader), ",")
		ip, _ := netip.ParseAddr(strings.TrimSpace(all[len(all)-1]))
		return netip.AddrPortFrom(ip, 0)
	}
}
