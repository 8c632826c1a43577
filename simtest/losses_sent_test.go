package simtest_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type crank struct {
	Pull float32 `net:"min=-1,max=1,step=0.01"`
	Aim  float32 `net:"angle,bits=10"`
	Zoom float64
}

type order struct {
	Cups uint8 `net:"max=10"`
}

type receipt struct {
	Price int32 `net:"min=0,max=99"`
	Tax   [2]float32
}

type gauge struct {
	Turn [4]float32 `net:"quat,slerp"`
	Hand float32    `net:"angle,bits=10"`
}

// kiosk is a game whose players, and whose server, send values that their tags do not allow.
type kiosk struct {
	gauge   ecs.Component[gauge]
	cmd     ecs.Component[crank]
	order   foretick.Request[order]
	receipt foretick.Message[receipt]
	body    ecs.Prefab
	too     bool // values are beyond their tags
}

func (g *kiosk) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("kiosk", 1)
	p.Component(&g.gauge, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.gauge, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("spin", func(f *foretick.Frame, rows ecs.Rows) {
		for i, d := 0, g.gauge.Slice(rows); i < len(d); i++ {
			if d[i].Turn, d[i].Hand = aboutZ(float64(f.Tick)/9), float32(f.Tick); g.too && f.Tick%10 == 0 {
				d[i].Turn[1], d[i].Hand = float32(math.NaN()), float32(math.Inf(1))
			}
		}
	}, ecs.Write(&g.gauge))
	price := func() int32 {
		if g.too {
			return 100
		}
		return 99
	}
	tax := func() (t [2]float32) {
		if g.too {
			t[1] = float32(math.Inf(1))
		}
		return t
	}
	p.Server("till", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick%10 == 0 {
			g.receipt.Broadcast(f, receipt{price(), tax()})
		}
	}, ecs.Once())
	g.order.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, o order) {
		_ = g.receipt.Send(f, player, receipt{Price: -price() / 100})
	})
	g.receipt.OnClient(p, func(*foretick.Frame, foretick.Tick, receipt) {})
	return p
}

// Losses of commands, requests, messages and rotations are counted and named like those of
// components. Values that fit their tags are not.
func TestLossesOfWhatIsSent(t *testing.T) {
	for _, too := range []bool{false, true} {
		m := simtest.New(1)
		srv, err := m.Serve(server.Config{Protocol: (&kiosk{too: too}).protocol()})
		require.NoError(t, err)
		g := &kiosk{too: too}
		link := sim.Link{Latency: 30 * time.Millisecond}
		var c *client.Client
		c, err = m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(client.View) crank {
			if too {
				return crank{1.5, float32(math.NaN()), math.Inf(-1)}
			}
			return crank{-1, 400, math.MaxFloat64}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State == client.Playing && v.Tick%20 == 0 {
				cups := order{10}
				if too {
					cups.Cups++
				}
				_ = g.order.Send(c, cups)
			}
		}})
		require.NoError(t, err)
		m.Run(5 * time.Second)
		require.NoError(t, m.Err())
		if !too {
			require.Empty(t, srv.Losses(nil))
			require.Empty(t, c.Losses(nil))
			require.Zero(t, srv.Stats().ValuesOutside+c.Stats().ValuesOutside)
			continue
		}
		type field struct{ component, field, system string }
		found := map[field]uint64{}
		for _, l := range srv.Losses(nil) {
			found[field{l.Component, l.Field, l.System}] += l.Outside
		}
		spin, till, asked := "", "", ""
		if debugging {
			spin, till, asked = "spin", "till", "request order"
		}
		t.Log(found)
		require.InDelta(t, 14, found[field{"gauge", "Turn", spin}], 3)
		require.Equal(t, found[field{"gauge", "Turn", spin}], found[field{"gauge", "Hand", spin}])
		require.Greater(t, found[field{"receipt", "Price", till}], uint64(10))
		require.Positive(t, found[field{"receipt", "Price", asked}])
		require.Greater(t, found[field{"receipt", "Tax[1]", till}], uint64(10))
		require.Len(t, found, map[bool]int{false: 4, true: 5}[debugging])
		clear(found)
		for _, l := range c.Losses(nil) {
			found[field{l.Component, l.Field, l.System}] += l.Outside
		}
		t.Log(found)
		require.Greater(t, found[field{"crank", "Pull", ""}], uint64(100), "once a tick")
		require.Equal(t, found[field{"crank", "Pull", ""}], found[field{"crank", "Aim", ""}])
		require.Equal(t, found[field{"crank", "Pull", ""}], found[field{"crank", "Zoom", ""}])
		require.Positive(t, found[field{"order", "Cups", ""}])
		require.Positive(t, found[field{"gauge", "Turn", spin}])
		require.Len(t, found, 6)
		require.Less(t, c.Stats().ValuesOutside, uint64(300))
	}
}

