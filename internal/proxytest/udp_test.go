//go:build unix

package proxytest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// TestStream: nginx in front of UDP carries a match, and goes on when it reads its settings again: to
// the server that is a client with another address.
func TestStream(t *testing.T) {
	costtest.Sockets(t)
	needs(t, "nginx", "-v")
	module := releasetest.NginxStream(t)
	t.Parallel()
	usual := guide("udp.conf")
	for name, settings := range map[string]string{"as the guide has it": usual, "a timeout of 1 s": strings.ReplaceAll(usual, "10m", "1s")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := udp.Listen("127.0.0.1:0", udp.Config{})
			require.NoError(t, err)
			srv := host(t, e)
			stream := nginxUDP
			stream.config = strings.ReplaceAll(stream.config, "$STREAM", module)
			p := stream.run(t, strings.ReplaceAll(settings, "$UP", e.LocalAddr().String()))
			c := join(t, false, func() (transport.Endpoint, error) { return udp.Dial(p.addr(), udp.Config{Timeout: 20 * time.Second}) })
			require.True(t, c.play(20*time.Second, c.plays), "%v", c.View().Err)
			for range 3 {
				require.True(t, c.play(time.Second, nil))
				p.reload()
			}
			require.True(t, c.play(2*time.Second, nil))
			require.True(t, c.plays(), "%v", c.View().Err)
			require.Equal(t, []string{"joined"}, c.game.names)
			require.Zero(t, srv.Stats().Resumed)
			t.Logf("nginx, UDP, %s: plays; %d moves to other addresses", name, e.Counters().Challenges)
		})
	}
}
