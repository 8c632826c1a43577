package dtls_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/dtls/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// spoofs are datagrams that end a session of the library, or try to.
var spoofs = []struct {
	name string
	b    []byte
}{
	{"fatal alert", record(21, 0, 1<<30, 2, 80)},
	{"close_notify", record(21, 0, 1<<30, 1, 0)},
	{"data of epoch 0", record(23, 0, 1<<30, []byte("plain")...)},
	{"unknown type", record(99, 0, 1<<30, 1, 2, 3)},
	{"unknown type of epoch 1", record(99, 1, 1<<30, make([]byte, 40)...)},
	{"heartbeat", record(24, 0, 1<<30, 1, 0xFF, 0xFF)},
	{"bad CCS", record(20, 0, 1<<30, 9)},
	{"long CCS", record(20, 0, 1<<30, 1, 1, 1)},
	{"CCS of epoch 1", record(20, 1, 1<<30, 1)},
	{"forged alert of epoch 1", record(21, 1, 1<<47, make([]byte, 18)...)},
	{"forged data", record(23, 1, 1<<47, make([]byte, 60)...)},
	{"epoch 2", record(23, 2, 1, make([]byte, 60)...)},
	{"epoch 65535", record(22, 65535, 1, make([]byte, 60)...)},
	{"another version", append([]byte{22, 3, 3}, record(22, 0, 9, 1)[3:]...)},
	{"half a header", []byte{22, 0xFE, 0xFD, 0}},
	{"length beyond the end", append(record(22, 0, 7, 1, 2, 3)[:11], 0xFF, 0xFF, 1)},
	{"an empty record", record(22, 0, 1<<30)},
	{"many empty records", bytes.Repeat(record(23, 0, 1<<30), 80)},
	{"half a handshake message", record(22, 0, 1<<30, 1, 0, 0)},
	{"a huge fragmented message", record(22, 0, 1<<30, handshake(11, 3, 1<<24-1, make([]byte, 900)...)...)},
}

// plausible are well-formed handshake records, which the guard passes during a handshake.
var plausible = []struct {
	name string
	b    []byte
}{
	{"hello request", record(22, 0, 1<<30, handshake(0, 0, 0)...)},
	{"client hello", record(22, 0, 1<<30, handshake(1, 0, 80, append([]byte{0xFE, 0xFD}, make([]byte, 78)...)...)...)},
	{"server hello done", record(22, 0, 1<<30, handshake(14, 2, 0)...)},
	{"key exchange", record(22, 0, 1<<30, handshake(16, 1, 10, make([]byte, 10)...)...)},
	{"finished in the clear", record(22, 0, 1<<30, handshake(20, 2, 12, make([]byte, 12)...)...)},
	{"finished, badly protected", record(22, 1, 1<<30, make([]byte, 40)...)},
	{"a right CCS", record(20, 0, 1<<30, 1)},
}

// Records that are forged on the path of a live session, or replayed, change nothing.
func TestSpoofedRecordsEndNothing(t *testing.T) {
	cert := certificate(t)
	for _, mode := range []string{"ticket", "certificate"} {
		t.Run(mode, func(t *testing.T) {
			cfg, client := dtls.Config{}, dtls.Config{}
			if mode == "certificate" {
				cfg.Certificate, client.Pins = cert, []dtls.Pin{dtls.PinOf(*cert)}
			}
			srv := listen(t, cfg)
			a := nettest.NewAttacker(t, addr(srv))
			cli := dial(t, a.Addr(), client)
			toServer, toClient := pair(t, srv, cli)
			talk(t, srv, cli, toServer, toClient)
			before := srv.Counters()
			for _, s := range append(spoofs, plausible...) {
				t.Run(s.name, func(t *testing.T) {
					for range 20 {
						a.Forge(s.b)
					}
					talk(t, srv, cli, toServer, toClient)
				})
			}
			after := srv.Counters()
			assert.Greater(t, after.Guarded, before.Guarded+20*15, "the guard saw none of it")
			assert.Greater(t, after.Forged, before.Forged+20, "nothing was forged")
			assert.Equal(t, before.Connections, after.Connections)
			assert.Equal(t, before.Malformed, after.Malformed)

			up, down := a.Seen()
			replayed := srv.Counters().Replayed
			for _, b := range append(up, down...) { // the connection's own datagrams too
				a.Forge(b)
			}
			talk(t, srv, cli, toServer, toClient)
			assert.Greater(t, srv.Counters().Replayed, replayed)
			assert.Zero(t, cli.Recv(make([]transport.Event, 1)), "what was replayed was heard")
			assert.Zero(t, srv.Recv(make([]transport.Event, 1)))
		})
	}
}

