// Command swarm plays a strategy game with 10 000 units of eight players. Its rules are in package
// game, for games in which players send orders alone, and each machine computes all units itself.
// Here bots give the orders on one machine, without a network.
//
//	go run ./examples/swarm -seconds 60
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// every is after how many ticks each bot gives an order: 120 in a minute.
const every = game.TickRate / 2

// outcome is what a match has come to.
type outcome struct {
	orders int
	left   [game.Players + 1]int // units of each player
	hash   uint64                // of the world
}

// play lets bots play for some seconds of virtual time.
func play(seconds int, seed uint64) (o outcome, err error) {
	g, m := &game.Game{}, simtest.New(seed)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	if err != nil {
		return o, err
	}
	var bots [game.Players + 1]*game.Bot
	for player := range foretick.PlayerID(game.Players) {
		g.Join(srv.Frame(), player+1)
		bots[player+1] = game.NewBot(g, seed+uint64(player))
	}
	for tick := range seconds * game.TickRate {
		for player := 1; player <= game.Players; player++ {
			if (tick+player)%every == 0 {
				g.Give(srv.World(), foretick.PlayerID(player), bots[player].Order(srv.World(), foretick.PlayerID(player)))
				o.orders++
			}
		}
		m.RunFor(time.Second / game.TickRate)
	}
	for player := 1; player <= game.Players; player++ {
		o.left[player] = g.Count(srv.World(), foretick.PlayerID(player))
	}
	o.hash = srv.World().Hash(nil)
	return o, m.Err()
}

func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("swarm", flag.ContinueOnError)
	flags.SetOutput(errs)
	seconds := flags.Int("seconds", 20, "virtual seconds to play, 1 to 600")
	seed := flags.Uint64("seed", 1, "of the bots' orders")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *seconds < 1 || *seconds > 600:
		_, _ = fmt.Fprintln(errs, "swarm: -seconds is out of its range: see -help")
		return 2
	}
	o, err := play(*seconds, *seed)
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "%d players with %d units each gave %d orders in %d s\n", game.Players, game.Units, o.orders, *seconds)
	for player := 1; player <= game.Players; player++ {
		_, _ = fmt.Fprintf(out, "player %d has %d units left\n", player, o.left[player])
	}
	_, _ = fmt.Fprintf(out, "the world's hash is %016x on every machine\n", o.hash)
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
