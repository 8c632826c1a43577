package dtls_test

import (
	"crypto/tls"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ticket"
)

var (
	key    = ticket.NewKey()
	public = netip.MustParseAddrPort("192.0.2.7:27015") // the servers' address in the tests' tickets
)

func gate(t testing.TB) *ticket.Gate {
	t.Helper()
	g, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	require.NoError(t, err)
	return g
}

func issue(t testing.TB, identity string) []byte {
	t.Helper()
	tk, err := ticket.Issue(key, ticket.Claims{Identity: []byte(identity), Expires: time.Now().Add(time.Minute),
		Servers: []netip.AddrPort{public}})
	require.NoError(t, err)
	b, err := tk.MarshalBinary()
	require.NoError(t, err)
	return b
}

func certificate(t testing.TB) *tls.Certificate {
	t.Helper()
	c, err := dtls.NewCertificate()
	require.NoError(t, err)
	return &c
}

// addr is where a server listens.
func addr(e *dtls.Endpoint) string { return e.LocalAddr().String() }

func listen(t testing.TB, cfg dtls.Config) *dtls.Endpoint {
	t.Helper()
	if cfg.Gate == nil && cfg.Certificate == nil && cfg.GetCertificate == nil {
		cfg.Gate = gate(t)
	}
	srv, err := dtls.Listen("127.0.0.1:0", cfg)
	require.NoError(t, err)
	t.Cleanup(func() { srv.Close(0, "") })
	return srv
}

func dial(t testing.TB, to string, cfg dtls.Config) *dtls.Endpoint {
	t.Helper()
	if cfg.Ticket == nil && cfg.Pins == nil {
		cfg.Ticket = issue(t, "")
	}
	cli, err := dtls.Dial(to, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { cli.Close(0, "") })
	return cli
}

// wait, pair and talk are helpers that the tests of all transports share.
var (
	wait = nettest.Wait
	pair = nettest.Pair
	talk = nettest.Talk
)