// Records of other kinds that are forged after each datagram of a handshake do not disturb it.
func TestSpoofsDisturbNoHandshake(t *testing.T) {
	srv := listen(t, dtls.Config{})
	for _, s := range spoofs {
		t.Run(s.name, func(t *testing.T) {
			a := nettest.NewAttacker(t, addr(srv))
			a.Meddle(s.b)
			cli := dial(t, a.Addr(), dtls.Config{})
			toServer, toClient := pair(t, srv, cli)
			talk(t, srv, cli, toServer, toClient)
			cli.Close(0, "")
			wait(t, srv, transport.Disconnected)
		})
	}
}

// An attacker who reads the traffic can spoil a handshake in progress with well-formed handshake messages, since
// these are not authenticated before its end. Such messages forge no identity, and cost the server only one
// handshake. They keep the client out for as long as they continue.
func TestForgedHandshakeMessages(t *testing.T) {
	t.Parallel()
	srv := listen(t, dtls.Config{})
	dtls.SetHandshakeTime(srv, time.Second)
	for _, s := range plausible {
		a := nettest.NewAttacker(t, addr(srv))
		a.Meddle(s.b, dtls.Sum(bytes.Clone(s.b))) // a datagram without a checksum is ignored
		cli := dial(t, a.Addr(), dtls.Config{Ticket: issue(t, "ann")})
		dtls.SetHandshakeTime(cli, time.Second)
		var ev [1]transport.Event
		require.Eventually(t, func() bool { return cli.Recv(ev[:]) == 1 }, nettest.Patience, time.Millisecond, s.name)
		t.Logf("%s: the client is %v %q", s.name, ev[0].Kind, ev[0].Reason)
		if ev[0].Kind == transport.Connected {
			var info transport.Info
			require.True(t, srv.Info(wait(t, srv, transport.Connected).Peer, &info))
			assert.Equal(t, "ann", string(info.Identity))
			cli.Close(0, "")
			wait(t, srv, transport.Disconnected)
		}
		cli.Close(0, "")
		a.Stop()
	}
	for begin := time.Now(); dtls.Held(srv) > 0; time.Sleep(5 * time.Millisecond) {
		require.Less(t, time.Since(begin), nettest.Patience, "%d are left of them", dtls.Held(srv))
		srv.Recv(make([]transport.Event, 8))
	}
	cli := dial(t, addr(srv), dtls.Config{})
	toServer, toClient := pair(t, srv, cli)
	talk(t, srv, cli, toServer, toClient)
}

// The transport below can end a connection itself, but its messages are not authentic. They do not end
// a session either.
func TestForgedCloseBelow(t *testing.T) {
	srv := listen(t, dtls.Config{})
	a := nettest.NewAttacker(t, addr(srv))
	cli := dial(t, a.Addr(), dtls.Config{})
	toServer, toClient := pair(t, srv, cli)
	talk(t, srv, cli, toServer, toClient)
	id := a.ID()
	closing := append(append([]byte{0xA9}, id...), 0, byte(transport.Closed), 0)
	closing = nettest.Sum(closing)
	for range 10 {
		a.Inject(closing)
		a.Return(closing)
		a.Return(append([]byte{0xAA}, id...))
		talk(t, srv, cli, toServer, toClient)
	}
	assert.NotZero(t, srv.Unwrap().(*udp.Endpoint).Counters().Unbelieved)
}

// carried is a net.Conn over a udp client, for a DTLS client that is not this package's.
type carried struct {
	ep       *udp.Endpoint
	peer     transport.PeerID
	mu       sync.Mutex
	deadline time.Time
}

func carry(t testing.TB, to string, token []byte) *carried {
	t.Helper()
	ep, err := udp.Dial(to, udp.Config{Token: token})
	require.NoError(t, err)
	t.Cleanup(func() { ep.Close(0, "") })
	return &carried{ep: ep, peer: wait(t, ep, transport.Connected).Peer}
}

