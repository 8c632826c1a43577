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

// shadows is a game in which what a client predicts depends on where another player is: a
// flag follows player 1, and players bump into one another.
type shadows struct {
	at      ecs.Component[shadowAt]
	cmd     ecs.Component[lunge]
	mark    ecs.Component[shadowMark]
	body    ecs.Prefab
	flag    ecs.Prefab
	players *ecs.Query
	flags   *ecs.Query

	bumps   bool
	biased  bool // a planted fault
	options []foretick.ComponentOption
}

type (
	shadowAt struct {
		X float32 `net:"min=-100,max=100,step=0.01,lerp"`
	}
	shadowMark struct{ Of foretick.PlayerID }
)

func (g *shadows) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("shadows", 1)
	p.Component(&g.at, append(g.options, foretick.Predicted())...)
	p.Component(&g.mark, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "player", &g.at, &g.cmd)
	p.Prefab(&g.flag, "flag", &g.at, &g.mark)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.at.Get(f.World, f.Spawn(&g.body, player)).X = 3 * float32(player)
	})
	p.InOrder()
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.at.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			at[i].X += cmd[i].Move * 5 * f.DT
			if g.biased && f.Tick%30 == 0 {
				at[i].X += 0.25
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	g.players = p.Query(ecs.With(&g.at, &g.cmd))
	g.flags = p.Query(ecs.With(&g.at, &g.mark))
	if g.bumps {
		p.Shared("bump", g.bump, ecs.Write(&g.at), ecs.ReadOther(&g.at), ecs.With(&g.cmd))
		return p
	}
	p.Shared("follow", func(f *foretick.Frame, _ ecs.Rows) {
		at := g.at.Find(f.World, g.players.FirstOwned(f.World, 1))
		for _, rows := range g.flags.All(f.World) {
			if at != nil {
				g.at.Slice(rows)[0] = *at
			}
		}
	}, ecs.Once(), ecs.WriteOther(&g.at), ecs.ReadOther(&g.mark))
	return p
}

func (g *shadows) bump(f *foretick.Frame, rows ecs.Rows) {
	for i := range rows.Len() {
		me := &g.at.Slice(rows)[i]
		for _, others := range g.players.All(f.World) {
			for k, at := range g.at.Slice(others) {
				if d := me.X - at.X; others.Entity(k) != rows.Entity(i) && d < 1 && d > -1 {
					me.X += d * 0.25
				}
			}
		}
	}
}

// play returns the corrections of player 2 by cause, and the number whose cause is a rounded value.
func (g shadows) play(t *testing.T, seed uint64, sample func(player, tick int) float32) (prediction.ByCause, int) {
	t.Helper()
	m, truth := simtest.New(seed), g
	truth.biased = false
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	if !g.bumps {
		srv.Frame().Spawn(&truth.flag, ecs.Nobody)
	}
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	var c *client.Client
	rounded := 0
	for n := range 2 {
		cg := g
		cg.biased = g.biased && n == 1
		c, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) lunge {
			return lunge{Move: sample(n+1, int(v.Tick))}
		}), OnMisprediction: func(w prediction.Misprediction) {
			if n == 0 || !w.Rounded {
				return
			}
			rounded++
			require.Equal(t, "shadowAt", w.Read)
			require.Equal(t, "a shared system read shadowAt of others, rounded on its way here: see FullPrecision", w.Why())
		}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.RunFor(200 * time.Millisecond)
	}
	m.Run(20 * time.Second)
	require.NoError(t, m.Err())
	return c.Stats().ByCause, rounded
}

// walkOnce makes player 1 walk to a position between two steps of its field. Then all stand still.
func walkOnce(player, tick int) float32 {
	if player == 1 && tick > 60 && tick < 80 {
		return 0.3
	}
	return 0
}

// The result of a shared system differs from the server's if it depends on another player's
// rounded value. The correction's cause says so, and is not Code. With FullPrecision there is no
// such correction.
func TestOthersRoundedValues(t *testing.T) {
	meet := func(player, tick int) float32 { return float32(tick/20%2*2-1) * float32(3-2*player) }
	for name, c := range map[string]struct {
		game   shadows
		sample func(player, tick int) float32
	}{
		"a flag follows one that stands still": {shadows{}, walkOnce},
		"two players bump":                     {shadows{bumps: true}, meet},
	} {
		t.Run(name, func(t *testing.T) {
			sum, full, rounded := prediction.ByCause{}, prediction.ByCause{}, 0
			for seed := range uint64(costtest.Count(2, 20)) {
				by, n := c.game.play(t, seed, c.sample)
				rounded += n
				exact := c.game
				exact.options = []foretick.ComponentOption{foretick.FullPrecision()}
				fullBy, n := exact.play(t, seed, c.sample)
				require.Zero(t, n)
				sum.Add(by)
				full.Add(fullBy)
			}
			require.Zero(t, sum.Of(prediction.Code), "%v", sum)
			require.Zero(t, full.Of(prediction.Code), "%v", full)
			require.Positive(t, rounded)
			t.Logf("%v, of which %d rounded; with FullPrecision %v", sum, rounded, full)
		})
	}
}

// A fault of the code gets the cause Code even if systems read others' rounded values, as long as
// these values do not explain it.
func TestRoundedValuesHideNoCode(t *testing.T) {
	by, rounded := shadows{bumps: true, biased: true}.play(t, 1, walkOnce)
	require.Greater(t, by.Of(prediction.Code), uint64(10), "%v", by)
	require.Zero(t, rounded)
}
