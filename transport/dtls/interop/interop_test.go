package interop_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	v3 "github.com/pion/dtls/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

const (
	psk   = v3.TLS_PSK_WITH_CHACHA20_POLY1305_SHA256
	ecdsa = v3.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
)

var (
	key    = ticket.NewKey()
	public = netip.MustParseAddrPort("192.0.2.7:27015")
)

func issue(t testing.TB, identity string) *ticket.Ticket {
	t.Helper()
	tk, err := ticket.Issue(key, ticket.Claims{Identity: []byte(identity), Expires: time.Now().Add(time.Minute),
		Servers: []netip.AddrPort{public}})
	require.NoError(t, err)
	return tk
}

func gate(t testing.TB) *ticket.Gate {
	t.Helper()
	g, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	require.NoError(t, err)
	return g
}

// next returns the next event of a kind, and skips others.
func next(t testing.TB, ep transport.Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	var ev [1]transport.Event
	for over := time.After(10 * time.Second); ep.Recv(ev[:]) == 0; {
		select {
		case <-ep.Ready():
		case <-over:
			require.Fail(t, "timed out waiting for an event", "%v", k)
		}
	}
	require.Equal(t, k, ev[0].Kind, "%v %q", ev[0].Code, ev[0].Reason)
	return ev[0]
}

// ours is this library's end of a connection, theirs the other implementation's.
type ours struct {
	ep   *dtls.Endpoint
	peer transport.PeerID
}

type theirs struct {
	*v3.Conn
	wire *carried
}

func (c *theirs) read(t testing.TB) string {
	t.Helper()
	var buf [2000]byte
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	n, err := c.Read(buf[:])
	require.NoError(t, err)
	return string(buf[:n])
}

func (c *theirs) write(t testing.TB, s string) {
	t.Helper()
	_, err := c.Write([]byte(s))
	require.NoError(t, err)
}

// clientOfTheirs connects a client of the other implementation to a server of ours.
func clientOfTheirs(t *testing.T, mode v3.CipherSuiteID) (*ours, *theirs) {
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	cfg := dtls.Config{Gate: gate(t)}
	if mode == ecdsa {
		cfg = dtls.Config{Certificate: &cert, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }}
	}
	srv, err := dtls.Listen("127.0.0.1:0", cfg)
	require.NoError(t, err)
	t.Cleanup(func() { srv.Close(0, "") })
	var sealed []byte
	opts := []v3.ClientOption{v3.WithCipherSuites(mode), v3.WithExtendedMasterSecret(v3.RequireExtendedMasterSecret),
		v3.WithReplayProtectionWindow(256)}
	if mode == psk {
		tk := issue(t, "pat")
		sealed = tk.Sealed
		opts = append(opts, v3.WithPSK(func([]byte) ([]byte, error) { return tk.Secret[:], nil }), v3.WithPSKIdentityHint(sealed))
	} else {
		opts = append(opts, v3.WithInsecureSkipVerify(true),
			v3.WithVerifyPeerCertificate(func(raw [][]byte, _ [][]*x509.Certificate) error {
				if len(raw) != 1 || sha256.Sum256(raw[0]) != dtls.PinOf(cert) {
					return errors.New("another server's certificate")
				}
				return nil
			}))
	}
	wire := dialBelow(t, srv.LocalAddr().String(), sealed)
	c, err := v3.ClientWithOptions(wire, somewhere{}, opts...)
	require.NoError(t, err)
	them := shake(t, c, wire)
	if mode == ecdsa {
		them.write(t, "\x01pat")
	}
	require.Equal(t, "\x02", them.read(t), "the accept")
	us := &ours{srv, next(t, srv, transport.Connected).Peer}
	var info transport.Info
	require.True(t, srv.Info(us.peer, &info))
	assert.Equal(t, "pat", string(info.Identity))
	assert.True(t, info.Secure)
	return us, them
}

// serverOfTheirs connects a client of ours to a server of the other implementation.
func serverOfTheirs(t *testing.T, mode v3.CipherSuiteID) (*ours, *theirs) {
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	below, err := udp.Listen("127.0.0.1:0", udp.Config{Sealed: true})
	require.NoError(t, err)
	cfg := dtls.Config{Pins: []dtls.Pin{dtls.PinOf(cert)}, Token: []byte("session")}
	opts := []v3.ServerOption{v3.WithCipherSuites(mode), v3.WithExtendedMasterSecret(v3.RequireExtendedMasterSecret),
		v3.WithReplayProtectionWindow(256), v3.WithInsecureSkipVerifyHello(true)}
	if mode == psk {
		tk := issue(t, "pat")
		b, err := tk.MarshalBinary()
		require.NoError(t, err)
		cfg = dtls.Config{Ticket: b}
		g := gate(t)
		opts = append(opts, v3.WithPSKIdentityHint([]byte("foretick")), v3.WithPSK(func(sealed []byte) ([]byte, error) {
			_, secret, err := g.Check(sealed)
			return secret[:], err
		}))
	} else {
		opts = append(opts, v3.WithCertificates(cert))
	}
	cli, err := dtls.Dial(below.LocalAddr().String(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { cli.Close(0, "") })
	wire := accept(t, below)
	c, err := v3.ServerWithOptions(wire, somewhere{}, opts...)
	require.NoError(t, err)
	them := shake(t, c, wire)
	hello := "\x01"
	if mode == ecdsa {
		hello += "session"
	}
	require.Equal(t, hello, them.read(t))
	them.write(t, "\x02")
	return &ours{cli, next(t, cli, transport.Connected).Peer}, them
}

func shake(t *testing.T, c *v3.Conn, wire *carried) *theirs {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, c.HandshakeContext(ctx))
	return &theirs{c, wire}
}

