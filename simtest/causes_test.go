package simtest_test

import (
	"flag"
	"math/rand"
	"strings"
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
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var (
	global    int
	shuffled  = map[int]float32{1: 0.125, 2: 0.25, 3: 0.375, 4: 0.5, 5: 0.625}
	checkRuns = flag.Int("check.seeds", costtest.Count(2, 10), "seeds of TestCheckIsSilentOnASoundGame; 300 before a release")
)

// TestCheckFailsOnCode: the README's one test of a game fails when a shared system is not
// reproducible, and says which one and why.
func TestCheckFailsOnCode(t *testing.T) {
	for name, row := range map[string]struct {
		by   func(f *foretick.Frame, g *planted, rows ecs.Rows, i int) float32
		want []string
	}{
		"chance": {func(*foretick.Frame, *planted, ecs.Rows, int) float32 { return rand.Float32() },
			[]string{`"planted"`}},
		"a map": {func(*foretick.Frame, *planted, ecs.Rows, int) float32 {
			for _, v := range shuffled {
				return v
			}
			return 0
		}, []string{`"planted"`}},
		"a global counter": {func(*foretick.Frame, *planted, ecs.Rows, int) float32 { global++; return float32(global%7) / 8 },
			[]string{`"planted"`}},
		"a clock": {func(*foretick.Frame, *planted, ecs.Rows, int) float32 {
			return float32(time.Now().UnixNano()/64%64) / 64
		},
			[]string{`"planted"`}},
		"the server alone": {func(f *foretick.Frame, _ *planted, _ ecs.Rows, _ int) float32 {
			if f.IsServer() && f.Tick%16 == 0 {
				return 0.5
			}
			return 0
		}, []string{"code:", "position.X"}}, // replays give the same each time: only the server's values show the fault
	} {
		t.Run(name, func(t *testing.T) {
			plan := simtest.Plan{Clients: 2, Play: 8 * time.Second, Links: []sim.Link{sim.WiFi}, New: func() simtest.Player {
				return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
					nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 { return row.by(f, g, rows, i) })
				})
			}}
			out, err := plan.Run(1)
			var fault *simtest.Fault
			require.ErrorAs(t, err, &fault)
			require.IsType(t, &simtest.Causes{}, fault.Checker, "%v", err)
			for _, w := range row.want {
				require.ErrorContains(t, err, w)
			}
			if name == "the server alone" {
				require.Positive(t, out.Causes.Of(prediction.Code))
				require.Contains(t, out.String(), "code ")
				if debugging {
					require.ErrorContains(t, err, `system "planted" computed something else`)
				} else {
					require.ErrorContains(t, err, "the same code computed something else")
					require.ErrorContains(t, err, "-tags foretick_debug")
				}
			}
		})
	}
}

// Clients' corrections find code that differs only on the server. Replays find code that is not
// reproducible. Each check works without the other.
func TestCheckFindsCodeBothWays(t *testing.T) {
	plan := simtest.Plan{Clients: 2, Play: 8 * time.Second, Links: []sim.Link{sim.WiFi}, SyncTest: -1, New: func() simtest.Player {
		return (&planted{}).End(func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return rand.Float32() })
		})
	}}
	_, err := plan.Run(1)
	require.ErrorContains(t, err, "code:")
	plan.SyncTest = 0
	_, err = plan.Run(1)
	if !debugging { // if both ends hash the state after each system, the first correction names it
		require.ErrorContains(t, err, "ran again with another outcome")
	}
	require.ErrorContains(t, err, `"planted"`)
}

// shed is a game without faults in which much happens that clients cannot predict: players push
// a crate and each other, and the server moves them in a system and on their requests.
type shed struct {
	pos    ecs.Component[position]
	crate  ecs.Component[tile]
	cmd    ecs.Component[move]
	ask    foretick.Request[tick]
	body   ecs.Prefab
	box    ecs.Prefab
	crates *ecs.Query
	bodies *ecs.Query
	rest   bool
	asked  uint32
}

