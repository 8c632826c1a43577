package game

import (
	"fmt"
	"maps"
	"math"
	"math/cmplx"
	"math/rand"
	"os"
	"slices"
	"sort"
	"time"
	"unsafe"

	"example.com/planted/lib"
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01"`
}

type Velocity struct{ X, Y float32 }

type Score struct {
	Frags int // want `game.Score.Frags travels and is int, which has 32 bits on some machines; write int32 or int64`
	local int `net:"-"`
	List  []struct {
		N uint // want `Score.List\[\].N travels and is uint`
	} `net:"max=4"`
}

type Kill struct {
	By uintptr // want `Kill.By travels and is uintptr`
}

type Move struct{ X, Y float32 }

type meters float32

type Game struct {
	Pos    ecs.Component[Position]
	Vel    ecs.Component[Velocity]
	Score  ecs.Component[Score]
	Move   ecs.Component[Move]
	Kill   foretick.Message[Kill]
	turret lib.Turret
	count  int32
	alone  []int32
	shared []int32
	byID   map[int32]float32
	hook   func(*foretick.Frame, ecs.Rows)
}

var total int32

type system struct {
	name string
	run  func(*foretick.Frame, ecs.Rows)
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("planted", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Vel, foretick.Predicted())
	p.Component(&g.Score)
	p.Command(&g.Move)
	g.Kill.OnClient(p, func(*foretick.Frame, foretick.Tick, Kill) { total++ }) // a client's handler may
	p.Shared("products", g.products)
	p.Shared("functions", g.functions)
	p.Shared("orders", g.orders)
	p.Shared("machine", g.machine)
	p.Shared("concurrent", g.concurrent)
	p.Shared("state", g.state)
	p.Shared("pointers", g.pointers)
	p.Shared("calls", g.calls)
	p.Shared("allowed", g.allowed)
	p.Shared("far", lib.Whole) // want `shared system "far" calls Whole \(lib.go:\d+\): ranges over a map`
	lib.Register(p, func(f *foretick.Frame, _ ecs.Rows) {
		g.count++ // want `shared system: writes g.count, a variable outside of the function`
	})
	for _, s := range []system{{"listed", g.listed}, {name: "keyed", run: g.keyed}} {
		p.Shared(s.name, s.run)
	}
	g.hook = hooked
	p.Shared("hooked", g.hook)
	p.Shared("made", g.made(3))
	p.Server("server", g.server)
	p.OnLevel(func(f *foretick.Frame, data []byte) {
		_ = time.Now() // want `level: time.Now depends on the machine`
	})
	foretick.PredictRemote(p, &g.Move, func(f *foretick.Frame, _ ecs.Entity, ahead int, cmd *Move) {
		cmd.X = float32(math.Pow(0.9, float64(ahead))) // want `guess of remote input: math.Pow has other last bits`
	}, foretick.RemoteConfig{})
	foretick.Hitbox(p, &g.Pos, func(v *Position) lagcomp.Sphere {
		return lagcomp.Sphere{X: v.X + v.Y*v.X} // want `hitbox: v.Y \* v.X is added without being rounded`
	})
	foretick.LifeID(p, &g.Score, func(s *Score) uint32 { return rand.Uint32() }) // want `life: math/rand.Uint32 gives other numbers`
	foretick.Interpolate(p, &g.Pos, func(from, to Position, t float32) Position {
		return Position{X: from.X + (to.X-from.X)*t} // want `interpolation: \(to.X - from.X\) \* t is added without being rounded`
	})
	foretick.Decay(p, &g.Move, decay)
	return p
}

func decay(cmd *Move, missing int) {
	cmd.X -= cmd.X * cmd.Y // want `decayed command decay: cmd.X \* cmd.Y is added without being rounded`
}

func (g *Game) products(f *foretick.Frame, rows ecs.Rows) {
	pos, vel := g.Pos.Slice(rows), g.Vel.Slice(rows)
	var m meters = 3
	var sum float64
	for i := range pos {
		pos[i].X += vel[i].X * f.DT                  // want `products": vel\[i\].X \* f.DT is added without being rounded`
		pos[i].Y -= (vel[i].Y * f.DT)                // want `write float32\(vel\[i\].Y \* f.DT\)`
		pos[i].X = pos[i].X*pos[i].Y - vel[i].X*f.DT // want `pos\[i\].X \* pos\[i\].Y is added` `vel\[i\].X \* f.DT is added`
		step := vel[i].X * f.DT
		pos[i].X = pos[i].X + step     // want `step holds a product without rounding, and is added`
		pos[i].Y += -(vel[i].Y * f.DT) // want `is added without being rounded`
		vel[i].X = vel[i].Y * vel[i].X
		vel[i].Y = vel[i].X + 1              // want `vel\[i\].X holds a product`
		m += m * m                           // want `write meters\(m \* m\)`
		pos[i].X += area(vel[i].X, vel[i].Y) // want `area\(vel\[i\].X, vel\[i\].Y\) is added without being rounded`
		pos[i].Y = mix(pos[i].X, pos[i].Y, 3)
		c := complex(pos[i].X, pos[i].Y)
		c = c * c                                     // want `multiplies complex numbers`
		pos[i].X += float32(vel[i].X * f.DT)          // rounded
		pos[i].X += vel[i].X * 2                      // exact
		pos[i].X += vel[i].X * 3 * 0.5                // exact by its last factor, and yet: see the next line
		sum += float64(vel[i].X) * float64(vel[i].Y)  // exact in float64
		pos[i].Y = (pos[i].X + vel[i].X) * f.DT       // want `vel\[i\].X holds a product`
		pos[i].Y = lib.Fine(pos[i].X, vel[i].X, f.DT) // rounded there
		n := int32(i) * 3
		n += n * n // integers
	}
}

