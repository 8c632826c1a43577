// Command swarm plays a strategy game with 10 000 units of eight players. Its rules are in package game. Players send
// orders alone, in lockstep, and each one's machine computes all units itself. So the traffic does not grow with the
// number of units: an order for 500 of them travels as a rectangle or as the number of a group.
//
//	go run ./examples/swarm -seconds 60               # eight bots and a relay, in virtual time
//	go run ./examples/swarm -relay 127.0.0.1:7777     # a relay for other machines
//	go run ./examples/swarm -connect 127.0.0.1:7777   # a bot that plays there
//
//	player.go  a bot and its peer: orders, and how long they take
//	match.go   a relay and eight players in virtual time
//	udp.go     a relay, and a player, over the network
//	line.go    counts a player's bytes
//
// # What a player feels
//
// A tick runs once the orders of all players are known, and evenly: it waits for the packets that come late too. So the
// world is later than a player's newest command by a round trip to the relay and by about two ticks of 50 ms, and by
// three or four where packets are lost. That makes 160 ms over 60 ms, and 230 ms with 1 % loss: the program prints it, from
// rollback.View.Delay. An order waits for up to a tick more until its command is made. All orders take that time, and
// no order is undone. Games hide it: units answer with a sound, a marker and a turn of the head in the frame of the
// click, and march when the order comes. If a player's orders are missing, the match waits for 250 ms, and then goes on
// without that player.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/foretick/foretick/examples/swarm/game"
	"github.com/foretick/foretick/transport/sim"
)

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("swarm", flag.ContinueOnError)
	flags.SetOutput(errs)
	seconds := flags.Int("seconds", 20, "seconds to play, 1 to 600")
	seed := flags.Uint64("seed", 1, "of the bots' orders")
	relay := flags.String("relay", "", "serve a relay at this address, for -connect on other machines")
	to := flags.String("connect", "", "play a bot at the relay with this address")
	rtt := flags.Duration("rtt", 60*time.Millisecond, "round trip to the relay in virtual time, up to 1s")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *seconds < 1 || *seconds > 600 || *rtt < 0 || *rtt > time.Second:
		_, _ = fmt.Fprintln(errs, "swarm: -seconds or -rtt is out of its range: see -help")
		return 2
	case *relay != "" && *to != "":
		_, _ = fmt.Fprintln(errs, "swarm: -relay and -connect are for two processes: use one of them")
		return 2
	}
	var err error
	switch {
	case *relay != "":
		err = serve(ctx, *relay, out)
	case *to != "":
		err = connect(ctx, *to, *seconds, *seed, out)
	default:
		err = alone(*seconds, *rtt, *seed, out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

// alone plays eight bots in virtual time, and prints what came of it.
func alone(seconds int, rtt time.Duration, seed uint64, out io.Writer) error {
	o, err := play(seconds, sim.Link{Latency: rtt / 2, Jitter: rtt / 10, InOrder: true}, seed)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d players with %d units each gave %d orders in %d s\n", game.Players, game.Units, o.orders, seconds)
	for player := 1; player <= game.Players; player++ {
		_, _ = fmt.Fprintf(out, "player %d has %d units left\n", player, o.left[player])
	}
	_, _ = fmt.Fprintf(out, "each sent and received %d bytes a second in %d datagrams, with the headers of IP and UDP\n", o.bytes, o.packets)
	_, _ = fmt.Fprintf(out, "a command's tick ran %v after the command on average, and %v at most\n", o.delay().Round(time.Millisecond), time.Duration(o.longest)*time.Second/game.TickRate)
	_, _ = fmt.Fprintf(out, "the worlds were compared %d times, and differed %d times\n", o.compared, o.differed)
	_, _ = fmt.Fprintf(out, "the world's hash is %016x on every machine\n", o.hash)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
