package optiontest

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type (
	motto struct {
		S string  `net:"max=8"`
		L []uint8 `net:"max=4"`
	}
	pace  struct{ N uint8 }
	clock struct{ N uint32 }
	scrap struct {
		L []uint32 `net:"max=512"`
	}
	limit struct {
		A float32
		B float64
	}
	badge struct{}
)

// uses are declarations of a game that have no name of their own in the API.
type uses struct {
	motto ecs.Component[motto]
	scrap ecs.Component[scrap]
	limit ecs.Component[limit]
	badge ecs.Component[badge]
	sheet ecs.Prefab // its entities are longer than a packet
	token ecs.Prefab // has only a tag
	pace  ecs.Singleton[pace]
	clock ecs.Singleton[clock]
}

// declare declares the components of uses, and returns those that bodies have.
func (u *uses) declare(g *game, p *foretick.Protocol, full []foretick.ComponentOption) (body []ecs.Handle) {
	if g.has("use predicted text") {
		p.Component(&u.motto, full...)
		body = append(body, &u.motto)
	}
	if g.has("use a shared singleton") {
		p.Singleton(&u.pace, foretick.Predicted())
	}
	if g.has("use a shared clock") {
		p.Singleton(&u.clock, foretick.Predicted())
	}
	if g.has("use infinities") {
		p.Component(&u.limit, full...)
		body = append(body, &u.limit)
	}
	if g.has("use long values") {
		p.Component(&u.scrap)
		p.Prefab(&u.sheet, "sheet", &u.scrap)
	}
	if g.has("use a tag alone") {
		p.Component(&u.badge)
		p.Prefab(&u.token, "token", &u.badge)
	}
	return body
}

// fill spawns the entities of uses.
func (u *uses) fill(g *game, f *foretick.ServerFrame) {
	if g.on("use long values") {
		u.scrap.Get(f.World, f.Spawn(&u.sheet, ecs.Nobody)).L = make([]uint32, 400)
	}
	if g.on("use a tag alone") {
		f.Spawn(&u.token, ecs.Nobody)
	}
}

// systems declares the systems that change the components of uses.
func (u *uses) systems(g *game, p *foretick.Protocol) {
	if g.on("use predicted text") {
		p.Shared("boast", func(f *foretick.Frame, rows ecs.Rows) {
			for i, all := 0, u.motto.Slice(rows); i < len(all) && f.Tick < g.until; i++ {
				all[i].S = "foretick"[f.Tick/10%8:]
				all[i].L = append(all[i].L[:0:0], make([]uint8, f.Tick/10%5)...)
			}
		}, ecs.Write(&u.motto))
	}
	if g.on("use a shared singleton") {
		p.Shared("pace", func(f *foretick.Frame, _ ecs.Rows) {
			if f.Tick < g.until {
				u.pace.Get(f.World).N = uint8(f.Tick / 10)
			}
		}, ecs.Read(&g.cmd), ecs.Write(&u.pace))
	}
	if g.on("use a shared clock") {
		p.Shared("clock", func(f *foretick.Frame, _ ecs.Rows) {
			if f.Tick < g.until {
				u.clock.Get(f.World).N++
			}
		}, ecs.Once(), ecs.Write(&u.clock))
	}
	if g.has("use a tag of the match") {
		p.Shared("charge", func(f *foretick.Frame, rows ecs.Rows) {
			for i, at := 0, g.place.Slice(rows); i < len(at) && f.Tick < g.until; i++ {
				at[i].X = clamped(at[i].X + f.DT)
			}
		}, ecs.With(&g.cmd), ecs.Write(&g.place), ecs.Tags("battle"))
		p.Shared("feast", func(f *foretick.Frame, rows ecs.Rows) {
			for i, at := 0, g.place.Slice(rows); i < len(at) && f.Tick < g.until; i++ {
				at[i].X = clamped(at[i].X - f.DT)
			}
		}, ecs.With(&g.cmd), ecs.Write(&g.place), ecs.Tags("lobby"))
	}
	if g.on("use infinities") {
		p.Server("grow", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, u.limit.Slice(rows); i < len(all) && f.Tick%40 == 9 && f.Tick < g.until; i++ {
				all[i] = limit{float32(math.Inf(int(f.Tick/40%2)*2 - 1)), float64(f.Tick)}
			}
		}, ecs.Write(&u.limit))
	}
	if g.on("use long values") {
		p.Server("scribble", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, u.scrap.Slice(rows); i < len(all) && f.Tick%30 == 9 && f.Tick < g.until; i++ {
				for k := range all[i].L {
					all[i].L[k] += f.Tick * uint32(k+1) * 2654435761
				}
			}
		}, ecs.Write(&u.scrap))
	}
}
