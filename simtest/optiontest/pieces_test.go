package optiontest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Components with one net tag each.
type (
	tagSim struct {
		A float32 `net:"max=9,step=0.1,sim=0.05"`
	}
	tagAngle struct {
		A float32 `net:"angle"`
	}
	tagBits struct {
		A float32 `net:"angle,bits=9"`
	}
	tagQuat struct {
		Q [4]float32 `net:"quat"`
	}
	tagVec struct {
		V [2]float32 `net:"vec,max=9,step=0.1"`
	}
	tagAllies struct {
		A uint16 `net:"allies"`
	}
	tagEnemies struct {
		A uint16 `net:"enemies"`
	}
	tagTo struct {
		A uint16 `net:"to=club"`
	}
	tagTol struct {
		A float32 `net:"max=9,step=0.1,tol=0.2"`
	}
	tagLerp struct {
		A float32 `net:"max=9,step=0.1,lerp"`
	}
	tagSlerp struct {
		Q [4]float32 `net:"quat,slerp"`
	}
	tagHermite struct {
		A float32 `net:"max=9,step=0.1,hermite"`
	}
	tagExtrapolate struct {
		A float32 `net:"max=9,step=0.1,lerp,extrapolate=3"`
	}
	tagSnap struct {
		A float32 `net:"max=9,step=0.1,snap"`
	}
)

// piece is the component of a tag, whatever its Go type.
type piece interface {
	handle() ecs.Handle
	turn(rows ecs.Rows, n uint32)
	foreseeable() bool // reports whether every client receives the whole component
}

type pieceOf[T any] struct {
	c   ecs.Component[T]
	set func(v *T, n float32)
}

func (k *pieceOf[T]) handle() ecs.Handle { return &k.c }

func (k *pieceOf[T]) turn(rows ecs.Rows, n uint32) {
	for i, all := 0, k.c.Slice(rows); i < len(all); i++ {
		k.set(&all[i], float32((n+uint32(i))%64)/10)
	}
}

func (k *pieceOf[T]) foreseeable() bool {
	switch any(k).(type) {
	case *pieceOf[tagAllies], *pieceOf[tagEnemies], *pieceOf[tagTo]:
		return false
	}
	return true
}

func made[T any](set func(v *T, n float32)) func() piece {
	return func() piece { return &pieceOf[T]{set: set} }
}

func turned(q *[4]float32, n float32) {
	s, c := math.Sincos(float64(n) / 2)
	*q = [4]float32{0, 0, float32(s), float32(c)}
}

// pieces has functions that make the component of each tag, for each end of a game.
var pieces = map[string]func() piece{
	"tag sim":         made(func(v *tagSim, n float32) { v.A = n }),
	"tag angle":       made(func(v *tagAngle, n float32) { v.A = n / 3 }),
	"tag bits":        made(func(v *tagBits, n float32) { v.A = n / 3 }),
	"tag quat":        made(func(v *tagQuat, n float32) { turned(&v.Q, n) }),
	"tag vec":         made(func(v *tagVec, n float32) { v.V[0] = n }),
	"tag allies":      made(func(v *tagAllies, n float32) { v.A = uint16(n * 10) }),
	"tag enemies":     made(func(v *tagEnemies, n float32) { v.A = uint16(n * 10) }),
	"tag to":          made(func(v *tagTo, n float32) { v.A = uint16(n * 10) }),
	"tag tol":         made(func(v *tagTol, n float32) { v.A = n }),
	"tag lerp":        made(func(v *tagLerp, n float32) { v.A = n }),
	"tag slerp":       made(func(v *tagSlerp, n float32) { turned(&v.Q, n) }),
	"tag hermite":     made(func(v *tagHermite, n float32) { v.A = n }),
	"tag extrapolate": made(func(v *tagExtrapolate, n float32) { v.A = n }),
	"tag snap":        made(func(v *tagSnap, n float32) { v.A = n }),
}

// sortLast sorts pieces, so that all ends have the same order.
func sortLast(all []piece) {
	slices.SortFunc(all, func(a, b piece) int {
		return strings.Compare(fmt.Sprintf("%T", a), fmt.Sprintf("%T", b))
	})
}

// systems declares the systems.
func (g *game) systems(p *foretick.Protocol) {
	g.bodies = p.Query(ecs.With(&g.cmd))
	walk := []ecs.Access{ecs.Read(&g.cmd), ecs.Write(&g.place)}
	if g.has("ecs.Partial") {
		walk = append(walk, ecs.Partial())
	}
	if g.has("ecs.Stage") {
		walk = append(walk, ecs.Stage("early"))
	}
	if g.has("ecs.Create") {
		walk = append(walk, ecs.Create(&g.place, &g.fuse))
	}
	for _, name := range []string{"Event.OnServer", "Event.OnFinal", "Event.OnPredicted", "Event.OnConfirmed", "Event.OnCancelled"} {
		if g.on(name) {
			g.asked["raised"] = true
		}
	}
	raises := g.asked["raised"]
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.place.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			part := float32(f.DT) * 30
			at[i].X = clamped(at[i].X + cmd[i].X*part)
			at[i].Y = clamped(at[i].Y + cmd[i].Y*part)
			if !cmd[i].Fire || f.Tick >= g.until {
				continue
			}
			if raises {
				g.shot.Raise(f, rows.Entity(i), word{uint16(f.Tick)})
			}
			if g.on("ecs.Create") {
				spark := f.SpawnBy(rows.Entity(i), &g.spark)
				*g.place.Get(f.World, spark) = at[i]
				g.fuse.Get(f.World, spark).Left = 25
			}
		}
	}, walk...)
	if g.on("ecs.Create") {
		p.Shared("cool", func(f *foretick.Frame, rows ecs.Rows) {
			for i, fuse := 0, g.fuse.Slice(rows); i < len(fuse); i++ {
				if fuse[i].Left--; fuse[i].Left == 0 {
					f.Destroy(rows.Entity(i))
				}
			}
		}, ecs.Write(&g.fuse), ecs.Structural())
	}
	g.sharedSystems(p)
	g.uses.systems(g, p)
	g.serverSystems(p)
}