func (c *carried) Read(b []byte) (int, error) {
	var ev [1]transport.Event
	for {
		if c.ep.Recv(ev[:]) == 1 {
			if ev[0].Kind == transport.Disconnected {
				return 0, io.EOF
			}
			return copy(b, ev[0].Data), nil
		}
		c.mu.Lock()
		d := c.deadline
		c.mu.Unlock()
		if !d.IsZero() && time.Now().After(d) {
			return 0, os.ErrDeadlineExceeded
		}
		select {
		case <-c.ep.Ready():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (c *carried) Write(b []byte) (int, error) { return len(b), c.ep.Send(c.peer, b) }
func (c *carried) Close() error                { return nil }
func (c *carried) LocalAddr() net.Addr         { return &net.UDPAddr{} }
func (c *carried) RemoteAddr() net.Addr        { return &net.UDPAddr{} }
func (c *carried) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}
func (c *carried) SetWriteDeadline(time.Time) error { return nil }
func (c *carried) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }

// Suites that the server does not offer are refused: the key exchange with which a client makes v2.2.12 panic before
// authentication, the suites with random nonces, and a handshake without the extended master secret.
func TestOtherSuitesAreRefused(t *testing.T) {
	cert := certificate(t)
	for _, c := range []struct {
		name   string
		client *pion.Config
		pins   bool
	}{
		{"ECDHE_PSK", &pion.Config{CipherSuites: []pion.CipherSuiteID{pion.TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256}}, false},
		{"PSK with GCM", &pion.Config{CipherSuites: []pion.CipherSuiteID{pion.TLS_PSK_WITH_AES_128_GCM_SHA256}}, false},
		{"PSK with CCM", &pion.Config{CipherSuites: []pion.CipherSuiteID{pion.TLS_PSK_WITH_AES_128_CCM}}, false},
		{"ECDSA with GCM", &pion.Config{InsecureSkipVerify: true}, true},
		{"no extended master secret", &pion.Config{ExtendedMasterSecret: pion.DisableExtendedMasterSecret,
			CipherSuites: []pion.CipherSuiteID{}, CustomCipherSuites: dtls.Suites(true)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, client := dtls.Config{Accept: nil}, dtls.Config{}
			var sealed []byte
			if c.pins {
				cfg.Certificate, client.Pins = cert, []dtls.Pin{dtls.PinOf(*cert)}
			} else {
				var tk ticket.Ticket
				require.NoError(t, tk.UnmarshalBinary(issue(t, "mallory")))
				sealed = tk.Sealed // a valid ticket with the right secret: the suite alone is the reason for the refusal
				c.client.PSKIdentityHint = sealed
				c.client.PSK = func([]byte) ([]byte, error) { return tk.Secret[:], nil }
			}
			srv := listen(t, cfg)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			c.client.FlightInterval = 50 * time.Millisecond
			conn, err := pion.ClientWithContext(ctx, carry(t, addr(srv), sealed), c.client)
			if err == nil {
				conn.Close()
			}
			require.Error(t, err)
			for begin := time.Now(); srv.Counters().Failed == 0; time.Sleep(5 * time.Millisecond) {
				require.Less(t, time.Since(begin), nettest.Patience, "%+v", srv.Counters())
			}
			pair(t, srv, dial(t, addr(srv), client)) // the server still works, and serves others
		})
	}
}

// A client that uses only the library and this package's suite can connect, send and receive.
func TestInteroperates(t *testing.T) {
	srv := listen(t, dtls.Config{})
	var tk ticket.Ticket
	require.NoError(t, tk.UnmarshalBinary(issue(t, "pat")))
	ctx, cancel := context.WithTimeout(context.Background(), nettest.Patience)
	defer cancel()
	conn, err := pion.ClientWithContext(ctx, carry(t, addr(srv), tk.Sealed), &pion.Config{CipherSuites: []pion.CipherSuiteID{},
		CustomCipherSuites: dtls.Suites(true), PSK: func([]byte) ([]byte, error) { return tk.Secret[:], nil },
		PSKIdentityHint: tk.Sealed, ExtendedMasterSecret: pion.RequireExtendedMasterSecret})
	require.NoError(t, err)
	defer conn.Close()
	p := wait(t, srv, transport.Connected).Peer
	buf := make([]byte, 2000)
	read := func() string {
		n, err := conn.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	assert.Equal(t, "\x02", read(), "the accept")
	for range 300 { // more than the window of accepted sequence numbers
		conn.Write([]byte("\x00from the library"))
		assert.Equal(t, "from the library", string(wait(t, srv, transport.Data).Data))
		require.NoError(t, srv.Send(p, []byte("to it")))
		assert.Equal(t, "\x00to it", read())
	}
	conn.Write([]byte{3, 1})
	assert.Equal(t, "\x03\x00", read(), "an alive")
	conn.Close() // sends close_notify
	assert.Equal(t, transport.Closed, wait(t, srv, transport.Disconnected).Code)
}

// Clients that prove their address and then send nothing, or only their first message, keep no other
// client out and time out.
func TestSilentHandshakes(t *testing.T) {
	costtest.Sockets(t)
	const crowd, began, cutOff = 40, 15, 4 * time.Second
	srv := listen(t, dtls.Config{MaxHandshakes: 16, MaxHandshakesPerAddr: 16})
	dtls.SetHandshakeTime(srv, cutOff)
	hello := record(22, 0, 0, handshake(1, 0, 200, make([]byte, 100)...)...) // half of a hello
	come := func() *carried {
		var tk ticket.Ticket
		require.NoError(t, tk.UnmarshalBinary(issue(t, "mallory")))
		return carry(t, addr(srv), tk.Sealed)
	}
	for range began { // before the others, which would take the places of those that have sent nothing
		come().Write(hello)
	}
	nettest.Until(t, "their handshakes began", func() bool { return srv.Counters().Handshakes >= began })
	for range crowd - began {
		come()
	}
	begin := time.Now()
	cli := dial(t, addr(srv), dtls.Config{})
	toServer, toClient := pair(t, srv, cli)
	t.Logf("behind %d silent clients, %d of which began a handshake: connected in %v", crowd, began, time.Since(begin))
	assert.Less(t, time.Since(begin), cutOff, "it does not wait for them to be cut off")
	talk(t, srv, cli, toServer, toClient)
	nettest.Until(t, "they are cut off", func() bool { return dtls.Links(srv) <= 1 })
	talk(t, srv, cli, toServer, toClient)
}

// When the largest number of handshakes is under way, a new one takes the place of the oldest. One
// address has only a share of them.
func TestHandshakesAreBounded(t *testing.T) {
	srv := listen(t, dtls.Config{MaxHandshakes: 4, MaxHandshakesPerAddr: 4})
	hello := record(22, 0, 0, handshake(1, 0, 200, make([]byte, 100)...)...)
	begin := func(srv *dtls.Endpoint) {
		var tk ticket.Ticket
		require.NoError(t, tk.UnmarshalBinary(issue(t, "mallory")))
		carry(t, addr(srv), tk.Sealed).Write(hello)
	}
	before := runtime.NumGoroutine()
	for range 12 {
		begin(srv)
	}
	met := func() (begun, not uint64) { // a hello that arrives late may have lost its place to a newer one
		c := srv.Counters()
		return c.Handshakes, c.Limited + c.Evicted
	}
	nettest.Until(t, "all are met", func() bool { begun, not := met(); return begun+not >= 12 })
	begun, not := met()
	assert.EqualValues(t, 4, begun)
	assert.EqualValues(t, 8, not)
	nettest.Until(t, "there are two goroutines of each client's, and those of four handshakes", func() bool {
		return runtime.NumGoroutine()-before <= 12*2+4*6
	})
}

func TestHandshakeEviction(t *testing.T) {
	srv := listen(t, dtls.Config{MaxHandshakes: 3, MaxHandshakesPerAddr: 3})
	dtls.ForgetAddrs(srv) // as if each came from another address
	hello := record(22, 0, 0, handshake(1, 0, 200, make([]byte, 100)...)...)
	for range 8 {
		var tk ticket.Ticket
		require.NoError(t, tk.UnmarshalBinary(issue(t, "mallory")))
		carry(t, addr(srv), tk.Sealed).Write(hello)
	}
	nettest.Until(t, "five have lost their places", func() bool { return srv.Counters().Evicted >= 5 })
	assert.EqualValues(t, 5, srv.Counters().Evicted)
	assert.LessOrEqual(t, dtls.Shakes(srv), 3)
	pair(t, srv, dial(t, addr(srv), dtls.Config{}))
}

// 5 000 hellos a second from strangers: the server stores nothing, and a client connects.
func TestSoakHelloFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	srv := listen(t, dtls.Config{})
	sent := nettest.GreetAgain(t, addr(srv), srv, func() transport.Endpoint { return dial(t, addr(srv), dtls.Config{}) }, 32<<20,
		func(b []byte, r *rand.Rand) []byte { return nettest.Hello(b, r.Uint64(), uint64(r.IntN(2))*r.Uint64()) })
	low := srv.Unwrap().(*udp.Endpoint).Counters()
	t.Logf("%d handshakes; below: %d hellos, %d bad cookies", srv.Counters().Handshakes, low.Hellos, low.BadCookie)
	assert.EqualValues(t, 1, srv.Counters().Handshakes)
	assert.Greater(t, low.Hellos, uint64(sent/2))
}

// 100 000 spoofed datagrams a second: ticks continue, no peer is disconnected, nothing grows.
func TestSoakSpoofedFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	d := nettest.Length(t, "a flood of", time.Second, 30*time.Second)
	srv := listen(t, dtls.Config{})
	cli := dial(t, addr(srv), dtls.Config{})
	toServer, toClient := pair(t, srv, cli)
	talk(t, srv, cli, toServer, toClient)
	nettest.Besiege(t, addr(srv), srv, cli, toServer, d, func(b []byte, r *rand.Rand) []byte {
		b = append(b[:0], 0xA0+byte(r.IntN(12)))
		b = binary.BigEndian.AppendUint64(b, r.Uint64())
		return append(b, spoofs[r.IntN(len(spoofs))].b...)
	})
}

