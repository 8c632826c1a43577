package plantedtest

import (
	"hash/maphash"
	"math/rand"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Fault is a kind of fault in a game's code.
type Fault struct {
	Plant Plant
	// Want are texts that must be in one of the faults that a sync test finds, or in the
	// protocol's error.
	Want []string
	// Traced is the place that a trace finds. It is empty unless the fault recurs within 120
	// ticks of a match.
	Traced Place
}

// Place is where a trace finds the first difference.
type Place struct{ System, Prefab, Component, Field string }

// inX is the place of the faults that use Nudge.
var inX = Place{"planted", "player", "position", "X"}

// Recurs reports whether a match shows the fault again and again within 120 ticks.
func (f Fault) Recurs() bool { return f.Traced != Place{} }

// Faults returns kinds of faults, by name. A sync test finds all of them, and a trace those
// that recur.
func Faults() map[string]Fault {
	table := map[int]float32{1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}
	return map[string]Fault{
		"the order of a map": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 {
				for _, v := range table {
					return v
				}
				return 0
			})
		}, []string{"position.X", "planted"}, inX},
		"a clock": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return float32(time.Now().UnixNano()%1000) / 1000 })
		}, []string{"position.X", "planted"}, inX},
		"global chance": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return rand.Float32() })
		}, []string{"position.X", "planted"}, inX},
		"a counter in the system": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { g.Count++; return float32(g.Count%7) / 10 })
		}, []string{"position.X", "planted"}, inX},
		"a cache in a closure": {func(g *Game, p *foretick.Protocol) {
			last := float32(0)
			Nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				was := last
				last = g.Pos.Slice(rows)[i].Y + float32(rows.Owner()) // the next run, maybe for another owner, uses it
				return was / 10
			})
		}, []string{"position.X", "planted"}, inX},
		"another player's private field": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				sum := float32(0)
				for _, others := range g.All.All(f.World) {
					for _, s := range g.Secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			}, ecs.ReadOther(&g.Secret))
		}, []string{"planted", "secret", "whose N a client does not receive"}, Place{}},
		"another player's private field, undeclared": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				sum := float32(0)
				for _, others := range g.All.All(f.World) {
					for _, s := range g.Secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			})
		}, []string{"position.X"}, inX},
		"a component that does not travel": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 { return float32(g.Local.Slice(rows)[i].N) / 1000 }, ecs.Read(&g.Local))
		}, []string{"planted", "local", "a client does not have"}, Place{}},
		"a row's index": {func(g *Game, p *foretick.Protocol) {
			// Usually the first entity of each owner has the same index on a client. Here the
			// server has an entity before it, which is not sent.
			var spare ecs.Prefab
			if err := p.Types().RegisterPrefab(&spare, "spare", &g.Local); err != nil {
				panic(err)
			}
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.World.Spawn(&spare, player) })
			Nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				return float32(rows.Entity(i).Index()%1009) / 1000
			})
		}, []string{"position.X"}, inX},
		"a pointer's value": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				by := 90 + uintptr(f.Tick%8) // otherwise two addresses could give the same result in every tick
				return float32(uintptr(unsafe.Pointer(&g.Pos.Slice(rows)[i]))>>6%by) / 100
			})
		}, []string{"position.X"}, inX},
		"a render system that writes": {func(g *Game, p *foretick.Protocol) {
			p.Render("painter", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
					pos[i].Y += 0.5
				}
			}, ecs.Write(&g.Pos))
		}, []string{"position", "painter", "render"}, Place{}},
		"a structural change in the order of iteration": {func(g *Game, p *foretick.Protocol) {
			var spare ecs.Prefab
			if err := p.Types().RegisterPrefab(&spare, "spare", &g.Pos); err != nil {
				panic(err)
			}
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 && f.IsServer() {
					f.World.Spawn(&spare, rows.Owner())
					return 0.25
				}
				return 0
			}, ecs.With(&g.Cmd), ecs.Create(&g.Pos))
		}, []string{"position.X"}, inX},
		"an entity spawned past the frame": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 {
					f.World.Spawn(&g.Player, rows.Owner())
				}
				return 0
			}, ecs.Create(&g.Pos, &g.Secret, &g.Cmd, &g.Local))
		}, []string{`system "planted": World.Spawn of prefab "player"`, "ServerFrame.Spawn"}, Place{}},
		"an entity destroyed past the frame": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick == 60 {
					f.World.Destroy(rows.Entity(i))
				}
				return 0
			}, ecs.Structural())
		}, []string{`system "planted": World.Destroy of`, "Frame.Destroy"}, Place{}},
		"what a player saw": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				return f.Rewind(rows.Owner()).Behind()
			})
		}, []string{`shared system "planted" asks what a player saw`, "OnServer"}, Place{}},
		"a division by nothing": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				zero := float32(f.Tick / 1_000_000)
				return zero / zero
			})
		}, []string{"position.X", "not a number"}, Place{}},
		"a local component, undeclared": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				return float32(g.Local.Get(f.World, rows.Entity(i)).N) / 1000
			})
		}, []string{"position.X"}, inX},
		"a rule of one end": {func(g *Game, p *foretick.Protocol) {
			Nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				if f.IsServer() && f.Tick%3 == 0 {
					return 0.25
				}
				return 0
			})
		}, []string{"position.X"}, inX},
		"a hash with a seed of its own": {func(g *Game, p *foretick.Protocol) {
			seed := maphash.MakeSeed()
			Nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				return float32(maphash.Comparable(seed, f.Tick)%64) / 100
			})
		}, []string{"position.X"}, inX},
	}
}
