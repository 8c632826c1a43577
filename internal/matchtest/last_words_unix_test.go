//go:build unix

package matchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// TestLastRequestOverRealTransports: over UDP, Close waits for a round trip. Over a WebSocket the
// closing packet follows the request.
func TestLastRequestOverRealTransports(t *testing.T) {
	costtest.Sockets(t)
	for _, kind := range []string{"udp", "ws"} {
		t.Run(kind, func(t *testing.T) {
			for n := range uint32(5) {
				end, addr, err := listenAt(kind, "127.0.0.1:0", "")
				require.NoError(t, err)
				var served, played talker
				srv, err := server.New(server.Config{Protocol: served.protocol(), Transport: end})
				require.NoError(t, err)
				done := make(chan struct{})
				stop := make(chan struct{})
				go func() {
					defer close(done)
					for {
						select {
						case <-stop:
							_ = srv.Close("")
							return
						default:
							srv.Step(time.Now())
							time.Sleep(time.Millisecond)
						}
					}
				}()
				var dialled transport.Endpoint
				if kind == "udp" {
					dialled, err = udp.Dial(addr, udp.Config{})
				} else {
					dialled, err = ws.Dial("ws://"+addr+"/", ws.Config{})
				}
				require.NoError(t, err)
				cli, err := client.New(client.Config{Protocol: played.protocol(), Transport: dialled})
				require.NoError(t, err)
				for until := time.Now().Add(20 * time.Second); cli.Step(time.Now()).State != client.Playing && time.Now().Before(until); {
					time.Sleep(time.Millisecond)
				}
				require.NoError(t, played.Asked.Send(cli, thing{n}))
				require.NoError(t, cli.Close())
				time.Sleep(200 * time.Millisecond)
				close(stop)
				<-done
				require.Equal(t, []uint32{n}, served.heard, fmt.Sprint(n))
			}
		})
	}
}