// stranger is an address that has proved nothing, and a server that it sends to.
type stranger struct {
	net.Conn
	mark uint64
	buf  [2048]byte
}

func newStranger(t testing.TB, srv *dtls.Endpoint) *stranger {
	t.Helper()
	c, err := net.Dial("udp4", addr(srv))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return &stranger{Conn: c, mark: 1 << 40}
}

// ask sends b and returns how many bytes come back for it. A datagram of an unknown connection follows b; the reply
// to that ends the count.
func (s *stranger) ask(b []byte) (got int) {
	s.mark++
	s.Write(b)
	s.Write(binary.BigEndian.AppendUint64([]byte{0xA4}, s.mark))
	_ = s.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // the server may send no reply
	for {
		n, err := s.Read(s.buf[:])
		if err != nil || n == 9 && s.buf[0] == 0xAA && binary.BigEndian.Uint64(s.buf[1:]) == s.mark {
			return got
		}
		got += n
	}
}

// inputs returns the variants of an input that are tried: as it is, with a valid checksum, and as a
// datagram of a connection.
func inputs(b []byte) [][]byte {
	in := [][]byte{b, append([]byte{0xA4, 1, 2, 3, 4, 5, 6, 7, 8}, b...)}
	if len(b) >= 4 {
		in = append(in, nettest.Sum(bytes.Clone(b[:len(b)-4])))
	}
	return in
}

