// Hello is the smallest whole game. Run it with -serve in one terminal, and without in others.
package main

import (
	"context"
	"flag"
	"fmt"
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport/udp"
	"log"
	"time"
)

type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}
type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}
type Game struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Kind
}

// Protocol declares the game; server and client build the same.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hello", 1)
	p.Component(&g.Pos, foretick.Predicted)
	p.Command(&g.Move)
	p.Kind(&g.Player, "player", &g.Pos, &g.Move)
	p.Join(func(f *foretick.Frame, who ecs.Owner) { f.Spawn(&g.Player, who) })
	p.Shared("move", g.move, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
	for i := range pos {
		pos[i].X += move[i].X * 5 * f.DT
		pos[i].Y += move[i].Y * 5 * f.DT
	}
}

func main() {
	serve := flag.Bool("serve", false, "be the server")
	addr := flag.String("addr", "127.0.0.1:7777", "the server's address")
	flag.Parse()
	log.Fatal(run(context.Background(), *serve, *addr, func(line string) { fmt.Println(line) }))
}

func run(ctx context.Context, serve bool, addr string, say func(string)) error {
	game, open := &Game{}, udp.Dial
	if serve {
		open = udp.Listen
	}
	net, err := open(addr, udp.Config{})
	if err != nil {
		return err
	}
	if serve {
		srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: game.Protocol(), Transport: net})
		if err != nil {
			return err
		}
		return srv.Run(ctx)
	}
	read := func(v foretick.View) Move { return Move{X: float32(v.Tick/30%2)*2 - 1} } // back and forth
	cli, err := foretick.NewClient(foretick.ClientConfig{Protocol: game.Protocol(), Transport: net, Sample: foretick.Sample(&game.Move, read)})
	if err != nil {
		return err
	}
	everyone := ecs.NewQuery(cli.World().Types(), ecs.With(&game.Pos))
	return cli.Run(ctx, time.Second/60, func(v foretick.View) { // once a picture
		for _, rows := range everyone.All(v.World) {
			say(fmt.Sprintf("tick %d: player %d at %v", v.Tick, rows.Owner(), game.Pos.Slice(rows)))
		}
	})
}
