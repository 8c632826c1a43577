// Swap-transport plays over a transport that it brings along: frames with a length over TCP, in the files
// endpoint.go and connection.go. The game is that of examples/hello, and is the same for every
// transport.
//
// Run it with -serve in one terminal, and without in others. To write a transport for your platform (a
// relay, a store's sockets, a serial line), keep endpoint.go, which implements the contract of
// transport.Endpoint. Replace connection.go, which is specific to TCP, and test the result with
// transporttest: see main_test.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// Position is a player's position.
type Position struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

// Move is a player's input.
type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

// Game is the game of examples/hello.
type Game struct {
	Pos    ecs.Component[Position]
	Move   ecs.Component[Move]
	Player ecs.Prefab
}

// Protocol declares the game. Server and client build the same one.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("hello", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
		for i := range pos {
			pos[i].X += float32(move[i].X * 5 * f.DT)
			pos[i].Y += float32(move[i].Y * 5 * f.DT)
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

func main() {
	serve := flag.Bool("serve", false, "be the server")
	addr := flag.String("addr", "127.0.0.1:7777", "the server's address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	net, err := open(*serve, *addr)
	if err == nil {
		err = run(ctx, net, *serve, func(line string) { fmt.Println(line) })
	}
	if err != nil {
		log.Fatal(err)
	}
}

// open is the only function that depends on the transport.
func open(serve bool, addr string) (transport.Endpoint, error) {
	if serve {
		return Listen(addr, 64)
	}
	return Dial(addr), nil
}

func run(ctx context.Context, net transport.Endpoint, serve bool, say func(string)) error {
	game := &Game{}
	p := game.Protocol()
	if serve {
		srv, err := server.New(server.Config{Protocol: p, Transport: net})
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { srv.Drain("this server closes") }) // the server ends when its last player has left
		return srv.Run(context.Background())
	}
	read := func(v client.View) Move { return Move{X: float32(v.Tick/30%2)*2 - 1} } // back and forth
	cli, err := client.New(client.Config{Protocol: p, Transport: net, Sample: client.Sample(&game.Move, read)})
	if err != nil {
		return err
	}
	everyone := p.Query(ecs.With(&game.Pos))
	return cli.Run(ctx, time.Second/60, func(v client.View) {
		for _, rows := range everyone.All(v.World) {
			say(fmt.Sprintf("tick %d: player %d at %v", v.Tick, rows.Owner(), game.Pos.Slice(rows)))
		}
	})
}