// corpus returns inputs that found a bug once, or might.
func corpus() (all [][]byte) {
	all = [][]byte{nettest.Hello(nil, 7, 0), nettest.Hello(nil, 7, 9), {}, nettest.Hello(nil, 7, 0)[:1199]}
	for kind := byte(0xA0); kind <= 0xAC; kind++ {
		for _, n := range []int{1, 8, 9, 13, 16, 21, 33, 40, 120} {
			all = append(all, append([]byte{kind}, make([]byte, n-1)...))
		}
	}
	for _, s := range append(spoofs, plausible...) {
		all = append(all, s.b)
	}
	return all
}

// An address that is not proved is sent no more bytes than it sent, whatever these contain.
func TestAmplification(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	s := newStranger(t, listen(t, dtls.Config{HelloRate: 1 << 20}))
	worst, n := 0.0, 0
	for _, c := range corpus() {
		for _, b := range inputs(c) {
			got := s.ask(b)
			n++
			if assert.LessOrEqual(t, got, len(b), "%x", b); len(b) > 0 {
				worst = max(worst, float64(got)/float64(len(b)))
			}
		}
	}
	t.Logf("%d inputs: %.3f × at most", n, worst)
	assert.Positive(t, worst)
}

// FuzzAmplification searches for an input whose reply is longer.
func FuzzAmplification(f *testing.F) {
	s := newStranger(f, listen(f, dtls.Config{HelloRate: 1 << 20}))
	for _, b := range corpus()[:4] { // TestAmplification has the rest
		f.Add(b)
	}
	for _, s := range spoofs {
		f.Add(s.b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range inputs(b[:min(len(b), 1400)]) {
			if got := s.ask(b); got > len(b) {
				t.Fatalf("%d bytes are answered with %d", len(b), got)
			}
		}
	})
}

