// Package levels keeps its level in Go fields, rightly and wrongly.
package levels

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
)

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01"`
}

type Move struct{ X, Y int8 }

type Skip struct{ Name string }

type Level struct {
	Name  string
	Walls []float32
	Seen  int32
}

var levels = map[string]*Level{}

var newest *Level

type Game struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Skip   foretick.Request[Skip]
	server *server.Server
	level  *Level
	raised *Level
	doors  []bool
	title  string
	steps  int32
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("levels", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	var ground float32
	p.OnLevel(func(_ *foretick.Frame, data []byte) {
		g.load(string(data))
		ground = float32(len(data))
		newest = g.level // want `level: writes newest, a package variable`
		g.raised = g.level
		g.doors = make([]bool, 8)
		g.title = string(data)
		g.steps = 0
	})
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		for i := range g.Pos.Slice(rows) {
			g.Pos.Slice(rows)[i].Y = ground
			g.block(&g.Pos.Slice(rows)[i])
		}
		g.steps++         // want `shared system "walk": writes g.steps, a variable outside of the function, which no history holds`
		g.doors[0] = true // want `shared system "walk": writes g.doors\[0\], a variable outside of the function`
		g.level.Seen++    // want `shared system "walk": writes g.level.Seen`
	})
	p.Server("next", g.next)
	p.Server("raise", g.raise)
	g.Skip.Handle(p, func(_ *foretick.ServerFrame, _ foretick.PlayerID, s Skip) {
		g.raised = levels[s.Name] // want `server's handler: writes g.raised, which OnLevel sets and shared systems read`
		g.title = s.Name          // no shared system reads it
	})
	return p
}

// load is what OnLevel and the function given to NextLevel call.
func (g *Game) load(name string) {
	if l := levels[name]; l != nil {
		g.level = l
	}
}

// block only reads.
func (g *Game) block(at *Position) {
	for _, w := range g.level.Walls {
		at.X = min(at.X, w)
	}
	for _, w := range g.raised.Walls {
		at.X = max(at.X, w)
	}
}

// Begin names the first level.
func (g *Game) Begin(s *server.Server, level string) error {
	g.server = s
	return s.NextLevel([]byte(level), func(*foretick.ServerFrame) { g.load(level) })
}

func (g *Game) next(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick%900 == 0 {
		_ = g.Begin(g.server, "meadow")
		_ = g.server.NextLevel(nil, g.build)
	}
}

func (g *Game) build(*foretick.ServerFrame) { g.raised = levels["tower"] }

func (g *Game) raise(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick == 100 {
		g.swap()
	}
}

func (g *Game) swap() {
	g.level = levels["tower"] // want `server system "raise" by swap: writes g.level, which OnLevel sets and shared systems read: in mid-tick, and where Late.World runs ticks again, they find another level than clients had; set it in the function passed to Server.NextLevel`
}
