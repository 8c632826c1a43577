package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// laps is a game with state of the match: a score that an event's handler writes, and a pace
// that a server system changes and the shared system reads.
type laps struct {
	pos   ecs.Component[footing]
	cmd   ecs.Component[lunge]
	body  ecs.Prefab
	lap   foretick.Event[crossing]
	score ecs.Singleton[lapScore]
	pace  ecs.Singleton[lapPace]

	paced bool
	left  ecs.Singleton[lapsLeft] // counted down by a shared system if clock is set
	clock bool
	laps  uint32 // number of laps that the event's handler counted
}

type (
	lapScore struct{ Laps, Ticks uint32 }
	lapsLeft struct{ Ticks uint32 }
	lapPace  struct {
		Metres float32 `net:"min=0,max=2,step=0.01"`
	}
)

func (g *laps) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("laps", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Singleton(&g.score)
	access := []ecs.Access{ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.Partial()}
	if g.paced {
		p.Singleton(&g.pace, foretick.Predicted())
		access = append(access, ecs.Read(&g.pace))
		p.Server("pace", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%30 == 1 {
				g.pace.Get(f.World).Metres = 1 + float32(f.Tick/30%5)/5
			}
		}, ecs.Once(), ecs.Write(&g.pace), ecs.Before("run"))
	}
	if g.clock {
		p.Singleton(&g.left, foretick.Predicted())
		access = append(access, ecs.Read(&g.left))
		p.Shared("countdown", func(f *foretick.Frame, _ ecs.Rows) { g.left.Get(f.World).Ticks++ }, ecs.Once(), ecs.Write(&g.left), ecs.Before("run"))
	}
	p.Prefab(&g.body, "runner", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd, metres := g.pos.Slice(rows), g.cmd.Slice(rows), float32(1)
		if g.paced {
			metres = g.pace.Get(f.World).Metres
		}
		if g.clock && g.left.Get(f.World).Ticks%40 < 10 {
			return // players pause in 10 of 40 ticks of the clock, also when the tick runs again
		}
		for i := range pos {
			was := int32(pos[i].X)
			pos[i].X = min(max(pos[i].X+cmd[i].Move*metres*6*f.DT, -90), 90)
			if is := int32(pos[i].X); is != was {
				g.lap.Raise(f, rows.Entity(i), crossing{f.Tick, is})
			}
		}
	}, access...)
	g.lap.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, _ crossing) {
		g.laps++
		g.score.Get(f.World).Laps++
	}, ecs.Write(&g.score))
	p.Server("clock", func(f *foretick.ServerFrame, _ ecs.Rows) { g.score.Get(f.World).Ticks = f.Tick }, ecs.Once(), ecs.Write(&g.score))
	return p
}

// Singletons that no command changes in a shared system work together with late inputs and partial
// ticks. Every client has the server's state in every snapshot, and only different inputs cause
// corrections.
func TestSingletonsBesideLateInputsAndPartialTicks(t *testing.T) {
	for name, game := range map[string]laps{"scored": {}, "paced": {paced: true}, "clocked": {clock: true}} {
		for seed := range uint64(costtest.Count(1, 3)) {
			var wrong []prediction.Misprediction
			m, g := simtest.New(seed), &laps{paced: game.paced, clock: game.clock}
			srv, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: 200 * time.Millisecond, Share: 0.1}})
			require.NoError(t, err)
			m.Watch(&simtest.Agreement{})
			var clients []*client.Client
			var games []*laps
			for n := range 3 {
				cg := &laps{paced: game.paced, clock: game.clock}
				c, err := m.Join(client.Config{Protocol: cg.protocol(), PartialTicks: true,
					Sample: client.Sample(&cg.cmd, func(v client.View) lunge { return lunge{Move: wave(n*5, v).Move} }),
					OnMisprediction: func(w prediction.Misprediction) {
						wrong = append(wrong, w)
					}}, simtest.Seat{Up: sim.LTE, Down: sim.LTE})
				require.NoError(t, err)
				clients, games = append(clients, c), append(games, cg)
			}
			m.Run(40 * time.Second)
			require.NoError(t, m.Err())
			for i, c := range clients {
				require.Equal(t, client.Playing, c.View().State)
				require.InDelta(t, g.score.Get(srv.World()).Laps, games[i].score.Get(c.View().World).Laps, 20, "the score arrives")
			}
			require.Equal(t, g.laps, g.score.Get(srv.World()).Laps, "a handler runs once for each event")
			require.Greater(t, g.laps, uint32(80))
			st := srv.Stats()
			require.Greater(t, st.InputsRerun, uint64(10), "late inputs ran")
			causes := map[string]int{}
			for _, w := range wrong {
				causes[w.Cause.String()]++
			}
			t.Logf("%s: %d laps, %d inputs ran late, corrections %v", name, g.laps, st.InputsRerun, causes)
			require.Zero(t, causes["code"], "%v", wrong)
		}
	}
}
