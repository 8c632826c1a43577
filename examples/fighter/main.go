// Command fighter plays a fighting game between two bots. Its rules are in package game: frame data,
// hitboxes, blocking, fireballs and rounds. Here a server and two clients run them in virtual time.
//
//	go run ./examples/fighter -seconds 120
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// outcome is what a match has come to, as the server had it.
type outcome struct {
	rounds, matches int
	won             [2]int // rounds, of who began on the left and on the right
	attacks         map[game.Act]int
	blocked, hit    int
	trace           [32]byte
}

// count counts what has changed in a tick.
func (o *outcome) count(was, is [2]game.Fighter, before, now game.Round) {
	for i, a := range is {
		if game.MoveOf(a.Act).Active > 0 && a.For == 1 && was[i].Still == 0 {
			o.attacks[a.Act]++
		}
		switch {
		case a.Life < was[i].Life:
			o.hit++
		case a.Act == game.Block && a.For == 1 && was[i].Still == 0:
			o.blocked++
		}
		if a.Wins > was[i].Wins {
			o.won[i]++
		}
	}
	if now.Phase == game.Over && before.Phase == game.Fight {
		o.rounds++
	}
	if now.Phase == game.Done && before.Phase == game.Over {
		o.matches++
	}
}

// play lets two bots play for some seconds of virtual time.
func play(seconds int, rtt time.Duration, seed uint64) (outcome, error) {
	o := outcome{attacks: map[game.Act]int{}}
	truth, m := &game.Game{}, simtest.New(seed)
	var was [2]game.Fighter
	var before game.Round
	_, err := m.Serve(server.Config{Protocol: truth.Protocol(), OnTick: func(f *foretick.ServerFrame) {
		pair, ok := truth.Pair(f.World)
		if !ok {
			return
		}
		is, now := [2]game.Fighter{*truth.Fighter.Get(f.World, pair[0]), *truth.Fighter.Get(f.World, pair[1])}, *truth.Round.Get(f.World)
		o.count(was, is, before, now)
		was, before = is, now
	}})
	if err != nil {
		return o, err
	}
	link := sim.Link{Latency: rtt / 2}
	for i := range uint64(2) {
		g := &game.Game{}
		p, bot := g.Protocol(), game.NewBot(g, seed+i)
		sample := client.Sample(&g.Command, func(v client.View) game.Command { return bot.Command(v.World, v.Player, v.Tick) })
		if _, err := m.Join(client.Config{Protocol: p, Sample: sample}, simtest.Seat{Up: link, Down: link}); err != nil {
			return o, err
		}
	}
	m.Run(time.Duration(seconds) * time.Second)
	o.trace = m.Trace()
	return o, m.Err()
}

func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("fighter", flag.ContinueOnError)
	flags.SetOutput(errs)
	seconds := flags.Int("seconds", 60, "virtual seconds to play, 1 to 3600")
	rtt := flags.Duration("rtt", 50*time.Millisecond, "round trip to the server, 0 to 400 ms")
	seed := flags.Uint64("seed", 1, "of the bots' whims")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *seconds < 1 || *seconds > 3600 || *rtt < 0 || *rtt > 400*time.Millisecond:
		_, _ = fmt.Fprintln(errs, "fighter: a value is out of its range: see -help")
		return 2
	}
	o, err := play(*seconds, *rtt, *seed)
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "%d rounds in %d matches: %d won by the left, %d by the right\n", o.rounds, o.matches, o.won[0], o.won[1])
	for i, name := range []string{"jabs", "roundhouses", "sweeps", "air kicks", "fireballs"} {
		_, _ = fmt.Fprintf(out, "%d %s\n", o.attacks[game.Jab+game.Act(i)], name)
	}
	_, _ = fmt.Fprintf(out, "%d attacks hit, %d were blocked\n", o.hit, o.blocked)
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
