package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

// options holds the flags of the command line.
type options struct {
	hours       float64
	seconds     float64
	seeds       int
	seed        uint64
	clients     int
	observers   int
	link        string
	workers     int
	kills       bool
	late        time.Duration
	lateWorld   bool
	connections int
	mutate      uint64
	rogues      uint64
	life        uint64
	sequences   int
	together    int
	limit       time.Duration
	transport   string
	heaps       string
	leak        int
	capture     string
	snapshots   string
	udp         bool
	json        bool
}

// errUsage marks a fault of the command line: exit code 2.
var errUsage = errors.New("usage")

const about = `soak plays a small game for a long time, or many times, and looks for what breaks.

  soak -hours 24 -clients 4          a day in virtual time; players come and go
  soak -seeds 200 -seconds 60        200 matches on a terrible network, each from its seed
  soak -connections 1000000          a server that many join and leave
  soak -mutate 1000000000            packets that no peer would send
  soak -rogues 1000000               peers that know the format and break every rule
  soak -rogues 30000 -transport ws   the same over real sockets
  soak -udp -seconds 60              real sockets, through a proxy that makes the network bad

Flags:
`

func parse(args []string, help io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Float64Var(&o.hours, "hours", 0, "play one match of this many virtual hours, with joins, leaves, kills and freezes")
	fs.Float64Var(&o.seconds, "seconds", 60, "seconds per match, without -hours")
	fs.IntVar(&o.seeds, "seeds", 1, "number of matches, without -hours: one per seed, from -seed on")
	fs.Uint64Var(&o.seed, "seed", 1, "the first seed")
	fs.IntVar(&o.clients, "clients", 16, "number of clients")
	fs.IntVar(&o.observers, "observers", 0, "number of clients that observe besides these")
	fs.StringVar(&o.link, "link", "", "each way: perfect, lan, wifi, lte, train, satellite, hell; default: with -hours a mixture of the first five, else hell")
	fs.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "matches at a time")
	fs.BoolVar(&o.kills, "kills", false, "without -hours: processes are killed and restarted, clocks drift, and clients freeze, join and leave")
	fs.DurationVar(&o.late, "late-inputs", 0, "without -hours: the server runs inputs that come so much too late in their own tick")
	fs.IntVar(&o.connections, "connections", 0, "let this many clients join and leave one server, and check for leaks")
	fs.Uint64Var(&o.mutate, "mutate", 0, "feed server and client with this many packets that no peer would send, derived from real ones")
	fs.Uint64Var(&o.rogues, "rogues", 0, "play whole servers with this many sequences of 50 to 200 actions of peers that know the format and break every rule")
	fs.IntVar(&o.sequences, "sequences", 0, "with -rogues, sequences per server; 0 means 4096")
	fs.IntVar(&o.together, "together", 0, "with -rogues, how many play at the same time; 0 means 24, and up to 192 over sockets")
	fs.DurationVar(&o.limit, "limit", 0, "with -rogues, start nothing more after this time; 0 means no limit")
	fs.BoolVar(&o.lateWorld, "late-world", false, "with -late-inputs: the server runs whole ticks again")
	fs.StringVar(&o.transport, "transport", "", "with -rogues, real sockets on loopback, one server at a time: udp, dtls or ws; empty means a simulated network")
	fs.Uint64Var(&o.life, "life", 0, "with -rogues, the first life to play, as a failure names it")
	fs.StringVar(&o.heaps, "heaps", "", "with -rogues, write a heap profile into this directory after each batch of the first life")
	fs.IntVar(&o.leak, "leak", 0, "with -rogues, keep this many bytes of each sequence: the check of the heap must fail")
	fs.StringVar(&o.capture, "capture", "", "play one match and write some of its packets into this file, in hexadecimal, as input for fuzzers")
	fs.StringVar(&o.snapshots, "snapshots", "", "play one match and write the schema and the first snapshots sent to one player into this file, in hexadecimal")
	fs.BoolVar(&o.udp, "udp", false, "play -seconds of real time over real sockets")
	fs.BoolVar(&o.json, "json", false, "print JSON: a line for each match or hour, the result last")
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, about)
		fs.SetOutput(help)
		fs.PrintDefaults()
		return o, err
	}
	if err == nil && fs.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	return o, nil
}

