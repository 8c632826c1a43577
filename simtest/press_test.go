package simtest_test

import (
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

// armada is a game in which a player predicts more entities than the byte rate allows to send.
type armada struct {
	pos        ecs.Component[position]
	cmd        ecs.Component[move]
	self, ship ecs.Prefab
}

const armadaSize = 24

func (g *armada) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("armada", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.self, "self", &g.pos, &g.cmd)
	p.Prefab(&g.ship, "ship", &g.pos)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.Spawn(&g.self, player)
		for range armadaSize {
			f.Spawn(&g.ship, player)
		}
	})
	p.Shared("sail", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range g.pos.Slice(rows) { // pseudo-random places, the same on both ends
			h := f.Tick*2654435761 + uint32(i)*40503
			g.pos.Slice(rows)[i] = position{X: float32(h>>16)/400 - 80, Y: float32(h&0xffff)/400 - 80}
		}
	}, ecs.Write(&g.pos))
	return p
}

// The byte rate never postpones entities that a player predicts. Even if it is too
// small for them, all come with each snapshot, in compressed packets, and other entities wait.
func TestOwnStateIsPressed(t *testing.T) {
	m := simtest.New(4)
	var truth, cl armada
	srv, err := m.Serve(server.Config{Protocol: truth.protocol(), SendRate: 3000})
	require.NoError(t, err)
	for range 20 {
		srv.Frame().Spawn(&truth.ship, ecs.Nobody)
	}
	link := sim.Link{Latency: 20 * time.Millisecond}
	cli, err := m.Join(client.Config{Protocol: cl.protocol(), Sample: client.Sample(&cl.cmd, func(client.View) move { return move{} })}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(4 * time.Second)
	before, bytes := cli.Stats(), srv.Stats().BytesOut
	m.Run(10 * time.Second)
	st := cli.Stats()
	snapshots := st.Snapshots - before.Snapshots
	per := float64(srv.Stats().BytesOut-bytes) / float64(snapshots)
	t.Logf("%d snapshots of %.0f bytes, %d compared, on a rate of 3000 bytes a second", snapshots, per, st.Compared-before.Compared)
	require.Greater(t, per, 2*3000./30, "more than the rate: else this test sees nothing")
	require.Greater(t, snapshots, uint64(6*30-6), "each is sent")
	require.GreaterOrEqual(t, st.Compared-before.Compared, snapshots*95/100, "and holds all that is predicted")
	require.Zero(t, st.Mispredictions)
}
