//go:build linux

package udp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// A control message has the address that was set. One that is too short, of another kind, or of a group has none.
func TestControl(t *testing.T) {
	for _, addr := range []string{"192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7", "fe80::7"} {
		var c control
		a := netip.MustParseAddr(addr)
		n := c.setSource(a, a.Is6())
		require.Equal(t, a.Unmap(), c.local(n))
		require.Zero(t, c.local(n/2))
		c.head.Type++
		require.Zero(t, c.local(n))
	}
	var c control
	require.Zero(t, c.local(c.setSource(netip.MustParseAddr("ff02::1"), true)))
	require.Zero(t, c.local(0))
}
