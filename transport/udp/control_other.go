//go:build !linux

package udp

import "net/netip"

// canAnswer says that these systems are not asked which of their addresses a datagram was sent to. A server with
// several listens on each by itself.
const canAnswer = false

// control is empty.
type control struct{}

func (c *control) memory() []byte { return nil }

func tellLocal(uintptr, bool) error { return nil }

func (c *control) local(int) netip.Addr { return netip.Addr{} }

func (c *control) setSource(netip.Addr, bool) int { return 0 }