func (o *options) check() error {
	modes := 0
	for _, on := range []bool{o.hours != 0, o.connections != 0, o.udp, o.mutate != 0, o.rogues != 0, o.capture != "", o.snapshots != ""} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("-hours, -connections, -mutate, -rogues, -capture, -snapshots and -udp exclude each other")
	case !(o.hours >= 0 && o.hours <= 1000):
		return fmt.Errorf("-hours %v: use up to 1000", o.hours)
	case !(o.seconds > 0 && o.seconds <= 1e6):
		return fmt.Errorf("-seconds %v: use more than 0, at most 1e6", o.seconds)
	case o.seeds < 1 || o.workers < 1 || o.connections < 0:
		return errors.New("-seeds and -workers: use 1 and more; -connections is not negative")
	case o.together < 0 || o.together > 512:
		return fmt.Errorf("-together %d: use 1 to 512, or 0", o.together)
	case o.sequences < 0 || o.limit < 0 || o.leak < 0:
		return errors.New("-sequences, -limit and -leak are not negative")
	case (o.heaps != "" || o.leak > 0) && o.rogues == 0:
		return errors.New("-heaps and -leak: use them with -rogues")
	case o.transport != "" && o.rogues == 0:
		return errors.New("-transport: use it with -rogues")
	case o.clients < 1 || o.clients > 200 || o.observers < 0 || o.observers > 200:
		return fmt.Errorf("-clients %d, -observers %d: use 1 to 200 clients and up to 200 observers", o.clients, o.observers)
	}
	if o.transport != "" {
		if _, err := overSockets(o.transport); err != nil {
			return err
		}
	}
	if o.link != "" {
		if _, err := sim.Preset(o.link); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) links(otherwise ...sim.Link) []sim.Link {
	if o.link == "" {
		return otherwise
	}
	l, _ := sim.Preset(o.link) // checked above
	return []sim.Link{l}
}

// match returns the plan of one match of a campaign.
func (o *options) match() simtest.Plan {
	p := simtest.Plan{
		New: NewPlayer, Clients: o.clients, Observers: o.observers, Play: time.Duration(o.seconds * float64(time.Second)),
		Links:    o.links(sim.Hell),
		Checkers: func() []simtest.Checker { return append(simtest.Standard(), &campaign.Secrets{}) },
	}
	if o.late > 0 {
		p.Server = func(cfg *server.Config) { cfg.Late.Window, cfg.Late.World = o.late, o.lateWorld }
	}
	if o.kills {
		p.Stay, p.ClientKills, p.ServerKills, p.Freezes, p.Drift = time.Minute, 20*time.Second, 30*time.Second, 10*time.Second, 0.0002
		p.ServerFreezes, p.Rest = 20*time.Second, 3*time.Second
	}
	return p
}

// day returns the plan of one long match.
func (o *options) day(flat *campaign.Flat) simtest.Plan {
	length := time.Duration(o.hours * float64(time.Hour))
	flat.Every = min(time.Hour, length/4)
	if length < 4*time.Hour {
		flat.Growth = 0.15 // tables still grow to the size needed
	}
	return simtest.Plan{
		New: NewPlayer, Clients: o.clients, Observers: o.observers, Play: length,
		// The rest must be longer than the reconnect windows of players that never came back.
		Rest: 45 * time.Second, Quiet: min(30*time.Minute, length/8),
		Links: o.links(sim.Link{}, sim.LAN, sim.WiFi, sim.LTE, sim.Train), Change: time.Minute,
		Stay: min(10*time.Minute, length/40), ClientKills: min(20*time.Minute, length/20),
		Freezes: min(5*time.Minute, length/30), Frozen: 12 * time.Second, Drift: 0.0002,
		Checkers: func() []simtest.Checker {
			return append(simtest.Standard(), &campaign.Secrets{}, flat)
		},
	}
}
