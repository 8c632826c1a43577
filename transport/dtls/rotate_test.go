package dtls_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ticket"
)

// TestCertificateRotates: a running server changes its certificate. Clients that stay keep playing,
// and newcomers need the new pin.
func TestCertificateRotates(t *testing.T) {
	first, second := certificate(t), certificate(t)
	var now atomic.Pointer[tls.Certificate]
	now.Store(first)
	srv := listen(t, dtls.Config{GetCertificate: func() (*tls.Certificate, error) { return now.Load(), nil }})
	pinned := func(certs ...*tls.Certificate) *dtls.Endpoint {
		cfg := dtls.Config{}
		for _, c := range certs {
			cfg.Pins = append(cfg.Pins, dtls.PinOf(*c))
		}
		return dial(t, addr(srv), cfg)
	}
	ann := pinned(first)
	toServer, toClient := pair(t, srv, ann)
	now.Store(second)
	nettest.Talk(t, srv, ann, toServer, toClient)
	bob := pinned(first, second)
	toServer2, toClient2 := pair(t, srv, bob)
	nettest.Talk(t, srv, bob, toServer2, toClient2)
	nettest.Talk(t, srv, ann, toServer, toClient)
	require.Equal(t, transport.Refused, wait(t, pinned(first), transport.Disconnected).Code)
}

// TestCertificateFails: a function for certificates that fails refuses that client, is counted, and
// does not tell the client why. The next client connects.
func TestCertificateFails(t *testing.T) {
	t.Parallel()
	good := certificate(t)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	var ask atomic.Pointer[func() (*tls.Certificate, error)]
	use := func(fn func() (*tls.Certificate, error)) { ask.Store(&fn) }
	log := &nettest.Failures{}
	srv := listen(t, dtls.Config{GetCertificate: func() (*tls.Certificate, error) { return (*ask.Load())() }, Logger: log})
	cfg := dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*good)}}
	for i, fail := range []func() (*tls.Certificate, error){
		func() (*tls.Certificate, error) { return nil, errors.New("open /etc/secret.pem: no such file") },
		func() (*tls.Certificate, error) { return nil, nil },
		func() (*tls.Certificate, error) { return &tls.Certificate{}, nil },
		func() (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: good.Certificate, PrivateKey: key}, nil
		},
		func() (*tls.Certificate, error) { panic("of the game") },
		func() (*tls.Certificate, error) { runtime.Goexit(); return nil, nil },
	} {
		use(fail)
		cli := dial(t, addr(srv), cfg)
		require.Eventually(t, func() bool { return srv.Counters().Refused == uint64(i+1) }, nettest.Patience, 5*time.Millisecond)
		ev := wait(t, cli, transport.Disconnected)
		require.Equal(t, transport.Refused, ev.Code)
		require.Equal(t, "the server has no certificate to show", ev.Reason)
		use(func() (*tls.Certificate, error) { return good, nil })
		wait(t, dial(t, addr(srv), cfg), transport.Connected)
	}
	reasons := map[string]uint64{}
	for _, c := range srv.AppendCounts(nil) {
		if c.Refusal != "" && c.N > 0 {
			reasons[c.Name] = c.N
		}
	}
	require.Equal(t, map[string]uint64{"certificate": 4, "panic": 2}, reasons)
	require.Equal(t, 1, log.Lines(), "of both panics")
}

// TestTicketKeyRotates: players with tickets of the old and of the new key connect while a running
// server changes its key.
func TestTicketKeyRotates(t *testing.T) {
	next := ticket.NewKey()
	g := gate(t)
	srv := listen(t, dtls.Config{Gate: g})
	join := func(key []byte) *dtls.Endpoint {
		tk, err := ticket.Issue(key, ticket.Claims{Identity: []byte("ann"), Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{public}})
		require.NoError(t, err)
		b, err := tk.MarshalBinary()
		require.NoError(t, err)
		return dial(t, addr(srv), dtls.Config{Ticket: b})
	}
	wait(t, join(key), transport.Connected)
	require.NoError(t, g.SetKeys(next, key))
	wait(t, join(key), transport.Connected)
	wait(t, join(next), transport.Connected)
	require.NoError(t, g.SetKeys(next))
	wait(t, join(next), transport.Connected)
	ev := wait(t, join(key), transport.Disconnected)
	require.Contains(t, ev.Reason, "not issued under this key")
}
