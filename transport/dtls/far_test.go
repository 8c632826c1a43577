package dtls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
)

// A client with a round trip of two seconds connects, by ticket and by certificate, even where
// every tenth datagram is lost. In the short form all times are a tenth.
func TestFarClientsGetIn(t *testing.T) {
	trip := nettest.Length(t, "a round trip of", 200*time.Millisecond, 2*time.Second)
	cert := certificate(t)
	for _, mode := range []string{"ticket", "certificate"} {
		for _, loss := range []float64{0, 0.1} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				cfg, client := dtls.Config{}, dtls.Config{}
				if mode == "certificate" {
					cfg.Certificate, client.Pins = cert, []dtls.Pin{dtls.PinOf(*cert)}
				}
				srv := listen(t, cfg)
				dtls.SetHandshakeTime(srv, dtls.HandshakeTime*trip/(2*time.Second))
				link := sim.Link{Latency: trip / 2, Loss: loss}
				proxy, err := impair.NewProxy("127.0.0.1:0", addr(srv), link, link, 7)
				require.NoError(t, err)
				t.Cleanup(func() { proxy.Close() })
				begin := time.Now()
				cli := dial(t, proxy.Addr().String(), client)
				dtls.SetHandshakeTime(cli, dtls.HandshakeTime*trip/(2*time.Second))
				var ev [1]transport.Event
				nettest.Until(t, "there is an answer", func() bool { return cli.Recv(ev[:]) == 1 })
				require.Equal(t, transport.Connected, ev[0].Kind, "%v %q", ev[0].Code, ev[0].Reason)
				t.Logf("%.1f round trips, at a loss of %.1f", float64(time.Since(begin))/float64(trip), loss)
				wait(t, srv, transport.Connected)
				assert.Zero(t, srv.Counters().Failed)
			})
		}
	}
}

// As many clients as a server lets wait may do a handshake at the same time from one address: a LAN
// party starts together.
func TestHandshakesOfOneAddress(t *testing.T) {
	t.Parallel()
	srv := listen(t, dtls.Config{})
	hello := record(22, 0, 0, handshake(1, 0, 200, make([]byte, 100)...)...)
	for range 33 {
		var tk ticket.Ticket
		require.NoError(t, tk.UnmarshalBinary(issue(t, "guest")))
		carry(t, addr(srv), tk.Sealed).Write(hello)
	}
	nettest.Until(t, "all are met", func() bool { return srv.Counters().Handshakes+srv.Counters().Limited >= 33 })
	assert.EqualValues(t, 32, srv.Counters().Handshakes)
}
