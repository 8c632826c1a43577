package udp

import (
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// TestFarNames: a server whose reply arrives only after the next address of its name was tried is still
// connected, whichever of the addresses is its own.
func TestFarNames(t *testing.T) {
	t.Parallel()
	const oneWay = 650 * time.Millisecond
	for name, addrs := range map[string][]string{"the first": {"127.0.0.1", "127.0.0.2"}, "the last": {"127.0.0.2", "127.0.0.1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, err := Listen("127.0.0.1:0", Config{})
			require.NoError(t, err)
			defer srv.Close(0, "")
			port := delayed(t, srv.LocalAddr(), oneWay)
			silent, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.2", strconv.Itoa(int(port))))
			require.NoError(t, err)
			defer silent.Close()
			e, err := dialBy("far.example:"+strconv.Itoa(int(port)), Config{Timeout: 8 * time.Second}, func(*Endpoint, string) (out []netip.Addr, err error) {
				for _, a := range addrs {
					out = append(out, netip.MustParseAddr(a))
				}
				return out, nil
			}, openTo)
			require.NoError(t, err)
			var ev [1]transport.Event
			nettest.Until(t, "it is connected with", func() bool { return e.Recv(ev[:]) == 1 })
			assert.Equal(t, transport.Connected, ev[0].Kind, "%v", ev[0].Code)
			e.mu.Lock()
			assert.Empty(t, e.dial.parked)
			e.mu.Unlock()
			assert.NoError(t, e.Close(0, ""))
		})
	}
}

// delayed relays datagrams between a port and a server, in both directions, with a delay.
func delayed(t *testing.T, server netip.AddrPort, by time.Duration) (port uint16) {
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	back, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server))
	require.NoError(t, err)
	t.Cleanup(func() { front.Close(); back.Close() })
	clients := make(chan netip.AddrPort, 1)
	go func() {
		var last netip.AddrPort
		for buf := make([]byte, 2048); ; {
			n, from, err := front.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			if from != last {
				last = from
				select {
				case <-clients:
				default:
				}
				clients <- from
			}
			b := append([]byte(nil), buf[:n]...)
			time.AfterFunc(by, func() { _, _ = back.Write(b) })
		}
	}()
	go func() {
		var client netip.AddrPort
		for buf := make([]byte, 2048); ; {
			n, err := back.Read(buf)
			if err != nil {
				return
			}
			select {
			case client = <-clients:
			default:
			}
			b, to := append([]byte(nil), buf[:n]...), client
			time.AfterFunc(by, func() { _, _ = front.WriteToUDPAddrPort(b, to) })
		}
	}()
	return front.LocalAddr().(*net.UDPAddr).AddrPort().Port()
}
