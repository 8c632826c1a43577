package simtest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type trunk struct {
	Gold uint32 `net:"owner"`
	Plan uint32 `net:"allies"`
	Scan uint32 `net:"to=scanners"`
	Open uint32
}

type tank struct {
	Left float32 `net:"min=0,max=100,step=0.01,owner,lerp"`
	Size uint8   // all see it, so the component stays
}

type crest struct {
	Mark   uint16  `net:"allies"`
	Shape  float32 `net:"min=-100,max=100,step=0.01,allies,lerp"`
	Colour uint8
}

// convoy is a game of one truck, whose fields are for its owner, for allies, and for players that scanned it.
type convoy struct {
	pos      ecs.Component[position]
	tank     ecs.Component[tank]
	trunk    ecs.Component[trunk]
	crest    ecs.Component[crest]
	seal     ecs.Component[ledger]
	cmd      ecs.Component[move]
	truck    ecs.Prefab
	scanners schema.Audience
	trucks   *ecs.Query
	remote   bool // clients predict other players' trucks
	act      func(f *foretick.ServerFrame)
	unsealed []foretick.Tick
}

// The prefab's defaults of what players may lose sight of.
const (
	goldBefore, planBefore, scanBefore = 1, 2, 3
	markBefore                         = 4
)

func (g *convoy) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("convoy", 1)
	p.SetTickRate(60)
	g.scanners = p.Audience("scanners")
	p.Component(&g.pos, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.tank, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.crest, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.trunk)
	p.Component(&g.seal, foretick.For(schema.ToAllies))
	p.Command(&g.cmd)
	hold := []ecs.Handle{&g.pos, &g.trunk, &g.crest, &g.seal, &g.cmd}
	if !g.remote {
		hold = append(hold, &g.tank)
	}
	p.Prefab(&g.truck, "truck", hold...)
	foretick.Default(p, &g.truck, &g.trunk, trunk{Gold: goldBefore, Plan: planBefore, Scan: scanBefore})
	foretick.Default(p, &g.truck, &g.crest, crest{Mark: markBefore, Shape: 60})
	if !g.remote {
		foretick.Default(p, &g.truck, &g.tank, tank{Left: 50})
	}
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	if g.remote {
		foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *move) {}, foretick.RemoteConfig{})
	} else {
		p.Shared("burn", func(f *foretick.Frame, rows ecs.Rows) {
			tanks, cmd := g.tank.Slice(rows), g.cmd.Slice(rows)
			for i := range tanks {
				if tanks[i].Left -= max(cmd[i].X, 0) * f.DT; tanks[i].Left < 20 {
					tanks[i].Left = 30
				}
			}
		}, ecs.Read(&g.cmd), ecs.Write(&g.tank))
	}
	p.Server("act", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.act != nil {
			g.act(f)
		}
	}, ecs.Once(), ecs.Structural(), ecs.Create(hold...), ecs.WriteOther(&g.pos))
	p.Server("load", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			n := 1000 + f.Tick
			g.trunk.Slice(rows)[i] = trunk{Gold: n, Plan: n, Scan: n, Open: n}
			g.crest.Slice(rows)[i] = crest{Mark: 1000, Shape: -50}
		}
	}, ecs.Write(&g.trunk, &g.crest))
	g.trucks = p.Query(ecs.With(&g.trunk))
	p.OnVanish(func(f *foretick.Frame, e ecs.Entity) { g.unsealed = append(g.unsealed, f.Tick) }, ecs.With(&g.seal))
	return p
}

// hiddenSpan is a time in which a player may not see a field. Changes of the tick before it are the first that it misses.
type hiddenSpan struct{ from, upto foretick.Tick }

// inSpan reports whether a span holds a tick, but for its first ticks.
func inSpan(spans []hiddenSpan, t, after foretick.Tick) bool {
	for _, s := range spans {
		if t >= s.from+after && t < s.upto {
			return true
		}
	}
	return false
}

const forever = ^foretick.Tick(0)

