package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// If both ends have different architectures, a correction with the cause Code names them, and
// says how to find the reason.
func TestCodeBetweenArchitectures(t *testing.T) {
	for _, same := range []bool{false, true} {
		m := simtest.New(4)
		g := &crates{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		probe.OfServer(srv).SetArchitecture("amd64")
		srv.Frame().Spawn(&g.crate, ecs.Nobody)
		link := sim.Link{Latency: 50 * time.Millisecond}
		cg, codes := &crates{bias: true}, 0
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			return move{Y: float32(v.Tick/20%2)*2 - 1}
		}), OnMisprediction: func(w prediction.Misprediction) {
			if w.Cause != prediction.Code || same {
				require.Empty(t, w.Architecture+w.ServerArchitecture)
				require.NotContains(t, w.Why(), "foretick-vet")
				return
			}
			codes++
			require.Equal(t, []string{"arm64", "amd64"}, []string{w.Architecture, w.ServerArchitecture})
			for _, says := range []string{"runs on arm64", "server on amd64", "x*y + z", "foretick-vet", "SyncTest"} {
				require.Contains(t, w.Why(), says)
			}
			require.Contains(t, w.JSON(), `"architecture":"arm64","server_architecture":"amd64"`)
		}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		probe.OfClient(c).SetArchitecture("arm64")
		if same {
			probe.OfClient(c).SetArchitecture("amd64")
		}
		m.Run(5 * time.Second)
		require.Positive(t, c.Stats().ByCause.Of(prediction.Code))
		require.Equal(t, same, codes == 0)
	}
}
