package simtest_test

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

// crossers walk over lines. Each crossing is an event of the tick that they cross it in.
type crossers struct {
	pos     ecs.Component[footing]
	cmd     ecs.Component[lunge]
	body    ecs.Prefab
	crossed foretick.Event[crossing]
	counted foretick.Event[crossing] // raised by the server for each crossing

	own               bool                             // a late input makes only its player's part of ticks run again
	first, counts     []crossing                       // crossings handled in first runs, and in counted's OnFinal
	last, asConfirmed map[foretick.PlayerID][]crossing // crossings by OnFinal on the server, and by OnConfirmed on a client
	early             int                              // crossings handled before their tick was final
	behind            int                              // ticks at whose end the server still waited for a command
	heard, misnamed   int                              // calls of handlers, and those with another By than Raise had
}

type crossing struct {
	Tick foretick.Tick
	Line int32
}

// hear checks who raised a crossing and when, in any handler on either end.
func (g *crossers) hear(f *foretick.Frame, by foretick.By, v crossing) {
	if g.heard++; by.Tick != v.Tick || by.Player == ecs.Nobody || f.World.Owner(by.Entity) != by.Player {
		g.misnamed++
	}
}

func (g *crossers) protocol() *foretick.Protocol {
	g.last, g.asConfirmed = map[foretick.PlayerID][]crossing{}, map[foretick.PlayerID][]crossing{}
	p := foretick.NewProtocol("crossers", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "runner", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			was := math.Floor(8 * float64(pos[i].X))
			pos[i].X += cmd[i].Move * 0.2
			if is := math.Floor(8 * float64(pos[i].X)); is != was {
				g.crossed.Raise(f, rows.Entity(i), crossing{f.Tick, int32(is)})
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	g.crossed.OnPredicted(p, g.hear)
	g.crossed.OnCancelled(p, g.hear)
	g.crossed.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, v crossing) {
		g.hear(f.Frame, by, v)
		if !f.Replay || g.own {
			g.first = append(g.first, v)
		}
		g.counted.Raise(f.Frame, 0, crossing{f.Tick, v.Line})
	})
	g.crossed.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, v crossing) {
		g.hear(f.Frame, by, v)
		if !f.Replay { // a replay of the whole tick calls the handler again
			g.last[by.Player] = append(g.last[by.Player], v)
		}
	})
	g.counted.OnFinal(p, func(f *foretick.ServerFrame, _ foretick.By, v crossing) {
		if f.Replay {
			return
		}
		if v.Tick != f.Tick {
			g.early++
		}
		g.counts = append(g.counts, v)
	})
	g.crossed.OnConfirmed(p, func(f *foretick.Frame, by foretick.By, v crossing) {
		g.hear(f, by, v)
		if f.Final() < v.Tick {
			g.early++
		}
		player := by.Player
		g.asConfirmed[player] = append(g.asConfirmed[player], v)
	})
	p.Server("look", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Final() != f.Tick {
			g.behind++
		}
	}, ecs.Once())
	return p
}

// A handler of OnFinal is called once for each event of the last run of each tick. Those
// are the events that the player's client has confirmed, with their values.
func TestOnFinalIsTheServersOnConfirmed(t *testing.T) {
	for _, mode := range lateModes {
		window := mode.window
		m, g := simtest.New(7), &crossers{own: !mode.world}
		_, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: window, World: mode.world}})
		require.NoError(t, err)
		var games []*crossers
		var clients []*client.Client
		for n := range 3 {
			c := &crossers{}
			cfg := client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge {
				return lunge{Move: wave(n*5, v).Move}
			})}
			cl, err := m.Join(cfg, simtest.Seat{Up: sim.LTE, Down: sim.LTE})
			require.NoError(t, err)
			games, clients = append(games, c), append(clients, cl)
		}
		m.Run(90 * time.Second)
		require.NoError(t, m.Err())
		again, events, extras := m.Server().Stats().InputsRerun, 0, 0
		for n, c := range clients {
			player, end := c.View().Player, c.View().Tick-60
			final, confirmed := before(g.last[player], end), before(games[n].asConfirmed[player], end)
			extras += differing(final, confirmed)
			require.Zero(t, games[n].early, "what is confirmed is final")
			require.Greater(t, games[n].heard, 100)
			require.Zero(t, games[n].misnamed, "By has the entity, its player and the tick on clients")
			events += len(g.last[player])
		}
		var last []crossing
		for _, list := range g.last {
			last = append(last, list...)
		}
		rewritten := differing(g.first, last)
		t.Logf("%s: %d events, %d of them other than in the first run, %d that differ from those that clients confirmed; %d inputs run late; a command was missing at the end of %d ticks", mode.name, events, rewritten, extras, again, g.behind)
		require.Greater(t, events, 300)
		require.Greater(t, g.heard, 300)
		require.Zero(t, g.misnamed, "By has the entity, its player and the tick on the server, also where a handler runs later")
		if mode.world { // the handlers ran again with their ticks
			require.Greater(t, rewritten, 0)
			require.Zero(t, differing(g.counts, last), "what they raised in the last run")
			continue
		}
		require.Zero(t, g.early, "what a handler raised is final in its tick")
		require.Len(t, g.counts, len(g.first))
		if window == 0 {
			require.Zero(t, rewritten)
			require.Zero(t, g.behind)
			continue
		}
		require.Zero(t, extras, "no tick ran otherwise on the client")
		require.Greater(t, again, uint64(10))
		require.Greater(t, rewritten, 0, "the first run did not have the last word")
		require.Greater(t, g.behind, 10)
	}
}

// before returns the crossings of ticks before end.
func before(list []crossing, end foretick.Tick) (out []crossing) {
	for _, v := range list {
		if v.Tick < end {
			out = append(out, v)
		}
	}
	return out
}

// differing returns how many crossings are in only one of the lists.
func differing(a, b []crossing) (n int) {
	left := map[crossing]int{}
	for _, v := range a {
		left[v]++
	}
	for _, v := range b {
		left[v]--
	}
	for _, k := range left {
		n += max(k, -k)
	}
	return n
}
