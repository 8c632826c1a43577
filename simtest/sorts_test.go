package simtest_test

import (
	"math"
	"math/rand"
	randv2 "math/rand/v2"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type abacus struct {
	N int32 `net:"min=0,max=1000"`
}

type medal struct {
	N int32 `net:"min=0,max=1000"`
}

type heat struct {
	N float32 `net:"min=-100,max=100,step=0.01"`
}

type memo struct{ N int32 }

// workshop is a sound game with room for a fault in its system "planted".
type workshop struct {
	pos     ecs.Component[position] // predicted
	tally   ecs.Component[abacus]   // predicted
	heat    ecs.Component[heat]     // predicted, but only some entities have it
	badge   ecs.Component[medal]    // replicated, written by the server
	secret  ecs.Component[secret]   // replicated, only to its owner
	local   ecs.Component[local]    // not replicated
	cmd     ecs.Component[move]
	memo    ecs.Singleton[memo]
	player  ecs.Prefab
	bolt    ecs.Prefab
	all     *ecs.Query
	players *ecs.Query
	rang    foretick.Event[int]

	count int                              // state outside of components
	drawn float32                          // the last drawn value
	kept  map[foretick.PlayerID]ecs.Entity // handles kept outside of components
	begun map[foretick.PlayerID]float32    // the first seen value
	heard int
	noise atomic.Int64
}

var shots int // a global

func (g *workshop) protocol(plant func(g *workshop, p *foretick.Protocol)) *foretick.Protocol {
	g.kept, g.begun = map[foretick.PlayerID]ecs.Entity{}, map[foretick.PlayerID]float32{}
	p := foretick.NewProtocol("workshop", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.tally, foretick.Predicted())
	p.Component(&g.heat, foretick.Predicted())
	p.Component(&g.badge)
	p.Component(&g.secret)
	p.LocalComponent(&g.local)
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.pos, &g.tally, &g.badge, &g.secret, &g.cmd, &g.local)
	p.Prefab(&g.bolt, "bolt", &g.pos, &g.tally)
	p.Spawns(&g.bolt, foretick.SpawnConfig{})
	g.rang.OnPredicted(p, func(*foretick.Frame, foretick.By, int) { g.heard++ })
	if err := p.Types().RegisterSingleton(&g.memo); err != nil {
		panic(err)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
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
	p.Shared("burn", func(f *foretick.Frame, rows ecs.Rows) {
		tally := g.tally.Slice(rows)
		for i := range tally {
			if tally[i].N++; tally[i].N > 30 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.tally), ecs.Without(&g.cmd), ecs.Structural())
	g.all = p.Query(ecs.With(&g.secret))
	g.players = p.Query(ecs.With(&g.cmd))
	plant(g, p)
	return p
}

// nudges adds the result of by to each player's position.
func nudges(by func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32, access func(g *workshop) []ecs.Access) func(*workshop, *foretick.Protocol) {
	return func(g *workshop, p *foretick.Protocol) {
		all := []ecs.Access{ecs.Write(&g.pos), ecs.With(&g.cmd), ecs.After("move")}
		if access != nil {
			all = append(all, access(g)...)
		}
		p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				x := by(g, f, rows, i)
				g.pos.Slice(rows)[i].X += x
			}
		}, all...)
	}
}

// dial turns a number into a distance that is a whole number of steps of a position.
func dial(n int) float32 { return float32(n%7) / 8 }

// faultSort is a kind of fault, and which tests find it.
type faultSort struct {
	name  string
	plant func(g *workshop, p *foretick.Protocol)
	// sync is set if in a release build SyncTest or the protocol's error names the system.
	sync bool
	// debug is set if in a debug build SyncTest or a panic names the system.
	debug bool
	// why is the reason if neither names it.
	why string
	// quiet faults cause no correction: both ends do the same.
	quiet bool
}