func area(x, y float32) float32 { return x * y }

func mix[T float32 | float64](a, b, t T) T {
	return a + b*t // want `shared system "products" by mix: b \* t is added without being rounded.*write T\(b \* t\)`
}

func (g *Game) functions(f *foretick.Frame, rows ecs.Rows) {
	x := 0.5
	_, _ = math.Sincos(x) // want `shared system "functions": math.Sincos has other last bits on other architectures; use mathf.Sincos`
	_ = math.Exp2(x)      // want `math.Exp2`
	_ = math.Tanh(x)      // want `math.Tanh.*use a table`
	_ = cmplx.Sqrt(2)     // want `cmplx.Sqrt`
	fn := math.Hypot      // want `math.Hypot has other last bits`
	_, _ = fn(x, x), math.Sqrt(x)+math.Floor(x)+math.Abs(x)
}

func (g *Game) orders(f *foretick.Frame, rows ecs.Rows) {
	for id, v := range g.byID { // want `ranges over a map`
		_, _ = id, v
	}
	for id := range maps.Keys(g.byID) { // want `maps.Keys has another order`
		_ = id
	}
	for _, id := range slices.Sorted(maps.Keys(g.byID)) { // sorted
		_ = id
	}
	var ids []int32
	for id := range g.byID { // sorted below
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	n := 0
	for range g.byID { // counted only
		n++
	}
	copied, latest := map[int32]float32{}, map[int32]int32{}
	for id, v := range g.byID { // each key its own
		copied[id] = v * 2
	}
	for id, v := range g.byID { // want `ranges over a map`
		copied[int32(v)] = float32(id)
	}
	for id := range g.byID { // want `ranges over a map`
		latest[id] = int32(len(latest))
	}
	var sum float32
	for _, v := range g.byID { // want `ranges over a map`
		sum += v
	}
}

func (g *Game) machine(f *foretick.Frame, rows ecs.Rows) {
	_ = time.Since(time.Time{}) // want `time.Since depends on the machine; use Frame.Tick and Frame.DT`
	_ = rand.Float32()          // want `math/rand.Float32 gives other numbers on each end; use Frame.Rand`
	_ = os.Getenv("HOME")       // want `os.Getenv depends on the machine`
	_ = 3 * time.Second
}

func (g *Game) concurrent(f *foretick.Frame, rows ecs.Rows) {
	ch := make(chan int, 1)
	go func() {}() // want `starts a goroutine`
	ch <- 1        // want `sends on a channel`
	<-ch           // want `receives from a channel`
	select {       // want `selects among channels`
	case <-ch:
	default:
	}
	for range ch { // want `receives from a channel`
	}
	close(ch) // want `closes a channel`
}

func (g *Game) state(f *foretick.Frame, rows ecs.Rows) {
	total++                        // want `writes total, a package variable`
	g.count = 3                    // want `writes g.count, which`
	g.byID[3] = 1                  // want `writes g.byID\[3\]`
	delete(g.byID, 3)              // want `writes g.byID`
	g.turret.Fire()                // want `shared system "state" calls Fire \(lib.go:\d+\): writes t.Shots`
	g.shared = append(g.shared, 1) // want `writes g.shared`
	g.alone = g.alone[:0]          // memory of this system alone, reset first
	g.alone = append(g.alone, 1)
	var own lib.Turret
	own.Fire()
	bump(&g.count) // the write is reported where it is
	local := g.count
	bump(&local)
	g.Pos.Slice(rows)[0].X = 1
	g.helper()
}

func bump(n *int32) {
	*n++ // want `shared system "state" by bump: writes \*n`
}

func (g *Game) helper() {
	g.shared[0] = 1 // want `shared system "state" by helper: writes g.shared\[0\]`
}

func (g *Game) pointers(f *foretick.Frame, rows ecs.Rows) {
	pos := g.Pos.Slice(rows)
	a, b := &pos[0], &pos[1]
	if a == b { // want `compares pointers`
		return
	}
	if a == nil {
		return
	}
	_ = uintptr(unsafe.Pointer(a)) // want `makes a number of an address`
	_ = fmt.Sprintf("%p", a)       // want `prints an address`
}

func (g *Game) calls(f *foretick.Frame, rows ecs.Rows) {
	_ = lib.Jitter(1) // want `shared system "calls" calls Jitter \(lib.go:\d+\): math/rand/v2.Float64 gives other numbers`
	first()
}

func first() { second() }

func second() {
	_ = time.Now() // want `shared system "calls" by first, second: time.Now depends on the machine`
	first()
}

func (g *Game) allowed(f *foretick.Frame, rows ecs.Rows) {
	g.count++ //foretick:allow a figure that no system reads
	//foretick:allow the same
	g.count++
	g.count++ /* want `writes g.count` `say why` */ //foretick:allow
}

func (g *Game) listed(f *foretick.Frame, rows ecs.Rows) {
	_ = time.Now() // want `shared system listed: time.Now`
}

func (g *Game) keyed(f *foretick.Frame, rows ecs.Rows) {
	_ = time.Now() // want `shared system keyed: time.Now`
}

func hooked(f *foretick.Frame, rows ecs.Rows) {
	_ = time.Now() // want `shared system "hooked": time.Now`
}

func (g *Game) made(n int) func(*foretick.Frame, ecs.Rows) {
	return func(f *foretick.Frame, rows ecs.Rows) {
		_ = time.Now() // want `shared system "made": time.Now`
	}
}

func (g *Game) server(f *foretick.ServerFrame, rows ecs.Rows) { // the server alone runs it
	g.count++
	_ = time.Now()
	_ = math.Sin(1)
}