// Each pair of ends agrees on keys with each suite that both have. Each end opens records of the other, of every
// length, and neither accepts changed or repeated ones.
func TestInteroperation(t *testing.T) {
	for _, c := range []struct {
		name    string
		connect func(*testing.T, v3.CipherSuiteID) (*ours, *theirs)
		mode    v3.CipherSuiteID
	}{
		{"their client, PSK", clientOfTheirs, psk},
		{"their client, certificate", clientOfTheirs, ecdsa},
		{"their server, PSK", serverOfTheirs, psk},
		{"their server, certificate", serverOfTheirs, ecdsa},
	} {
		t.Run(c.name, func(t *testing.T) {
			us, them := c.connect(t, c.mode)
			exchange(t, us, them)
			tamper(t, us, them)
			them.write(t, "\x03\x01")
			assert.Equal(t, "\x03\x00", heard(t, them), "an alive")
			require.NoError(t, them.Close()) // sends close_notify
			assert.Equal(t, transport.Closed, next(t, us.ep, transport.Disconnected).Code)
			them.wire.mu.Lock()
			defer them.wire.mu.Unlock()
			for _, b := range append(them.wire.up, them.wire.down...) {
				assert.NotContains(t, string(b), "private")
			}
		})
	}
}

// heard returns the next message from them, except our hellos, which are repeated, and alive messages
// that ask nothing.
func heard(t *testing.T, them *theirs) string {
	t.Helper()
	for {
		if s := them.read(t); s[0] == 0 || s[0] == 3 {
			return s
		}
	}
}

// exchange sends datagrams of many lengths each way, more than a window of them.
func exchange(t *testing.T, us *ours, them *theirs) {
	t.Helper()
	var info transport.Info
	require.True(t, us.ep.Info(us.peer, &info))
	for i := range 400 {
		n := i * info.MTU / 399
		b := make([]byte, n)
		for k := range b {
			b[k] = byte(k * (i + 1))
		}
		copy(b, "private")
		require.NoError(t, us.ep.Send(us.peer, b))
		require.Equal(t, "\x00"+string(b), heard(t, them), "%d bytes to them", n)
		them.write(t, "\x00"+string(b))
		require.Equal(t, string(b), string(next(t, us.ep, transport.Data).Data), "%d bytes to us", n)
	}
}

// tamper changes each byte of a record in turn, and repeats records, both ways.
func tamper(t *testing.T, us *ours, them *theirs) {
	t.Helper()
	them.wire.mu.Lock()
	them.wire.meddle = func(b []byte) (forged [][]byte) {
		for i := 5; i < len(b); i++ { // another type, version, epoch or length ends their session, which our guard prevents
			if i == 11 || i == 12 {
				continue
			}
			f := append([]byte(nil), b...)
			f[i] ^= 0x40
			forged = append(forged, f)
		}
		return append(forged, b)
	}
	them.wire.mu.Unlock()
	for i := range 3 {
		say := fmt.Sprintf("private %d", i)
		require.NoError(t, us.ep.Send(us.peer, []byte(say)))
		require.Equal(t, "\x00"+say, heard(t, them), "only what is authentic, once")
	}
	them.wire.mu.Lock()
	them.wire.meddle, them.wire.hold = nil, true
	them.wire.mu.Unlock()
	before := us.ep.Counters()
	them.write(t, "\x00private word")
	them.wire.mu.Lock()
	last := them.wire.up[len(them.wire.up)-1]
	them.wire.hold = false
	them.wire.mu.Unlock()
	for i := range last {
		f := append([]byte(nil), last...)
		f[i] ^= 0x40
		require.NoError(t, them.wire.ep.Send(them.wire.peer, f))
	}
	for range 6 {
		require.NoError(t, them.wire.ep.Send(them.wire.peer, last))
	}
	require.Equal(t, "private word", string(next(t, us.ep, transport.Data).Data), "only what is authentic, once")
	them.write(t, "\x00private end")
	require.Equal(t, "private end", string(next(t, us.ep, transport.Data).Data), "only what is authentic, once")
	after := us.ep.Counters()
	assert.GreaterOrEqual(t, after.Replayed-before.Replayed, uint64(5))
	assert.EqualValues(t, len(last)-7, after.Forged-before.Forged, "all but type, version, epoch and length, which the guard reads")
	assert.Equal(t, before.Connections, after.Connections)
}

// An end with another secret or another certificate is refused, whether it is the client or the server.
func TestDisagreement(t *testing.T) {
	srv, err := dtls.Listen("127.0.0.1:0", dtls.Config{Gate: gate(t)})
	require.NoError(t, err)
	defer srv.Close(0, "")
	tk := issue(t, "eve")
	wire := dialBelow(t, srv.LocalAddr().String(), tk.Sealed)
	c, err := v3.ClientWithOptions(wire, somewhere{}, v3.WithCipherSuites(psk), v3.WithPSKIdentityHint(tk.Sealed),
		v3.WithPSK(func([]byte) ([]byte, error) { return make([]byte, 32), nil }))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	assert.Error(t, c.HandshakeContext(ctx))
	assert.Zero(t, srv.Counters().Connections)

	// A suite of the other implementation that is not RFC 7905's.
	tk = issue(t, "eve")
	wire = dialBelow(t, srv.LocalAddr().String(), tk.Sealed)
	c, err = v3.ClientWithOptions(wire, somewhere{}, v3.WithCipherSuites(v3.TLS_PSK_WITH_AES_128_GCM_SHA256),
		v3.WithPSKIdentityHint(tk.Sealed), v3.WithPSK(func([]byte) ([]byte, error) { return tk.Secret[:], nil }))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel = context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	assert.Error(t, c.HandshakeContext(ctx))
	assert.Zero(t, srv.Counters().Connections)
}
