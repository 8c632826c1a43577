//go:build !linux

package udp

import "net/netip"

// canAnswer says that on these systems the endpoint does not learn which of its addresses a datagram
// was sent to. A server with several addresses listens on each of them separately.
const canAnswer = false

// control is unused on these systems.
type control struct{}

func (c *control) memory() []byte { return nil }

func tellLocal(uintptr, bool) error { return nil }

func (c *control) local(int) netip.Addr { return netip.Addr{} }

func (c *control) setSource(netip.Addr, bool) int { return 0 }