// A field that a player may no longer see is its prefab's default, from the tick on whose snapshot says so:
// for a team, an audience and a change of owner, for the players, an observer with a player's view, and fields
// that were predicted. Corrections while a field is hidden do not bring its old value back, and no
// misprediction has a cause in the code.
func TestWithdrawnFieldsAreDefaults(t *testing.T) {
	for name, link := range map[string]sim.Link{
		"even": {Latency: 40 * time.Millisecond},
		"lost": {Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(5)
			g := &convoy{}
			var e ecs.Entity
			g.act = func(f *foretick.ServerFrame) {
				switch f.Tick {
				case 120:
					e = f.Spawn(&g.truck, 1)
					require.True(t, f.SetTeam(1, 1) && f.SetTeam(2, 1))
				case 200:
					f.SetTeam(2, 2)
				case 300:
					f.SetTeam(2, 1)
				case 350:
					require.True(t, f.SetAudience(1, e, g.scanners, true) && f.SetAudience(2, e, g.scanners, true))
				case 400:
					require.True(t, f.SetAudience(1, e, g.scanners, false) && f.SetAudience(2, e, g.scanners, false))
				case 450:
					require.NoError(t, f.World.Transfer(e, 2))
				case 550:
					require.NoError(t, f.World.Transfer(e, 1))
				case 650:
					require.NoError(t, f.World.Transfer(e, ecs.Nobody))
				}
				if f.Tick > 120 && f.Tick%37 == 0 { // the prediction is corrected, and goes back to ticks before the change
					g.pos.Get(f.World, e).X++
				}
			}
			_, err := m.Serve(server.Config{Protocol: g.protocol(), Observe: func(server.Observer) (server.Grant, error) {
				return server.OfPlayer(2), nil
			}})
			require.NoError(t, err)
			hidden := [3]map[string][]hiddenSpan{
				{"gold": {{450, 540}, {650, forever}}, // its own again at 550, which is drawn ahead of the render time
					"plan": {{650, forever}}, "scan": {{400, forever}}},
				{"gold": {{550, forever}}, "plan": {{200, 300}, {650, forever}}, "scan": {{400, forever}}},
			}
			hidden[2] = hidden[1] // the observer has the second player's view
			late := foretick.Tick(1)
			if link.Loss > 0 {
				late = 8
			}
			old, seen, given := map[string]int{}, map[string]int{}, [3]int{}
			for k := range 3 {
				cg := &convoy{}
				cfg := client.Config{Protocol: cg.protocol()}
				if k == 2 {
					cfg.Observe = &client.Observe{}
				} else {
					cfg.Sample = client.Sample(&cg.cmd, func(v client.View) move { return move{X: float32(v.Tick/40%2)*2 - 1} })
				}
				c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
					if v.State != client.Playing {
						return
					}
					for _, rows := range cg.trucks.All(v.World) {
						own, wanted := cg.trunk.Slice(rows)[0], trunk{Gold: goldBefore, Plan: planBefore, Scan: scanBefore}
						for field, x := range map[string]struct{ is, want uint32 }{
							"gold": {own.Gold, wanted.Gold}, "plan": {own.Plan, wanted.Plan}, "scan": {own.Scan, wanted.Scan},
						} {
							if inSpan(hidden[k][field], v.RenderTick, late) {
								seen[field]++
								if x.is != x.want {
									old[field]++
								}
							}
						}
						if inSpan(hidden[k]["gold"], v.RenderTick, late) {
							seen["fuel"]++
							if left := cg.tank.Slice(rows)[0].Left; left != 50 {
								old["fuel"]++
							}
						}
						require.Greater(t, own.Open, uint32(1000))
						if v.RenderTick >= 358 && v.RenderTick < 380 { // an observer's view changes with its player's
							given[k]++
							require.Greater(t, own.Scan, uint32(1000), "client %d", k)
						}
					}
				}})
				require.NoError(t, err)
				m.RunFor(200 * time.Millisecond)
				defer func() {
					require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
					if k == 1 { // a component of which nothing is left is gone, and OnVanish tells the game
						require.Len(t, cg.unsealed, 2)
					}
				}()
			}
			m.Run(14 * time.Second)
			require.NoError(t, m.Err())
			for field, n := range seen {
				require.Greater(t, n, 200, field)
				require.Zero(t, old[field], "%s keeps its old value in %d of %d frames", field, old[field], n)
			}
			require.Len(t, seen, 4)
			require.Greater(t, slices.Min(given[:]), 15)
		})
	}
}

// The same for a field of another player's entity that this client predicts: no rollback brings it back, and
// it does not fade.
func TestWithdrawnFieldsOfRemotePrediction(t *testing.T) {
	m := simtest.New(6)
	g := &convoy{remote: true}
	g.act = func(f *foretick.ServerFrame) {
		switch f.Tick {
		case 120:
			f.Spawn(&g.truck, 1)
			f.Spawn(&g.truck, 2)
			require.True(t, f.SetTeam(1, 1) && f.SetTeam(2, 1))
		case 250:
			f.SetTeam(2, 2)
		}
	}
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 40 * time.Millisecond}
	old, seen, before := 0, 0, 0
	for k := range 2 {
		cg := &convoy{remote: true}
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move { return move{X: float32(v.Tick/40%2)*2 - 1} })}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			for owner, rows := range cg.trucks.All(v.World) {
				if _ = owner; v.State != client.Playing || rows.Owner() == v.Player {
					continue
				}
				is := cg.crest.Slice(rows)[0]
				switch {
				case v.RenderTick > 251:
					if seen++; is != (crest{Mark: markBefore, Shape: 60}) {
						old++
					}
				case is == crest{Mark: 1000, Shape: -50}:
					before++
				}
			}
		}})
		require.NoError(t, err)
		m.RunFor(200 * time.Millisecond)
		defer func() { require.Zero(t, c.Stats().ByCause.Of(prediction.Code), "client %d", k) }()
	}
	m.Run(7 * time.Second)
	require.NoError(t, m.Err())
	require.Greater(t, before, 100)
	require.Greater(t, seen, 200)
	require.Zero(t, old, "of %d frames", seen)
}