// A refused client gets the reason, in an authentic message of the server.
func TestTickets(t *testing.T) {
	t.Parallel()
	g := gate(t)
	srv := listen(t, dtls.Config{Gate: g, Accept: func(_ netip.AddrPort, identity []byte) ([]byte, error) {
		switch string(identity) {
		case "eve":
			return nil, &transport.DisconnectError{Code: 300, Reason: "not you"}
		case "ann":
			return []byte("player ann"), nil
		}
		return nil, nil
	}})
	dtls.SetHandshakeTime(srv, time.Second)
	b := issue(t, "ann")
	cli := dial(t, addr(srv), dtls.Config{Ticket: b})
	_, p := pair(t, srv, cli)
	var info transport.Info
	require.True(t, srv.Info(p, &info))
	assert.Equal(t, "player ann", string(info.Identity))
	assert.True(t, info.Secure)
	assert.False(t, info.Ordered)
	assert.Equal(t, 1161, info.MTU)
	refused := func(cfg dtls.Config, code transport.Code, reason string) {
		t.Helper()
		ev := wait(t, dial(t, addr(srv), cfg), transport.Disconnected)
		assert.Equal(t, code, ev.Code)
		assert.Contains(t, ev.Reason, reason)
	}
	refused(dtls.Config{Ticket: b}, transport.Refused, ticket.ErrUsed.Error())
	refused(dtls.Config{Ticket: issue(t, "eve")}, 300, "not you")
	g.Ban([]byte("mallory"), time.Now().Add(time.Hour))
	refused(dtls.Config{Ticket: issue(t, "mallory")}, transport.Refused, ticket.ErrBanned.Error())

	// A valid sealed part without its secret, for example an intercepted one.
	var stolen ticket.Ticket
	require.NoError(t, stolen.UnmarshalBinary(issue(t, "bob")))
	whole := stolen
	stolen.Secret[0]++
	bad, err := stolen.MarshalBinary()
	require.NoError(t, err)
	thief := dial(t, addr(srv), dtls.Config{Ticket: bad})
	time.Sleep(300 * time.Millisecond)
	good, err := whole.MarshalBinary()
	require.NoError(t, err)
	bob := dial(t, addr(srv), dtls.Config{Ticket: good})
	_, p = pair(t, srv, bob)
	require.True(t, srv.Info(p, &info))
	assert.Equal(t, "bob", string(info.Identity), "the thief did not use it up")
	assert.NotEqual(t, transport.None, wait(t, thief, transport.Disconnected).Code)

	for _, cfg := range []dtls.Config{{}, {Ticket: []byte("x"), Pins: []dtls.Pin{{}}}, {Ticket: []byte("nonsense")}} {
		_, err := dtls.Dial("127.0.0.1:1", cfg)
		assert.Error(t, err)
	}
}

// A client refuses a server with another certificate.
func TestPins(t *testing.T) {
	cert, other := certificate(t), certificate(t)
	srv := listen(t, dtls.Config{Certificate: cert, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
		if string(token) != "session 9" {
			return nil, errors.New("no such session")
		}
		return []byte("nine"), nil
	}})
	pins := []dtls.Pin{dtls.PinOf(*other), dtls.PinOf(*cert)}
	cli := dial(t, addr(srv), dtls.Config{Pins: pins, Token: []byte("session 9")})
	toServer, p := pair(t, srv, cli)
	var info transport.Info
	require.True(t, srv.Info(p, &info))
	assert.Equal(t, "nine", string(info.Identity))
	talk(t, srv, cli, toServer, p)
	ev := wait(t, dial(t, addr(srv), dtls.Config{Pins: pins, Token: []byte("session 8")}), transport.Disconnected)
	assert.Equal(t, transport.Refused, ev.Code)
	assert.Equal(t, "no such session", ev.Reason)
	ev = wait(t, dial(t, addr(srv), dtls.Config{Pins: pins[:1], Token: []byte("session 9")}), transport.Disconnected)
	assert.Equal(t, transport.Refused, ev.Code)
	assert.Contains(t, ev.Reason, "certificate")
}

// Nothing private is sent in the clear.
func TestNothingIsReadable(t *testing.T) {
	srv := listen(t, dtls.Config{})
	a := nettest.NewAttacker(t, addr(srv))
	cli := dial(t, a.Addr(), dtls.Config{Ticket: issue(t, "a very private name")})
	toServer, toClient := pair(t, srv, cli)
	require.NoError(t, cli.Send(toServer, []byte("a very private word")))
	wait(t, srv, transport.Data)
	require.NoError(t, srv.Send(toClient, []byte("a very private answer")))
	wait(t, cli, transport.Data)
	up, down := a.Seen()
	assert.Greater(t, len(up)+len(down), 5)
	for _, b := range append(up, down...) {
		assert.False(t, strings.Contains(string(b), "private"))
	}
}
