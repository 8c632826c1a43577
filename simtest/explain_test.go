package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// gauges has a field of each kind whose value looks different from its words on the wire.
type gauges struct {
	Heat  float32 // a float without a step
	Mass  float64
	Turn  [4]float32 `net:"quat,bits=12"`
	Name  string     `net:"max=8"`
	Armed bool
	Fuel  int16   `net:"max=100"`
	X     float32 `net:"min=-8,max=8,step=0.25"`
}

type rig struct {
	gauges ecs.Component[gauges]
	cmd    ecs.Component[move]
	car    ecs.Prefab
	set    func(f *foretick.Frame, g *gauges) // writes the gauges, on the server
}

func (g *rig) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rig", 1)
	p.Component(&g.gauges, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.car, "car", &g.gauges, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.car, player) })
	p.Shared("hold", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.cmd), ecs.Write(&g.gauges))
	p.Server("tune", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			g.set(f.Frame, &g.gauges.Slice(rows)[i])
		}
	}, ecs.Write(&g.gauges))
	return p
}

// A misprediction names the prefab and every field that differed, in its own units:
// a float without a step is a float, and not its bits.
func TestMispredictionListsEveryField(t *testing.T) {
	m := simtest.New(3)
	g := &rig{set: func(f *foretick.Frame, g *gauges) {
		if f.Tick == 90 {
			*g = gauges{Heat: 36.6, Mass: 1.5, Turn: [4]float32{1, 0, 0, 0}, Name: "fox", Armed: true, Fuel: 7, X: -2.5}
		}
	}}
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	var got []prediction.Misprediction
	cg := &rig{}
	link := sim.Link{Latency: 40 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: cg.protocol(), OnMisprediction: func(w prediction.Misprediction) { got = append(got, w) }}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	require.Len(t, got, 1)
	w := got[0]
	require.Equal(t, "car", w.Prefab)
	require.Equal(t, "Heat", w.Field)
	require.InDelta(t, 36.6, w.Actual, 1e-5)
	is := map[string]string{}
	for _, d := range w.Differences {
		require.Equal(t, "car", d.Prefab)
		require.Equal(t, "gauges", d.Component)
		is[d.Field] = fmt.Sprintf("%v → %v", d.Predicted, d.Actual)
	}
	require.Equal(t, "false → true", is["Armed"])
	require.Equal(t, "0 → 7", is["Fuel"])
	require.Equal(t, "0 → -2.5", is["X"])
	require.Equal(t, "0 → 1.5", is["Mass"])
	require.Equal(t, " → fox", is["Name"])
	require.Contains(t, is["Heat"], "0 → 36.59999")
	require.Contains(t, is["Turn"], "→ [1 0 0 0]")
	require.Contains(t, w.String(), `"tune", which only the server runs, changed it in tick 90`)
	require.Contains(t, w.JSON(), `"why":`)
}

// The statistics of both ends print as one line.
func TestStatsRead(t *testing.T) {
	for _, s := range []fmt.Stringer{
		stats.Counters{Ticks: 9}, stats.Player{InputsLate: 9}, stats.Client{Snapshots: 9, Connection: netcode.Stats{Sent: 9}},
		netcode.Stats{Sent: 9}, lagcomp.JudgeStats{Raised: 9}, lagcomp.HistoryStats{Ticks: 9}, sim.PathStats{Lost: 9}, transport.Stats{Sent: 9},
	} {
		require.Contains(t, s.String(), "9", "%T", s)
	}
	st := stats.Client{Mispredictions: 3}
	st.ByCause.Count(prediction.RemoteInput, 3)
	require.Equal(t, "mispredictions 3, by cause (remote_input 3)", st.String())
}
