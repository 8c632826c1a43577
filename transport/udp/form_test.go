package udp_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// An IPv4 address in either of its forms is the same, for clients that dial it and in the addresses
// that the server reports.
func TestAddressForms(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{
		{"127.0.0.1:0", "127.0.0.1"},
		{"127.0.0.1:0", "::ffff:127.0.0.1"},
		{"[::ffff:127.0.0.1]:0", "127.0.0.1"},
		{":0", "127.0.0.1"},
		{":0", "::ffff:127.0.0.1"},
	} {
		var hooked netip.AddrPort
		srv, err := udp.Listen(c.listen, udp.Config{Accept: func(a netip.AddrPort, _ []byte) ([]byte, error) {
			hooked = a
			return nil, nil
		}})
		require.NoError(t, err)
		to := netip.AddrPortFrom(netip.MustParseAddr(c.dial), srv.LocalAddr().Port())
		cli, err := udp.Dial(to.String(), udp.Config{})
		require.NoError(t, err)
		toServer, toClient := nettest.Pair(t, srv, cli)
		nettest.Talk(t, srv, cli, toServer, toClient)
		var info transport.Info
		require.True(t, srv.Info(toClient, &info))
		assert.Equal(t, hooked.String(), info.Addr, "%+v", c)
		assert.True(t, hooked.Addr().Is4(), "%v of %+v", hooked, c)
		require.NoError(t, cli.Close(0, ""))
		require.NoError(t, srv.Close(0, ""))
	}
}
