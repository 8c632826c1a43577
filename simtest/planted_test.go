package simtest_test

import (
	"hash/maphash"
	"math/rand"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

// planted is a game with room for a fault.
type planted struct {
	pos    ecs.Component[position]
	secret ecs.Component[secret]
	local  ecs.Component[local]
	cmd    ecs.Component[move]
	player ecs.Prefab
	all    *ecs.Query

	count int
}

func (g *planted) end(fault func(g *planted, p *foretick.Protocol)) simtest.Player {
	p := foretick.NewProtocol("planted", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.secret)
	p.LocalComponent(&g.local)
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.pos, &g.secret, &g.cmd, &g.local)
	p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) {
		e := f.Spawn(&g.player, player)
		g.secret.Get(f.World, e).N = int32(player) * 100
		g.local.Get(f.World, e).N = int32(player) * 100
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 5 * f.DT
			pos[i].Y += cmd[i].Y * 5 * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	g.all = ecs.NewQuery(p.Types(), ecs.With(&g.secret))
	if fault != nil {
		fault(g, p)
	}
	return simtest.Player{Protocol: p, Sample: foretick.Sample(&g.cmd, func(v foretick.View) move {
		return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/9%3) - 1}
	})}
}

// nudge declares a shared system that adds what by says to each position.
func nudge(p *foretick.Protocol, g *planted, by func(f *foretick.Frame, rows ecs.Rows, i int) float32, access ...ecs.Access) {
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += by(f, rows, i)
			if pos[i].X > 20 { // it must not come to rest at the end of its range
				pos[i].X -= 40
			}
		}
	}, append(access, ecs.Write(&g.pos), ecs.After("move"))...)
}

// plantedFault is a sort of fault in a game's code.
type plantedFault struct {
	plant func(g *planted, p *foretick.Protocol)
	want  []string // in one of the faults that a sync test finds, or in the protocol's error
	// recurs is set if a match shows the fault again and again within 120 ticks: then a trace
	// names the system "planted" and the field X.
	recurs bool
}

// plantedFaults are sorts of faults, by name. A sync test finds all of them, and a trace
// those that recur.
func plantedFaults(t *testing.T) map[string]plantedFault {
	table := map[int]float32{1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}
	return map[string]plantedFault{
		"the order of a map": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 {
				for _, v := range table {
					return v
				}
				return 0
			})
		}, []string{"position.X", "planted"}, true},
		"a clock": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return float32(time.Now().UnixNano()%1000) / 1000 })
		}, []string{"position.X", "planted"}, true},
		"global chance": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return rand.Float32() })
		}, []string{"position.X", "planted"}, true},
		"a counter in the system": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { g.count++; return float32(g.count%7) / 10 })
		}, []string{"position.X", "planted"}, true},
		"a cache in a closure": {func(g *planted, p *foretick.Protocol) {
			last := float32(0)
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				was := last
				last = g.pos.Slice(rows)[i].Y + float32(rows.Owner()) // of the run before, whosever that was
				return was / 10
			})
		}, []string{"position.X", "planted"}, true},
		"another player's private field": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				sum := float32(0)
				for _, others := range g.all.All(f.World) {
					for _, s := range g.secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			}, ecs.ReadOther(&g.secret))
		}, []string{"planted", "secret", "whose N a client does not receive"}, false},
		"another player's private field, undeclared": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				sum := float32(0)
				for _, others := range g.all.All(f.World) {
					for _, s := range g.secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			})
		}, []string{"position.X"}, true},
		"a component that does not travel": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 { return float32(g.local.Slice(rows)[i].N) / 1000 }, ecs.Read(&g.local))
		}, []string{"planted", "local", "a client does not have"}, false},
		"a row's index": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				return float32(rows.Entity(i).Index()%1009) / 1000
			})
		}, []string{"position.X"}, true},
		"a pointer's value": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				return float32(uintptr(unsafe.Pointer(&g.pos.Slice(rows)[i]))>>6%97) / 100
			})
		}, []string{"position.X"}, true},
		"a render system that writes": {func(g *planted, p *foretick.Protocol) {
			p.Render("painter", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].Y += 0.5
				}
			}, ecs.Write(&g.pos))
		}, []string{"position", "painter", "render"}, false},
		"a structural change in the order of iteration": {func(g *planted, p *foretick.Protocol) {
			var spare ecs.Prefab
			require.NoError(t, p.Types().RegisterPrefab(&spare, "spare", &g.pos))
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 && f.IsServer() {
					f.World.Spawn(&spare, rows.Owner())
					return 0.25
				}
				return 0
			}, ecs.With(&g.cmd), ecs.Create(&g.pos))
		}, []string{"position.X"}, true},
		"an entity spawned past the frame": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 {
					f.World.Spawn(&g.player, rows.Owner())
				}
				return 0
			}, ecs.Create(&g.pos, &g.secret, &g.cmd, &g.local))
		}, []string{`system "planted": World.Spawn of prefab "player"`, "Frame.Spawn"}, false},
		"an entity destroyed past the frame": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick == 60 {
					f.World.Destroy(rows.Entity(i))
				}
				return 0
			}, ecs.Structural())
		}, []string{`system "planted": World.Destroy of`, "Frame.Destroy"}, false},
		"what a player saw": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				return f.Rewind(rows.Owner()).Behind()
			})
		}, []string{`shared system "planted" asks what a player saw`, "OnServer"}, false},
		"a division by nothing": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				zero := float32(f.Tick / 1_000_000)
				return zero / zero
			})
		}, []string{"position.X", "not a number"}, false},
		"a local component, undeclared": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				return float32(g.local.Get(f.World, rows.Entity(i)).N) / 1000
			})
		}, []string{"position.X"}, true},
		"a rule of one end": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				if f.IsServer() && f.Tick%3 == 0 {
					return 0.25
				}
				return 0
			})
		}, []string{"position.X"}, true},
		"a hash with a seed of its own": {func(g *planted, p *foretick.Protocol) {
			seed := maphash.MakeSeed()
			nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				return float32(maphash.Comparable(seed, f.Tick)%64) / 100
			})
		}, []string{"position.X"}, true},
	}
}