func faultSorts() []faultSort {
	table := map[int]float32{1: 0.125, 2: 0.25, 3: 0.375, 4: 0.5, 5: 0.625}
	return []faultSort{
		{name: "math/rand", sync: true, debug: true, plant: nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 { return dial(rand.Intn(100)) }, nil)},
		{name: "chance seeded by the clock", sync: true, debug: true, plant: func(g *workshop, p *foretick.Protocol) {
			r := randv2.New(randv2.NewPCG(uint64(time.Now().UnixNano()), 1))
			nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 { return dial(r.IntN(100)) }, nil)(g, p)
		}},
		{name: "the order of a map", sync: true, debug: true, plant: nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 {
			for _, v := range table {
				return v
			}
			return 0
		}, nil)},
		{name: "the wall clock", sync: true, debug: true, plant: nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 {
			return dial(int(time.Now().UnixNano() / 64))
		}, nil)},
		{name: "a global variable", sync: true, debug: true, plant: nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 { shots++; return dial(shots) }, nil)},
		{name: "a field of the game that is state", sync: true, debug: true, plant: nudges(func(g *workshop, _ *foretick.Frame, _ ecs.Rows, _ int) float32 {
			g.count++
			return dial(g.count)
		}, nil)},
		{name: "a variable in a closure", sync: true, debug: true, plant: func(g *workshop, p *foretick.Protocol) {
			cooldown := 0 // ticks
			nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 {
				if cooldown--; cooldown < 0 {
					cooldown = 9
					return 0.5
				}
				return 0
			}, nil)(g, p)
		}},
		{name: "a count of frames outside of state", sync: true, debug: true, plant: func(g *workshop, p *foretick.Protocol) {
			frames := 0
			p.Render("count", func(*foretick.Frame, ecs.Rows) { frames++ }, ecs.Once())
			nudges(func(*workshop, *foretick.Frame, ecs.Rows, int) float32 { return dial(frames) }, nil)(g, p)
		}},
		{name: "what was drawn last", sync: true, debug: true, plant: func(g *workshop, p *foretick.Protocol) {
			p.Render("draw", func(f *foretick.Frame, rows ecs.Rows) {
				for _, pos := range g.pos.Slice(rows) {
					g.drawn = pos.Y // interpolated
				}
			}, ecs.Read(&g.pos))
			nudges(func(g *workshop, _ *foretick.Frame, _ ecs.Rows, _ int) float32 { return g.drawn / 16 }, nil)(g, p)
		}},
		{name: "what was seen first, kept", debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			if _, ok := g.begun[rows.Owner()]; !ok {
				g.begun[rows.Owner()] = float32(f.Tick%16) / 8
			}
			return g.begun[rows.Owner()]
		}, nil)},
		{name: "a slice in the order of entities", debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, _ int) float32 {
			var all []ecs.Entity
			for _, others := range g.players.All(f.World) {
				all = append(all, others.Entities()...)
			}
			sort.Slice(all, func(i, j int) bool { return all[i].Index() < all[j].Index() })
			for n, e := range all {
				if f.World.Owner(e) == rows.Owner() {
					return float32(n) / 8
				}
			}
			return 0
		}, nil)},
		{name: "a handle's number", debug: true, plant: nudges(func(_ *workshop, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			return dial(int(rows.Entity(i).Index() % 1009))
		}, nil)},
		{name: "a pointer's value", debug: true, plant: nudges(func(g *workshop, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			return float32(uintptr(unsafe.Pointer(&g.pos.Slice(rows)[i]))>>4%1021) / 1024 // the seven values of dial would be equal too often
		}, nil)},
		{name: "a goroutine", sync: true, debug: true, plant: nudges(func(g *workshop, _ *foretick.Frame, _ ecs.Rows, _ int) float32 {
			done := make(chan struct{})
			go func() { g.noise.Add(1); close(done) }()
			<-done
			return dial(int(g.noise.Load()))
		}, nil)},
		{name: "a float of another precision on one end", debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			y := g.pos.Slice(rows)[i].Y
			if f.IsServer() { // like a compiler that fuses operations
				return float32(math.Sin(float64(y) * 1e6))
			}
			return float32(math.Sin(float64(y * 1e6)))
		}, nil)},
		{name: "what one end alone does", debug: true, plant: nudges(func(_ *workshop, f *foretick.Frame, _ ecs.Rows, _ int) float32 {
			if f.IsServer() && f.Tick%16 == 0 {
				return 0.25
			}
			return 0
		}, nil)},
		{name: "asking whether it is a replay", sync: true, debug: true, plant: nudges(func(_ *workshop, f *foretick.Frame, _ ecs.Rows, _ int) float32 {
			if f.Replay {
				return 0.25
			}
			return 0
		}, nil)},
		{name: "a local component", sync: true, debug: true, plant: nudges(func(g *workshop, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			return float32(g.local.Slice(rows)[i].N) / 1000
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Read(&g.local)} })},
		{name: "another player's private field", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, _ ecs.Rows, _ int) float32 {
			return g.secrets(f)
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.ReadOther(&g.secret)} })},
		{name: "an undeclared read", debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, _ ecs.Rows, _ int) float32 { return g.secrets(f) }, nil)},
		{name: "an undeclared write", debug: true, quiet: true, plant: nudges(func(g *workshop, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			g.tally.Slice(rows)[i].N = 7
			return 0
		}, nil)},
		{name: "a write to what the server alone keeps", sync: true, debug: true, plant: nudges(func(g *workshop, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			g.badge.Slice(rows)[i].N++
			return 0
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Write(&g.badge)} })},
		{name: "an order that is not declared", quiet: true, why: "the order then follows from the declarations, and is part of the hash: both ends have the same", plant: func(g *workshop, p *foretick.Protocol) {
			p.Shared("planted", func(_ *foretick.Frame, rows ecs.Rows) {
				for i := range rows.Len() {
					g.pos.Slice(rows)[i].X *= 0.5
				}
			}, ecs.Write(&g.pos))
		}},
		{name: "a singleton", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, _ ecs.Rows, _ int) float32 {
			g.memo.Get(f.World).N++
			return dial(int(g.memo.Get(f.World).N))
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Write(&g.memo)} })},
		{name: "a handle kept over a rollback", quiet: true, why: "SyncTest runs no tick again across a change of what the system reads of others, and here all others move", plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			player := rows.Owner()
			if f.Tick%16 == 0 {
				g.kept[player] = f.SpawnBy(rows.Entity(i), &g.bolt)
			}
			if at := g.pos.Find(f.World, g.kept[player]); at != nil {
				return 0.25
			}
			return 0
		}, func(g *workshop) []ecs.Access {
			return []ecs.Access{ecs.Create(&g.pos, &g.tally), ecs.ReadOther(&g.pos), ecs.After("burn")}
		})},
		{name: "a spawn by a counter", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			if g.count++; g.count%15 == 0 {
				f.SpawnBy(rows.Entity(i), &g.bolt)
			}
			return 0
		}, func(g *workshop) []ecs.Access {
			return []ecs.Access{ecs.Create(&g.pos, &g.tally), ecs.After("burn")}
		})},
		{name: "a component added by a counter", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			if g.count++; g.count%15 == 0 {
				g.heat.Add(f.World, rows.Entity(i), heat{1})
			} else if g.count%15 == 7 {
				g.heat.Remove(f.World, rows.Entity(i))
			}
			return 0
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Create(&g.heat), ecs.Structural()} })},
		{name: "a spawn past the frame", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, _ int) float32 {
			if f.Tick%16 == 0 {
				f.World.Spawn(&g.bolt, rows.Owner())
			}
			return 0
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Create(&g.pos, &g.tally)} })},
		{name: "Destroy and Spawn in one tick past the frame", sync: true, debug: true, plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
			if f.Tick == 70 {
				f.World.Destroy(rows.Entity(i))
				f.SpawnBy(rows.Entity(i), &g.player)
			}
			return 0
		}, func(g *workshop) []ecs.Access { return []ecs.Access{ecs.Create(&g.pos, &g.tally), ecs.Structural()} })},
		{name: "an event by a side condition", quiet: true, why: "an event leaves nothing in state: the client counts it as cancelled, or never predicts it, and corrects nothing",
			plant: nudges(func(g *workshop, f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if g.count++; g.count%5 == 0 {
					g.rang.Raise(f, rows.Entity(i), 1)
				}
				return 0
			}, nil)},
	}
}