func clamped(x float32) float32 { return min(max(x, -45), 45) }

func (g *game) sharedSystems(p *foretick.Protocol) {
	count := []ecs.Access{ecs.Write(&g.whole)}
	if g.has("ecs.After") {
		count = append(count, ecs.After("walk"))
	}
	if g.has("ecs.With") {
		count = append(count, ecs.With(&g.cmd))
	}
	if g.has("ecs.Optional") {
		count = append(count, ecs.Optional(&g.place))
	}
	p.Shared("count", func(f *foretick.Frame, rows ecs.Rows) {
		for i, all := 0, g.whole.Slice(rows); i < len(all) && f.Tick < g.until; i++ {
			all[i].N = uint8(f.Tick / 9)
		}
	}, count...)
	if g.has("ecs.ReadOther") {
		p.Shared("look", func(f *foretick.Frame, _ ecs.Rows) {
			for _, rows := range g.bodies.All(f.World) {
				_ = g.whole.Slice(rows)
			}
		}, ecs.Write(&g.whole), ecs.ReadOther(&g.whole))
	}
	if g.has("ecs.ReadOwn") {
		p.Shared("look at mine", func(f *foretick.Frame, rows ecs.Rows) {
			for i := range rows.Len() {
				_ = g.place.Get(f.World, rows.Entity(i)).X
			}
		}, ecs.Write(&g.whole), ecs.With(&g.cmd), ecs.ReadOwn(&g.place))
	}
	if g.has("ecs.WriteOther") {
		p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
			for _, cmd := range g.cmd.Slice(rows) {
				if !cmd.Fire || f.Tick >= g.until {
					continue
				}
				for _, others := range g.bodies.All(f.World) {
					for k, at := 0, g.place.Slice(others); k < len(at); k++ {
						at[k].X = clamped(at[k].X + 0.5)
					}
				}
			}
		}, ecs.Read(&g.cmd), ecs.WriteOther(&g.place))
	}
	tick := func(*foretick.Frame, ecs.Rows) {}
	if g.has("ecs.Tags") {
		p.Server("fight", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Tags("battle"), ecs.Read(&g.purse))
		p.Render("draw the paths", tick, ecs.Tags("paths"), ecs.Read(&g.place))
	}
	if g.has("Protocol.Render") {
		p.Render("draw", tick, ecs.Read(&g.place))
	}
	if g.has("ecs.Render") {
		p.Render("draw also", tick, ecs.Read(&g.place), ecs.Render())
	}
	if g.has("Protocol.Use") {
		p.Use(module{g})
	}
}

// module is a Module with a part of the game's declarations.
type module struct{ g *game }

func (m module) Declare(p *foretick.Protocol) {
	p.Shared("module", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&m.g.cmd), ecs.Write(&m.g.whole))
}

func (g *game) serverSystems(p *foretick.Protocol) {
	// The server moves bodies in a way that clients cannot predict, which gives corrections.
	wind := []ecs.Access{ecs.Write(&g.place), ecs.With(&g.cmd)}
	if g.has("ecs.Before") {
		wind = append(wind, ecs.Before("last"))
	}
	if g.has("ecs.OptionalWrite") {
		wind = append(wind, ecs.OptionalWrite(&g.purse))
	}
	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.place.Slice(rows); i < len(at) && f.Tick%50 == 11 && f.Tick < g.until; i++ {
			at[i].Y = clamped(at[i].Y + 1.5)
			at[i].Life++
		}
	}, wind...)
	p.Server("last", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Read(&g.purse))
	for i, k := range g.pieces {
		declare := func(name string, run func(*foretick.Frame, ecs.Rows), access ...ecs.Access) {
			p.Server(name, func(f *foretick.ServerFrame, rows ecs.Rows) { run(f.Frame, rows) }, access...)
		}
		if g.on("use predicted tags") && k.foreseeable() {
			declare = p.Shared
		}
		declare(fmt.Sprint("turn ", i), func(f *foretick.Frame, rows ecs.Rows) {
			if f.Tick%7 == 1 && f.Tick < g.until {
				k.turn(rows, f.Tick/7)
			}
		}, ecs.Write(k.handle()))
	}
	if g.has("Protocol.Singleton") {
		p.Server("score", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick < g.until {
				g.score.Get(f.World).N = uint16(f.Tick / 11)
			}
		}, ecs.Once(), ecs.Write(&g.score))
	}
	if g.tells {
		p.Server("tell", func(f *foretick.ServerFrame, _ ecs.Rows) {
			g.lore.Get(f.World).R = rank(f.Tick / 30 % 2)
		}, ecs.Once(), ecs.Write(&g.lore))
	}
	if g.has("ecs.Once") {
		p.Server("once", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once())
	}
	if g.has("ecs.Without") {
		p.Server("without", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Write(&g.sign), ecs.Without(&g.cmd))
	}
	if g.has("ecs.Structural") {
		p.Server("respawn", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick%90 == 45 && f.Tick < g.until {
				f.Spawn(&g.prop, ecs.Nobody)
			}
		}, ecs.Once(), ecs.Create(append([]ecs.Handle{&g.sign}, g.everywhere[1:]...)...), ecs.Structural())
	}
}
