package main

import (
	"context"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
)

// play joins a server, and plays until ctx or the server ends.
func play(ctx context.Context, net transport.Endpoint, say func(format string, args ...any)) error {
	g := &Game{}
	p := g.Protocol()
	everyone := p.Query(ecs.With(&g.Pos))
	cli, err := client.New(client.Config{
		Protocol: p, Transport: net, Sample: client.Sample(&g.Move, walk),
	})
	if err != nil {
		return err
	}
	var said foretick.Tick
	return cli.Run(ctx, time.Second/60, func(v client.View) { // called once for each frame: draw here
		if v.Tick < said+tickRate/3 {
			return
		}
		said = v.Tick
		for _, rows := range everyone.All(v.World) {
			say("tick %d: player %d at %.2f", v.Tick, rows.Owner(), g.Pos.Slice(rows))
		}
	})
}

// walk returns the command for the next tick: read keys, a mouse or a gamepad here. This player
// walks in a square.
func walk(v client.View) Move {
	return []Move{{X: 1}, {Y: 1}, {X: -1}, {Y: -1}}[v.Tick/tickRate%4]
}