// secrets adds up all values that are sent only to their owners.
func (g *workshop) secrets(f *foretick.Frame) (sum float32) {
	for _, others := range g.all.All(f.World) {
		for _, s := range g.secret.Slice(others) {
			sum += float32(s.N)
		}
	}
	return sum / 1000
}

func (g *workshop) sample(v client.View) move {
	return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/9%3) - 1}
}

// accused returns the faults that this build reports for a game: by SyncTest, by the protocol's
// error, or by a panic.
func accused(t *testing.T, plant func(*workshop, *foretick.Protocol)) (text string) {
	defer func() {
		if p := recover(); p != nil {
			err, ok := p.(error)
			require.True(t, ok, "%v", p)
			text = err.Error()
		}
	}()
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		g := &workshop{}
		return simtest.Player{Protocol: g.protocol(plant), Sample: client.Sample(&g.cmd, g.sample)}
	}, simtest.SyncConfig{})
	if err != nil {
		return err.Error()
	}
	return strings.Join(faults, "\n")
}

// SyncTest or a debug build names the system for at least 20 in 24 kinds of fault. For each other
// kind the table has the reason why not.
func TestSortsOfFault(t *testing.T) {
	named, all := 0, faultSorts()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			text := accused(t, s.plant)
			want := s.sync && !debugging || s.debug && debugging
			require.Equal(t, want, strings.Contains(text, `"planted"`), "%q", text)
			require.Equal(t, !s.sync && !s.debug, s.why != "", "a reason belongs to what nobody names")
			if !s.quiet {
				require.NotEmpty(t, text)
			}
		})
		if s.sync || s.debug {
			named++
		}
	}
	t.Logf("of %d sorts the system of %d is named", len(all), named)
	require.GreaterOrEqual(t, len(all), 24)
	require.GreaterOrEqual(t, 24*named, 20*len(all))
	require.Empty(t, accused(t, func(*workshop, *foretick.Protocol) {}), "without a fault")
}

