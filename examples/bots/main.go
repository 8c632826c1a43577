// Bots fills servers with bots, and prints what these servers cost. It starts the server that it
// measures as a separate process.
//
//	go run ./examples/bots -table                     # how many players one match holds
//	go run ./examples/bots -hosting                   # many matches behind one port, against a socket each
//	go run ./examples/bots -count 2000 -rate 10 -near 60 -seconds 60
//	go run ./examples/bots -serve 127.0.0.1:7777      # the server alone, and from elsewhere:
//	go run ./examples/bots -join 127.0.0.1:7777 -count 500
//
// It is an example rather than a tool, because full clients need the game's own code: copy it, and
// put your game into game.go.
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

	"github.com/foretick/foretick/transport/sim"
)

// options are the values of the command line's flags. parse describes each.
type options struct {
	count, full    int
	perSecond      float64
	seconds        int
	rate           int
	near           float64
	matches, each  int
	how            string
	serve, join    string
	rtt, jitter    time.Duration
	loss           float64
	table, hosting bool
	rounds, most   int
	report         bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bots:", err)
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("bots", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.IntVar(&o.count, "count", 64, "players")
	fs.IntVar(&o.full, "full", 2, "of them, full clients that predict and draw; the others are light")
	fs.Float64Var(&o.perSecond, "ramp", 100, "players that join in a second")
	fs.IntVar(&o.seconds, "seconds", 10, "seconds to measure, once all have joined")
	fs.IntVar(&o.rate, "rate", 30, "ticks a second, 10 to 128; the same on both ends")
	fs.Float64Var(&o.near, "near", 0, "metres that players see; 0: everybody sees everybody. The same on both ends")
	fs.IntVar(&o.matches, "matches", 1, "matches; more than one with -how host or sockets")
	fs.DurationVar(&o.rtt, "rtt", 0, "the bots' round trip, such as 60ms")
	fs.DurationVar(&o.jitter, "jitter", 0, "its jitter, such as 20ms")
	fs.Float64Var(&o.loss, "loss", 0, "the share of datagrams that are lost each way, such as 0.02")
	fs.StringVar(&o.how, "how", "one", "one match, a host of matches behind one port, or sockets: a port for each match")
	fs.StringVar(&o.serve, "serve", "", "be the server, at this address")
	fs.StringVar(&o.join, "join", "", "join the server at this address, which runs one match")
	fs.BoolVar(&o.table, "table", false, "print the growth table: 8 to 512 players in one match")
	fs.BoolVar(&o.hosting, "hosting", false, "compare matches behind one port with a socket a match, in turns")
	fs.IntVar(&o.rounds, "rounds", 3, "with -hosting: turns")
	fs.IntVar(&o.most, "most", 512, "with -table: the largest row; with -hosting: the most matches")
	fs.BoolVar(&o.report, "report", false, "with -serve: print counters as JSON for each line of standard input")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.how != "one" && o.how != "host" && o.how != "sockets":
		err = fmt.Errorf("-how %q: use one, host or sockets", o.how)
	case o.count < 1 || o.full < 0 || o.full > o.count || o.matches < 1 || o.count%o.matches != 0:
		err = errors.New("-count must be positive and a multiple of -matches, and -full at most -count")
	case o.link().Validate() != nil:
		err = o.link().Validate()
	case o.rate < 10 || o.rate > 128 || o.seconds < 1 || o.perSecond <= 0 || o.rounds < 1:
		err = errors.New("-rate is 10 to 128, and -seconds, -ramp and -rounds are positive")
	case o.how == "one" && o.matches > 1:
		err = errors.New("-matches needs -how host or sockets")
	}
	o.each = o.count / max(o.matches, 1)
	return o, err
}

// link returns the simulated network between a bot and the server, for one direction.
func (o *options) link() sim.Link {
	return sim.Link{Latency: o.rtt / 2, Jitter: o.jitter, Loss: o.loss}
}

// run executes the command line args and prints to out. main exits with its error.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	switch {
	case err != nil:
		return err
	case o.serve != "":
		return serve(ctx, o, out)
	case o.join != "":
		return joinAlone(ctx, o, out)
	case o.table:
		return growth(ctx, o, out)
	case o.hosting:
		return hosting(ctx, o, out)
	}
	r, err := measure(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprint(out, heading)
	r.print(out)
	return nil
}