// Both tests of a game fail and name the fields whose values do not fit. Check passes and
// logs them if the plan allows them.
func TestChecksNameLosses(t *testing.T) {
	player := func(too bool) func() simtest.Player {
		return func() simtest.Player {
			g := &kiosk{too: too}
			pull := float32(1)
			if too {
				pull = 1.5
			}
			return simtest.Player{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(client.View) crank { return crank{Pull: pull} })}
		}
	}
	for too, want := range map[bool][]string{false: nil, true: {"gauge.Hand was outside of its tag's range", "crank.Pull", "receipt.Price"}} {
		faults, err := simtest.FindDesyncs(player(too), simtest.SyncConfig{})
		require.NoError(t, err)
		plan := simtest.Plan{New: player(too), Clients: 2, Play: 2 * time.Second, Rest: -1, Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Limits{}} }}
		_, failed := plan.Run(1)
		plan.AllowLosses = true
		out, err := plan.Run(1)
		require.NoError(t, err)
		if !too {
			require.Empty(t, faults)
			require.Empty(t, out.Lost)
			require.NoError(t, failed)
		}
		for _, w := range want {
			require.Contains(t, strings.Join(faults, "\n"), w)
			require.Contains(t, strings.Join(out.Lost, "\n"), w)
			require.ErrorContains(t, failed, w)
			require.ErrorContains(t, failed, "set Plan.AllowLosses")
		}
	}
}

// rover is a game whose PredictRemote and Decay return commands that the tag does not allow.
type rover struct {
	at   ecs.Component[order]
	cmd  ecs.Component[crank]
	body ecs.Prefab
}

func (g *rover) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("rover", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("drive", func(_ *foretick.Frame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			at[i].Cups = uint8(g.cmd.Slice(rows)[i].Pull * 5)
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	foretick.PredictRemote(p, &g.cmd, func(_ *foretick.Frame, _ ecs.Entity, _ int, cmd *crank) { cmd.Pull = 2 }, foretick.RemoteConfig{})
	foretick.Decay(p, &g.cmd, func(cmd *crank, _ int) { cmd.Pull = 3 })
	return p
}

// Commands from the functions of PredictRemote and Decay are rounded as if they were sent.
// Losses by that are counted under the functions' names, once a tick, however often it runs again.
func TestLossesOfGuessesAndDecay(t *testing.T) {
	m := simtest.New(3)
	srv, err := m.Serve(server.Config{Protocol: (&rover{}).protocol(), DecayInput: time.Second})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	var clients [2]*client.Client
	for i := range clients {
		g := &rover{}
		clients[i], err = m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) crank {
			return crank{Pull: float32(v.Tick%7) / 7}
		})}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
	}
	m.Run(4 * time.Second)
	m.Link(clients[1], sim.Link{Loss: 1}, sim.Link{Loss: 1})
	m.Run(6 * time.Second)
	require.NoError(t, m.Err())
	ticks := uint64(clients[0].View().Tick)
	count := func(ls []stats.Loss, by string) (n uint64) {
		for _, l := range ls {
			if l.Component == "crank" && l.Field == "Pull" && l.System == by {
				n += l.Outside
			}
		}
		return n
	}
	guessed := count(clients[0].Losses(nil), "(PredictRemote)")
	t.Logf("%d ticks: %d guesses outside; %d by Decay on the server", ticks, guessed, count(srv.Losses(nil), "(Decay)"))
	require.Greater(t, guessed, uint64(30))
	require.LessOrEqual(t, guessed, ticks)
	require.GreaterOrEqual(t, clients[0].Stats().ValuesOutside, guessed)
	require.Positive(t, count(srv.Losses(nil), "(Decay)"))
	require.Zero(t, count(clients[0].Losses(nil), ""), "what the players press fits")
}