func (g *shed) player() simtest.Player {
	p := foretick.NewProtocol("shed", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.crate, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.Prefab(&g.box, "box", &g.crate)
	bodies := map[foretick.PlayerID]ecs.Entity{}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { bodies[player] = f.Spawn(&g.body, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X = min(max(pos[i].X+cmd[i].X*5*f.DT, -90), 90)
			if cmd[i].X < -0.9 && !g.rest {
				g.shove(f, rows.Owner(), pos[i].X)
			}
			for _, crates := range g.crates.All(f.World) {
				for k, c := 0, g.crate.Slice(crates); k < len(c); k++ {
					if cmd[i].X > 0.5 && uint32(c[k].At) == f.Tick%4 {
						c[k].Colour += uint8(pos[i].X)
					}
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.WriteOther(&g.crate, &g.pos))
	p.Server("stun", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i := range pos {
			if !g.rest && (f.Tick+rows.Entity(i).Index())%41 == 0 {
				pos[i].Y = -pos[i].Y + 1
			}
		}
	}, ecs.Write(&g.pos))
	g.ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v tick) {
		if at := g.pos.Find(f.World, bodies[player]); at != nil {
			at.Y = float32(v.N % 50)
		}
	})
	g.crates, g.bodies = p.Query(ecs.With(&g.crate)), p.Query(ecs.With(&g.pos))
	return simtest.Player{
		Protocol: p,
		Begin: func(s *server.Server) {
			for k := range 4 {
				g.crate.Get(s.World(), s.Frame().Spawn(&g.box, ecs.Nobody)).At = uint8(k)
			}
		},
		Act: func(c *client.Client) {
			if c.View().Tick%17 == 0 && g.ask.Send(c, tick{g.asked}) == nil {
				g.asked++
			}
		},
		Rest: func(on bool) { g.rest = on },
		Sample: client.Sample(&g.cmd, func(v client.View) move {
			return move{X: float32((v.Tick+uint32(v.Player)*13)*7919%257)/128 - 1}
		}),
	}
}

// shove pushes all other players nearby.
func (g *shed) shove(f *foretick.Frame, player foretick.PlayerID, x float32) {
	for _, rows := range g.bodies.All(f.World) {
		for k, pos := 0, g.pos.Slice(rows); k < len(pos) && rows.Owner() != player; k++ {
			if d := pos[k].X - x; d > -1 && d < 1 {
				pos[k].Y = min(max(pos[k].Y+0.25, -90), 90)
			}
		}
	}
}

// TestKicksAreNoCode: when the server kicks players and others join, no correction gets the cause
// Code.
func TestKicksAreNoCode(t *testing.T) {
	for seed := range uint64(costtest.Count(1, 3)) {
		m, causes := simtest.New(seed), &simtest.Causes{}
		m.Watch(causes, &simtest.Agreement{})
		srv := (&shed{}).player()
		s, err := m.Serve(server.Config{Protocol: srv.Protocol})
		require.NoError(t, err)
		srv.Begin(s)
		kicks := 0
		var join func()
		join = func() {
			p := (&shed{}).player()
			_, err := m.Join(client.Config{Protocol: p.Protocol, Sample: p.Sample}, simtest.Seat{SyncTest: 4, Up: sim.LTE, Down: sim.LTE,
				After: func(v client.View) {
					if v.State == client.Closed {
						kicks++
						m.Net.At(m.Net.Now()+100*time.Millisecond, join)
					}
				}})
			require.NoError(t, err)
		}
		for range 3 {
			join()
		}
		for at := 3 * time.Second; at < 20*time.Second; at += 700 * time.Millisecond {
			m.Net.At(at, func() {
				if player := s.Players(nil); len(player) > 0 {
					s.Frame().Kick(player[m.Rand().IntN(len(player))].ID, transport.FirstUserCode, "enough")
				}
			})
		}
		m.Run(22 * time.Second)
		require.NoError(t, m.Err())
		require.Greater(t, kicks, 15)
		require.Positive(t, causes.Corrections.Of(prediction.Input)+causes.Corrections.Of(prediction.RemoteInput))
	}
}

// TestCheckIsSilentOnASoundGame: whatever the network, the processes, the players and the
// server do, no correction gets the cause Code.
func TestCheckIsSilentOnASoundGame(t *testing.T) {
	causes := prediction.ByCause{}
	for seed := range uint64(*checkRuns) {
		plan := everything()
		plan.New, plan.Play = func() simtest.Player { return (&shed{}).player() }, 20*time.Second
		plan.SyncTest = int(seed % 7)
		out, err := plan.Run(1 + seed)
		require.NoError(t, err, "seed %d", 1+seed)
		causes.Add(out.Causes)
		require.Contains(t, strings.Join(out.Worked, ";"), "causes:")
	}
	t.Log(causes)
	require.Zero(t, causes.Of(prediction.Code))
	for _, c := range []prediction.Cause{prediction.Input, prediction.ServerEffect, prediction.RemoteInput} {
		require.Positive(t, causes.Of(c), "%v never happened", c)
	}
}
