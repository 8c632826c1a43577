package udp_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// TestNarrowPath: on a path that drops long datagrams, such as some tunnels, a client's error names
// the size that the path must carry.
func TestNarrowPath(t *testing.T) {
	for _, c := range []struct {
		carries int
		code    transport.EventKind
	}{{1199, transport.Disconnected}, {1200, transport.Connected}} {
		srv, err := udp.Listen("127.0.0.1:0", udp.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = srv.Close(0, "") })
		front, err := net.ListenPacket("udp4", "127.0.0.1:0")
		require.NoError(t, err)
		back, err := net.Dial("udp4", srv.LocalAddr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = front.Close(), back.Close() })
		go func() {
			buf := make([]byte, 2048)
			answers := false
			for {
				n, from, err := front.ReadFrom(buf)
				if err != nil {
					return
				}
				if n > c.carries {
					continue
				}
				_, _ = back.Write(buf[:n])
				if answers {
					continue
				}
				answers = true
				go func() {
					buf := make([]byte, 2048)
					for {
						n, err := back.Read(buf)
						if err != nil {
							return
						}
						if n <= c.carries {
							_, _ = front.WriteTo(buf[:n], from)
						}
					}
				}()
			}
		}()
		cli, err := udp.Dial(front.LocalAddr().String(), udp.Config{Timeout: 500 * time.Millisecond})
		require.NoError(t, err)
		t.Cleanup(func() { _ = cli.Close(0, "") })
		ev := nettest.Next(t, cli, c.code)
		if c.code == transport.Disconnected {
			require.Equal(t, transport.Timeout, ev.Code)
			require.Contains(t, ev.Reason, "payloads of 1200 bytes")
			require.Equal(t, 1200, transport.MaxDatagram)
			require.LessOrEqual(t, len(ev.Reason), transport.MaxReason)
		}
	}
}
