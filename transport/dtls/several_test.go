//go:build linux

package dtls_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/dtls"
)

// TestSeveralAddresses: a server on a wildcard address can be reached at each of this machine's
// addresses. Package udp tests that in more reason.
func TestSeveralAddresses(t *testing.T) {
	costtest.Sockets(t)
	cert := certificate(t)
	srv, err := dtls.Listen(":0", dtls.Config{Certificate: cert})
	require.NoError(t, err)
	t.Cleanup(func() { srv.Close(0, "") })
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "127.1.2.3"} {
		to := netip.AddrPortFrom(netip.MustParseAddr(host), srv.LocalAddr().Port())
		pair(t, srv, dial(t, to.String(), dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}}))
	}
}
