package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// serve runs a relay until ctx ends, and then until the last player has left. A relay knows nothing of the game.
func serve(ctx context.Context, addr string, out io.Writer) error {
	end, err := udp.Listen(addr, udp.Config{})
	if err != nil {
		return err
	}
	r, err := relay.New(relay.Config{Transport: end, Players: game.Players})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "a relay listens at", end.LocalAddr())
	context.AfterFunc(ctx, func() { r.Drain("this relay closes") })
	return r.Run(context.Background())
}

// connect joins a match over UDP with a bot, plays for some seconds, and prints what came of it.
func connect(ctx context.Context, addr string, seconds int, seed uint64, out io.Writer) error {
	p, err := newPlayer(func() (transport.Endpoint, error) { return udp.Dial(addr, udp.Config{}) }, seed)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	last := foretick.Tick(0) // last is the tick after which the player leaves.
	err = p.peer.Run(ctx, frame, func(v rollback.View) {
		switch {
		case v.State != rollback.Playing:
			return
		case last == 0:
			p.restart()
			last = v.Tick + foretick.Tick(seconds*game.TickRate)
			_, _ = fmt.Fprintf(out, "player %d plays\n", v.Player)
		}
		if p.count(v); v.Tick >= last {
			stop()
		}
	})
	if err != nil || last == 0 {
		return err
	}
	v, s := p.peer.View(), p.peer.Stats()
	_, _ = fmt.Fprintf(out, "player %d gave %d orders, and has %d units left after tick %d\n", v.Player, p.orders, p.game.Count(v.World, v.Player), v.Tick)
	_, _ = fmt.Fprintf(out, "it sent and received %d bytes a second in %d datagrams, and a command's tick ran %v after the command\n", p.line.bytes/seconds, p.line.packets/seconds, p.delay().Round(time.Millisecond))
	_, _ = fmt.Fprintf(out, "%d sums of its world were sent, and %d differed\n", s.Sums, s.Desyncs)
	return nil
}
