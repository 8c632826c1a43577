package shottest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// hop interpolates between two values along an arch, which no tag can do.
func hop(from, to kite, t float32) kite {
	from.Line += float32((to.Line - from.Line) * t)
	from.Y = from.Line
	from.X = from.Line + float32(2*t*(1-t))
	return from
}

// TestOwnInterpolationIsJudgedWhereDrawn: screens draw a target with the game's own interpolation,
// and shots at it are judged where it is drawn.
func TestOwnInterpolationIsJudgedWhereDrawn(t *testing.T) {
	m := simtest.New(3)
	truth, cl := kites{own: true}, kites{own: true}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol(30), SnapshotRate: 15})
	require.NoError(t, err)
	for n := range kiteCount {
		truth.kite.Get(srv.World(), srv.Frame().Spawn(&truth.prefab, ecs.Nobody)).N = uint8(n)
	}
	judged, drawn := map[foretick.Tick]map[uint8]pictured{}, map[foretick.Tick]map[uint8]pictured{}
	truth.seen = func(f *foretick.Frame, by foretick.PlayerID) { judged[f.Tick] = truth.frame(f.World, f.Rewind(by)) }
	var cli *client.Client
	cl.drawn = func(f *foretick.Frame) { drawn[f.Tick] = cl.frame(f.World, f.Rewind(cli.View().Player)) }
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	arches := 0
	cli, err = m.Join(client.Config{Protocol: cl.protocol(30), Sample: client.Sample(&cl.cmd, func(v client.View) whistle {
		return whistle{Blow: v.Tick%2 == 0 && m.Net.Now() > 6*time.Second}
	})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
		for _, rows := range cl.all.All(v.World) {
			for _, k := range cl.kite.Slice(rows) {
				if k.X != k.Line && k.Y == k.Line {
					arches++
				}
			}
		}
	}})
	require.NoError(t, err)
	m.Run(16 * time.Second)
	require.Greater(t, arches, 1000, "the screen shows them")
	compared, bent := 0, 0
	for tick, all := range drawn {
		for n, saw := range all {
			was, ok := judged[tick][n]
			if !ok || saw.held {
				continue
			}
			if compared++; saw.kite.X-saw.kite.Line > 0.1 {
				bent++
			}
			require.LessOrEqual(t, math.Abs(float64(saw.kite.X-was.kite.X)), placeStep, "tick %d", tick)
			require.LessOrEqual(t, distance(saw.hitboxes[0], was.hitboxes[0]), placeStep, "tick %d", tick)
		}
	}
	t.Logf("%d compared, %d of them in an arch", compared, bent)
	require.Greater(t, compared, 500)
	require.Greater(t, bent, compared/2)
}
