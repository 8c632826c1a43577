//go:build !js

package main

import (
	"net/netip"
	"strings"

	"github.com/foretick/foretick/transport/ws"
)

// clientAddr returns a function that reads a browser's address from the header of a proxy; nil: there
// is no proxy. It reads the last entry, which the proxy wrote: the browser may have written the others.
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
