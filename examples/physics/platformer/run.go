package platformer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/foretick/foretick/client"
)

// Run is the command in folder bots. args are its arguments, and it returns the exit code.
func Run(args []string, out, errs io.Writer) int {
	var o options
	var watch bool
	flags := flag.NewFlagSet("platformer", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.IntVar(&o.players, "players", 4, "jumpers, 1 to 8")
	flags.DurationVar(&o.rtt, "rtt", 100*time.Millisecond, "round trip, 0 to 400 ms")
	flags.Float64Var(&o.loss, "loss", 0.02, "share of packets lost, 0 to 0.3")
	flags.IntVar(&o.seconds, "seconds", 60, "seconds to play, 1 to 600")
	flags.Uint64Var(&o.seed, "seed", 1, "of the network's luck and the bots' whims")
	flags.BoolVar(&watch, "watch", false, "play in real time and show the first player's screen")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.players < 1 || o.players > 8 || o.rtt < 0 || o.rtt > 400*time.Millisecond ||
		o.loss < 0 || o.loss > 0.3 || o.seconds < 1 || o.seconds > 600:
		_, _ = fmt.Fprintln(errs, "platformer: a value is out of its range: see -help")
		return 2
	}
	if watch {
		begun, frame := time.Now(), 0
		o.watch = func(g *Game, v client.View) {
			if frame++; frame%4 == 0 { // 15 a second are enough for a terminal
				_, _ = fmt.Fprint(out, "\x1b[H\x1b[2J", g.picture(v))
				time.Sleep(time.Until(begun.Add(time.Duration(frame) * time.Second / 60)))
			}
		}
	}
	r, err := play(o)
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	r.print(out)
	return 0
}