// A correction because of a planted fault has the cause Code, and never no cause.
func TestSortsOfFaultAreCalledCode(t *testing.T) {
	all, sorts := map[prediction.Cause]int{}, 0
	for _, s := range faultSorts() {
		by := causesOf(t, s.plant)
		n := 0
		for c, k := range by {
			all[c] += k
			n += k
		}
		if n > 0 {
			sorts++
		}
		require.GreaterOrEqual(t, 100*by[prediction.Code], 95*n, "%s: %v", s.name, by)
	}
	n := 0
	for _, k := range all {
		n += k
	}
	t.Logf("%d corrections by %d sorts: %v", n, sorts, all)
	require.Greater(t, sorts, map[bool]int{false: 15, true: 10}[debugging], "a debug build refuses more at once")
	require.GreaterOrEqual(t, 100*all[prediction.Code], 95*n)
	require.Less(t, 100*all[prediction.Unknown], n)
}

// causesOf plays a game with a fault on a good network, where nothing else causes corrections.
func causesOf(t *testing.T, plant func(*workshop, *foretick.Protocol)) (by map[prediction.Cause]int) {
	by = map[prediction.Cause]int{}
	defer func() { _ = recover() }() // the game is refused at once
	m := simtest.New(6)
	g := &workshop{}
	if _, err := m.Serve(server.Config{Protocol: g.protocol(plant)}); err != nil {
		return by
	}
	link := sim.Link{Latency: 60 * time.Millisecond}
	for range 2 {
		g := &workshop{}
		_, err := m.Join(client.Config{Protocol: g.protocol(plant), Sample: client.Sample(&g.cmd, g.sample),
			OnMisprediction: func(w prediction.Misprediction) {
				if w.Tick > 60 { // at first the client has sent no command
					by[w.Cause]++
				}
			}}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
	}
	m.Run(12 * time.Second)
	return by
}

// A correction names a server system that writes predicted state without declaring it, and does
// not get the cause Code. Debug builds refuse such a system.
func TestUndeclaredServerWriteIsNamed(t *testing.T) {
	by := causesOf(t, func(g *workshop, p *foretick.Protocol) {
		p.Server("sneak", func(f *foretick.ServerFrame, rows ecs.Rows) {
			defer f.World.Guard(f.World.Guard(false))
			for i, pos := 0, g.pos.Slice(rows); i < len(pos) && f.Tick%20 == 0; i++ {
				pos[i].Y++
			}
		}, ecs.With(&g.cmd))
	})
	require.Equal(t, []int{by[prediction.ServerEffect], 0}, []int{max(20, by[prediction.ServerEffect]), by[prediction.Code]}, "%v", by)
}
