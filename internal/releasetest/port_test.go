package releasetest

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPort: none is given twice, though nobody has taken the first, and none that is taken.
func TestPort(t *testing.T) {
	all := map[int]bool{}
	for range 500 {
		port := Port(t)
		require.False(t, all[port], "%d again", port)
		all[port] = true
	}
	require.True(t, isFree(fmt.Sprint("127.0.0.1:", Port(t))))
	for _, network := range []string{"tcp", "udp"} {
		at := fmt.Sprint("127.0.0.1:", Port(t))
		if network == "tcp" {
			l, err := net.Listen(network, at)
			require.NoError(t, err)
			defer l.Close()
		} else {
			c, err := net.ListenPacket(network, at)
			require.NoError(t, err)
			defer c.Close()
		}
		require.False(t, isFree(at), network)
	}
}
