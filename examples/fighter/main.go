// Command fighter plays a fighting game between two players who exchange their inputs alone, with rollback. Its
// rules are in package game: frame data, hitboxes, blocking, fireballs and rounds. Package play has the network.
// Here bots play. The edition with a window, for people, is in examples/ebiten/fighter.
//
//	go run ./examples/fighter -seconds 120                       two bots and their relay in virtual time
//	go run ./examples/fighter -relay 127.0.0.1:7790              a relay for two players
//	go run ./examples/fighter -connect 127.0.0.1:7790            a bot that plays there over UDP
//	go run ./examples/fighter -connect ws://127.0.0.1:7790/play  or over WebSocket
//	go run ./examples/fighter -save match.replay                 keeps the match
//	go run ./examples/fighter -replay match.replay               plays it again
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
)

type options struct {
	seconds int
	seed    uint64
	rtt     time.Duration
	loss    float64 // loss is in percent.

	relay, web, connect, save, replay string
}

// parse reads the command line. It returns the exit code, and false if there is nothing to do.
func parse(args []string, errs io.Writer) (o options, code int, goesOn bool) {
	flags := flag.NewFlagSet("fighter", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.IntVar(&o.seconds, "seconds", 60, "seconds to play, 1 to 3600: virtual ones, or with -connect real ones from the first tick on")
	flags.Uint64Var(&o.seed, "seed", 1, "of the bots' whims")
	flags.DurationVar(&o.rtt, "rtt", 50*time.Millisecond, "round trip between the players, 0 to 400ms; a -relay adds it to that of the real network, if given")
	flags.Float64Var(&o.loss, "loss", 0, "percent of what is lost between the players, 0 to 20; also for a -relay")
	flags.StringVar(&o.relay, "relay", "", "HOST:PORT to run a relay at, over UDP and, under ws://HOST:PORT/play, over WebSocket")
	flags.StringVar(&o.web, "web", "", "directory of a page that the relay serves, as examples/ebiten/web is")
	flags.StringVar(&o.connect, "connect", "", "relay to play at: HOST:PORT, or ws://HOST:PORT/play")
	flags.StringVar(&o.save, "save", "", "file to write a replay to")
	flags.StringVar(&o.replay, "replay", "", "replay to play again")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return o, 0, false
	} else if err != nil {
		return o, 2, false
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.relay != "" && !given["rtt"] {
		o.rtt = 0
	}
	fault := ""
	switch modes := o.relay != "" && o.connect != "" || o.replay != "" && o.relay+o.connect+o.save != ""; {
	case modes:
		fault = "-relay, -connect and -replay exclude each other, and a -replay is not saved again: give one of them"
	case o.relay != "" && o.save != "":
		fault = "a -relay runs no game, so it has no replay: give -save to a player"
	case o.web != "" && o.relay == "":
		fault = "-web is for a relay: give -relay too"
	case o.connect != "" && (given["rtt"] || given["loss"]):
		fault = "-rtt and -loss are the relay's: give them to it"
	case o.seconds < 1 || o.seconds > 3600 || o.rtt < 0 || o.rtt > 400*time.Millisecond || o.loss < 0 || o.loss > 20:
		fault = "a value is out of its range: see -help"
	}
	if fault != "" {
		_, _ = fmt.Fprintln(errs, "fighter: "+fault)
		return o, 2, false
	}
	return o, 0, true
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, code, goesOn := parse(args, errs)
	if !goesOn {
		return code
	}
	var err error
	switch {
	case o.relay != "":
		err = serve(ctx, o, out, errs)
	case o.connect != "":
		err = connect(ctx, o, out)
	case o.replay != "":
		err = again(o.replay, out)
	default:
		err = alone(o, out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(errs, "fighter:", err)
		return 1
	}
	return 0
}

// alone plays in virtual time.
func alone(o options, out io.Writer) error {
	m, err := newVirtual(o)
	if err != nil {
		return err
	}
	m.run(time.Duration(o.seconds) * time.Second)
	replay, err := m.replay()
	if err != nil {
		return err
	}
	if err := finish(o, replay, out); err != nil {
		return err
	}
	for _, p := range m.players {
		report(out, p)
	}
	return nil
}

// connect lets a bot play at a relay.
func connect(ctx context.Context, o options, out io.Writer) error {
	p, err := play.Join(func() (transport.Endpoint, error) { return play.Dial(o.connect) }, play.Bot(o.seed))
	if err != nil {
		return fmt.Errorf("-connect %s: %w", o.connect, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	playing := false
	err = p.Run(ctx, time.Second/60, func(v rollback.View) {
		if v.State == rollback.Playing && !playing {
			playing = true
			time.AfterFunc(time.Duration(o.seconds)*time.Second, stop)
		}
	})
	if err != nil {
		return err
	}
	var replay bytes.Buffer
	if err := p.WriteReplay(&replay); err != nil {
		return err
	}
	if err := finish(o, replay.Bytes(), out); err != nil {
		return err
	}
	report(out, p)
	return nil
}

// again plays a replay again.
func again(file string, out io.Writer) error {
	f, err := os.Open(file) // #nosec G304 -- the user's own
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	o, err := watch(f)
	if o != nil {
		o.print(out)
	}
	if err != nil {
		return fmt.Errorf("-replay %s: %w", file, err)
	}
	return nil
}

// finish saves a replay if it is to be saved, and prints what happened in it.
func finish(o options, replay []byte, out io.Writer) error {
	if o.save != "" {
		if err := os.WriteFile(o.save, replay, 0o600); err != nil {
			return fmt.Errorf("-save: %w", err)
		}
	}
	counted, err := watch(bytes.NewReader(replay))
	if err != nil {
		return err
	}
	counted.print(out)
	return nil
}

// report prints what a player's peer did, and where its world differed from the other's, if it did.
func report(out io.Writer, p *play.Player) {
	s, v := p.Stats(), p.View()
	_, _ = fmt.Fprintf(out, "player %d: %d presses, input delay %d ticks, %d rollbacks, %d ticks ran again in %d, at most %d at once; waited %d times, %d late inputs; %d worlds summed, %d desyncs\n",
		v.Player, p.Pressed, v.Delay, s.Rollbacks, s.Reruns, s.Ticks, s.Deepest, s.Stalls, s.StandIns, s.Sums, s.Desyncs)
	if p.Differs != "" {
		_, _ = fmt.Fprintln(out, p.Differs)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
