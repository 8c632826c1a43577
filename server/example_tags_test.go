package server_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/local"
)

// Horde is a game whose server may have bots and a screen.
type Horde struct{ Walk }

// Protocol declares the game.
func (g *Horde) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	p.Server("bots", g.think, ecs.Once(), ecs.Tags("bots"))
	p.Render("bodies", g.draw, ecs.Once())
	p.Render("paths", g.drawPaths, ecs.Once(), ecs.Tags("paths"))
	return p
}

func (g *Horde) think(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick == 1 {
		fmt.Println("bots think")
	}
}

func (g *Horde) draw(*foretick.Frame, ecs.Rows)      { fmt.Println("bodies are drawn") }
func (g *Horde) drawPaths(*foretick.Frame, ecs.Rows) { fmt.Println("paths are drawn") }

// A server of a training ground runs the bots, and draws the match on its own screen with the
// paths that bots take. The same game without these tags has neither.
func ExampleServer_Draw() {
	srv, err := server.New(server.Config{
		Protocol: (&Horde{}).Protocol(), Transport: local.New(nil),
		Tags: []string{"bots", "paths", foretick.TagRender},
	})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0) // time.Now() in a real program
	for range 2 {
		now = now.Add(time.Second / 30)
		srv.Step(now)
	}
	srv.Draw(time.Second / 30)
	_ = srv.Close("")
	// Output:
	// bots think
	// bodies are drawn
	// paths are drawn
}

// Coast is a game whose matches may have a storm.
type Coast struct{ Walk }

// Protocol declares the game.
func (g *Coast) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	p.Shared("storm", g.storm, ecs.Write(&g.Pos), ecs.After("move"), ecs.Tags("storm"))
	return p
}

func (g *Coast) storm(f *foretick.Frame, rows ecs.Rows) {
	for i, pos := 0, g.Pos.Slice(rows); i < len(pos); i++ {
		pos[i].X += float32(2 * f.DT)
	}
}

// Both ends run the storm in a match whose server has its tag. The client names no tag.
func ExampleConfig_tags() {
	for _, tags := range [][]string{nil, {"storm"}} {
		match := simtest.New(1)
		var srv, game Coast
		p := game.Protocol()
		if _, err := match.Serve(server.Config{Protocol: srv.Protocol(), Tags: tags}); err != nil {
			panic(err)
		}
		cl, err := match.Join(client.Config{Protocol: p}, simtest.Seat{})
		if err != nil {
			panic(err)
		}
		match.Run(3 * time.Second)
		for _, rows := range p.Query(ecs.With(&game.Pos)).All(cl.View().World) {
			fmt.Printf("%v: moved: %v, corrections: %d\n", tags, game.Pos.Slice(rows)[0].X > 0, cl.Stats().Mispredictions)
		}
	}
	// Output:
	// []: moved: false, corrections: 0
	// [storm]: moved: true, corrections: 0
}
