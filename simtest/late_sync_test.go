package simtest_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// ledgers is a game with every kind of state that a world has: rows, singletons, parents, and
// events that wait until they are final.
type ledgers struct {
	pos    ecs.Component[footing]
	cmd    ecs.Component[lunge]
	vitals ecs.Component[vitals]
	body   ecs.Prefab
	saddle ecs.Prefab
	tally  ecs.Singleton[lapScore]
	pace   ecs.Singleton[lapPace]
	turn   foretick.Event[foretick.Tick]
	sum    foretick.Event[foretick.Tick]
	bodies *ecs.Query
	riders *ecs.Query
	turns  bool // bodies raise turn, because it has a handler
}

// ledgersRules are rules that such a game may have, by name.
var ledgersRules = map[string]func(g *ledgers, p *foretick.Protocol){
	"none": func(*ledgers, *foretick.Protocol) {},
	"a system counts in a singleton": func(g *ledgers, p *foretick.Protocol) {
		p.Server("count", func(f *foretick.ServerFrame, _ ecs.Rows) { g.tally.Get(f.World).Ticks++ }, ecs.Once(), ecs.Write(&g.tally))
	},
	"a system changes a predicted singleton": func(g *ledgers, p *foretick.Protocol) {
		p.Server("pace", func(f *foretick.ServerFrame, _ ecs.Rows) { g.pace.Get(f.World).Metres = float32(f.Tick%7) / 7 }, ecs.Once(), ecs.Write(&g.pace))
	},
	"OnServer counts in a singleton": func(g *ledgers, p *foretick.Protocol) {
		g.turns = true
		g.turn.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, _ foretick.Tick) { g.tally.Get(f.World).Laps++ }, ecs.Write(&g.tally))
	},
	"OnFinal counts in a singleton": func(g *ledgers, p *foretick.Protocol) {
		g.turns = true
		g.turn.OnFinal(p, func(f *foretick.ServerFrame, _ foretick.By, _ foretick.Tick) { g.tally.Get(f.World).Laps++ }, ecs.Write(&g.tally))
	},
	"OnFinal writes a row": func(g *ledgers, p *foretick.Protocol) {
		g.turns = true
		g.turn.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, _ foretick.Tick) {
			if v := g.vitals.Find(f.World, g.bodies.FirstOwned(f.World, by.Player)); v != nil {
				v.Given = (v.Given + 1) % 50
			}
		}, ecs.WriteOther(&g.vitals))
	},
	"OnServer raises what is final": func(g *ledgers, p *foretick.Protocol) {
		g.turns = true
		g.turn.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, t foretick.Tick) {
			g.sum.Raise(f.Frame, g.bodies.FirstOwned(f.World, by.Player), t)
		})
		g.sum.OnFinal(p, func(f *foretick.ServerFrame, _ foretick.By, t foretick.Tick) {
			g.tally.Get(f.World).Laps += t
		}, ecs.Write(&g.tally))
	},
	"OnFinal raises an event": func(g *ledgers, p *foretick.Protocol) {
		g.turns = true
		g.turn.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, t foretick.Tick) {
			g.sum.Raise(f.Frame, g.bodies.FirstOwned(f.World, by.Player), t)
		})
		g.sum.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, t foretick.Tick) {
			g.tally.Get(f.World).Laps += t
		}, ecs.Write(&g.tally))
	},
	"a parent from the beginning": func(g *ledgers, p *foretick.Protocol) {
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			_ = f.World.SetParent(f.Spawn(&g.saddle, player), g.bodies.FirstOwned(f.World, player))
		})
	},
	"a system changes parents": func(g *ledgers, p *foretick.Protocol) {
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.saddle, player) })
		p.Server("mount", func(f *foretick.ServerFrame, _ ecs.Rows) {
			for _, rows := range g.riders.All(f.World) {
				for _, e := range rows.Entities() {
					to := ecs.None
					if f.Tick%5 < 3 {
						to = g.bodies.FirstOwned(f.World, rows.Owner())
					}
					_ = f.World.SetParent(e, to)
				}
			}
		}, ecs.Once(), ecs.Structural())
	},
}

func (g *ledgers) protocol(rules ...func(g *ledgers, p *foretick.Protocol)) *foretick.Protocol {
	p := foretick.NewProtocol("ledgers", 1)
	p.Hierarchy()
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.vitals)
	p.Command(&g.cmd)
	p.Singleton(&g.tally)
	p.Singleton(&g.pace, foretick.Predicted())
	p.Prefab(&g.body, "body", &g.pos, &g.vitals, &g.cmd)
	p.Prefab(&g.saddle, "saddle", &g.vitals)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	g.bodies = p.Query(ecs.With(&g.pos, &g.cmd))
	g.riders = p.Query(ecs.With(&g.vitals), ecs.Without(&g.pos))
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X = min(max(pos[i].X+cmd[i].Move*f.DT*(1+g.pace.Get(f.World).Metres), -90), 90)
			if g.turns && f.Tick%6 == 0 {
				g.turn.Raise(f, rows.Entity(i), f.Tick)
			}
		}
	}, ecs.Read(&g.cmd, &g.pace), ecs.Write(&g.pos))
	for _, rule := range rules {
		rule(g, p)
	}
	return p
}

// SyncTest finds no fault in a game whose state is all in the world, whatever kind of state a tick
// writes. That also holds for all rules together.
func TestLateWorldSyncTestOfSoundGames(t *testing.T) {
	names := slices.Sorted(maps.Keys(ledgersRules))
	all := func(g *ledgers, p *foretick.Protocol) {
		for _, name := range names {
			if name != "a parent from the beginning" {
				ledgersRules[name](g, p)
			}
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { findNothing(t, ledgersRules[name]) })
	}
	t.Run("all", func(t *testing.T) { findNothing(t, all) })
	slices.Reverse(names)
	t.Run("all, declared backwards", func(t *testing.T) { findNothing(t, all) })
}

func findNothing(t *testing.T, rule func(g *ledgers, p *foretick.Protocol)) {
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		g := &ledgers{}
		return simtest.Player{Protocol: g.protocol(rule), Sample: client.Sample(&g.cmd, func(v client.View) lunge {
			return lunge{Move: float32(v.Tick/20%2)*2 - 1}
		})}
	}, simtest.SyncConfig{Ticks: 300, Players: 3, Late: server.Late{Window: 150 * time.Millisecond, World: true}})
	require.NoError(t, err)
	require.Empty(t, faults)
}
