package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

const (
	players = 4
	rest    = 8 * time.Second // how long the match goes on without input, so that the ball comes to rest
)

// options are the values of the command line's flags. run describes each.
type options struct {
	rtt, jitter time.Duration
	loss        float64
	seconds     int
	seed        uint64
	blind       bool
}

// play runs a match of bots for some seconds of virtual time, and then lets it come to rest.
func play(o options) (r report, err error) {
	m := simtest.New(o.seed)
	end := time.Duration(o.seconds) * time.Second
	on := func() bool { return m.Net.Now() < end }
	truth, ref := &Game{blind: o.blind}, &referee{was: map[moment]place{}}
	truth.heard = ref.judge
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), OnTick: func(f *foretick.ServerFrame) { ref.note(truth, f.Frame) }})
	if err != nil {
		return r, err
	}
	ball := srv.Frame().Spawn(&truth.Ball, ecs.Nobody)
	link := sim.Link{Latency: o.rtt / 2, Jitter: o.jitter, Loss: o.loss}
	var clients []*client.Client
	for i := range uint64(players) {
		g, s := &Game{blind: o.blind}, &screen{}
		g.heard = s.feel
		b := &bot{Game: g, rand: rand.New(rand.NewPCG(o.seed, i))}
		sample := client.Sample(&g.Cmd, func(v client.View) (c Command) {
			if on() {
				c = b.steer(v)
			}
			return c
		})
		look := func(v client.View) {
			if on() {
				s.look(g, v)
			}
		}
		c, err := m.Join(client.Config{Protocol: g.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, After: look})
		if err != nil {
			return r, err
		}
		ref.screens, clients = append(ref.screens, s), append(clients, c)
	}
	m.Run(end + rest)
	r = ref.report()
	r.score = *truth.Score.Get(srv.World(), ball)
	for _, c := range clients {
		st := c.Stats()
		r.stats.Add(&st)
		r.audits = append(r.audits, m.Audit(c))
	}
	r.trace = m.Trace()
	return r, m.Err()
}

func run(args []string, out, errs io.Writer) int {
	var o options
	flags := flag.NewFlagSet("bumpers", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.DurationVar(&o.rtt, "rtt", 100*time.Millisecond, "round trip, 0 to 400 ms")
	flags.DurationVar(&o.jitter, "jitter", 10*time.Millisecond, "delay added at random, up to this, each way, 0 to 200 ms")
	flags.Float64Var(&o.loss, "loss", 0.01, "share of packets lost, 0 to 0.3")
	flags.IntVar(&o.seconds, "seconds", 120, "virtual seconds to play, 1 to 600")
	flags.Uint64Var(&o.seed, "seed", 1, "of the network's luck and the bots' whims")
	flags.BoolVar(&o.blind, "blind", false, "do not predict other players: show them in the past")
	paused := flags.Bool("preview", false, "play paused in one world, and step by lines of standard input: see preview.go")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.rtt < 0 || o.rtt > 400*time.Millisecond || o.jitter < 0 || o.jitter > 200*time.Millisecond ||
		o.loss < 0 || o.loss > 0.3 || o.seconds < 1 || o.seconds > 600:
		_, _ = fmt.Fprintln(errs, "bumpers: a value is out of its range: see -help")
		return 2
	}
	if err := perform(o, *paused, out); err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

// perform runs a match of bots and prints its report, or runs the editor.
func perform(o options, paused bool, out io.Writer) error {
	if paused {
		e, err := newEditor(o.seed)
		if err != nil {
			return err
		}
		return e.run(os.Stdin, out)
	}
	r, err := play(o)
	if err == nil {
		r.print(out)
	}
	return err
}
