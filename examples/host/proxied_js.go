package main

import (
	"net/netip"

	"github.com/foretick/foretick/transport/ws"
)

// clientAddr is of no use where there are no servers.
func (o *options) clientAddr() func(*ws.Request) netip.AddrPort { return nil }
