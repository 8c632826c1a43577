package main

import (
	"net/netip"

	"github.com/foretick/foretick/transport/ws"
)

// clientAddr returns nil: a browser runs no server.
func (o *options) clientAddr() func(*ws.Request) netip.AddrPort { return nil }
