// Hello is the smallest whole game. Run it with -serve in one terminal, and without in others.
package main

import (
	"context"
	"errors"
	"flag"
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
	"log"
	"os"
	"os/signal"
	"syscall"
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
	Player ecs.Prefab
}

func (g *Game) Protocol() *foretick.Protocol { // server and client build the same
	p := foretick.NewProtocol("hello", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Move)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Move)
	p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) { f.Spawn(&g.Player, player) })
	p.Shared("move", g.move, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
}

func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos := g.Pos.Slice(rows)
	for i, move := range g.Move.Slice(rows) {
		pos[i] = Position{pos[i].X + float32(move.X*5*f.DT), pos[i].Y + float32(move.Y*5*f.DT)}
	}
}

func main() {
	serve, addr := flag.Bool("serve", false, "be the server"), flag.String("addr", "127.0.0.1:7777", "the server's address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	net, err := open(*serve, *addr)
	if err == nil {
		err = new(Game).run(ctx, net, *serve, log.Printf)
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, transport.ErrClosed) {
		log.Fatal(err)
	}
}

func open(serve bool, addr string) (transport.Endpoint, error) { // for another transport, change a line (see the README)
	if serve {
		return udp.Listen(addr, udp.Config{})
	}
	return udp.Dial(addr, udp.Config{})
}

func (g *Game) run(ctx context.Context, net transport.Endpoint, serve bool, say func(string, ...any)) error {
	if serve {
		srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: g.Protocol(), Transport: net})
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { srv.Drain("this server closes") }) // it ends with its last player
		return srv.Run(context.Background())
	}
	sample := foretick.Sample(&g.Move, func(v foretick.View) Move { return Move{X: float32(v.Tick/30%2)*2 - 1} })
	cli, err := foretick.NewClient(foretick.ClientConfig{Protocol: g.Protocol(), Transport: net, Sample: sample})
	if err != nil {
		return err
	}
	everyone := ecs.NewQuery(cli.View().World.Types(), ecs.With(&g.Pos))
	return cli.Run(ctx, time.Second/60, func(v foretick.View) { // once per rendered frame
		for _, rows := range everyone.All(v.World) {
			say("tick %d: player %d at %v", v.Tick, rows.Owner(), g.Pos.Slice(rows))
		}
	})
}
