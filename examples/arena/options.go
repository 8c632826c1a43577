package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/transport/sim"
)

// options holds the flags of the command line.
type options struct {
	seconds      float64
	clients      int
	transport    string
	rtt, jitter  time.Duration
	loss         float64
	duplicate    float64
	reorder      float64
	seed         uint64
	preset       string
	lateInputs   time.Duration
	lateShare    float64
	lateWorld    bool
	tickRate     int
	snapshotRate int
	mode         string
	inputDelay   time.Duration
	delayAbove   time.Duration
	noLagComp    bool
	peaceful     bool
	plant        string
	explain      bool
	json         bool
	serve, join  string
	web          string
	inspect      string
	pin          string
	drawShots    string
	log, check   string
	bindings     string
	record       string
	replay       string
	beside       string
	player       uint
	asJSON       bool
	tick, entity uint
	learn        string
	profile      bool
}

// errUsage marks a fault of the command line: exit code 2.
var errUsage = errors.New("usage")

// parse parses the command line. An error is one line.
func parse(args []string, help io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("arena", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Float64Var(&o.seconds, "seconds", 10, "seconds to play; with -serve and -join, 0 plays until interrupted")
	fs.IntVar(&o.clients, "clients", 8, "number of bots")
	fs.StringVar(&o.transport, "transport", "sim", "sim (virtual time), or with real sockets: udp, dtls (encrypted), ws (WebSocket) or all (a third of the bots each)")
	fs.DurationVar(&o.rtt, "rtt", 100*time.Millisecond, "round-trip time of every client's link")
	fs.DurationVar(&o.jitter, "jitter", 20*time.Millisecond, "maximum random delay added, each way")
	fs.Float64Var(&o.loss, "loss", 0.02, "share of packets lost, each way")
	fs.Float64Var(&o.duplicate, "duplicate", 0, "share of packets that arrive twice")
	fs.Float64Var(&o.reorder, "reorder", 0, "share of packets that later ones overtake")
	fs.StringVar(&o.preset, "preset", "", "every client's link: perfect, lan, wifi, lte, train, satellite or hell; then -rtt, -jitter, -loss, -duplicate and -reorder do not count")
	fs.DurationVar(&o.lateInputs, "late-inputs", 0, "run inputs that come so much too late in their own tick")
	fs.Float64Var(&o.lateShare, "late-share", 0, "with -late-inputs: the share of inputs that clients may send too late, to predict less far ahead; up to 0.2")
	fs.BoolVar(&o.lateWorld, "late-world", false, "with -late-inputs: run the whole world's ticks again for late inputs, instead of their player's part")
	fs.Uint64Var(&o.seed, "seed", 1, "random seed")
	fs.IntVar(&o.tickRate, "tickrate", 30, "ticks a second")
	fs.IntVar(&o.snapshotRate, "snapshotrate", 0, "snapshots a second; 0 is one a tick")
	fs.StringVar(&o.mode, "mode", "predict", "predict the local player, predict it and draw partial ticks, delay its inputs (with -delay-above or -input-delay), or interpolate it like all others")
	fs.DurationVar(&o.delayAbove, "delay-above", 0, "with -mode delay: predict no further than this beyond the mean snapshot; 150ms unless -input-delay is given")
	fs.DurationVar(&o.inputDelay, "input-delay", 0, "with -mode delay: the least input delay")
	fs.BoolVar(&o.noLagComp, "no-lagcomp", false, "judge shots in the present")
	fs.BoolVar(&o.peaceful, "peaceful", false, "no stun, no damage")
	fs.StringVar(&o.plant, "plant", "", "plant a fault in the first bot: code or desync; with -web only code, for the inspector's trace to find")
	fs.BoolVar(&o.explain, "explain", false, "write each correction and its cause to standard error, one JSON object a line")
	fs.BoolVar(&o.json, "json", false, "print one JSON object and nothing else; sim then runs as fast as it can")
	fs.StringVar(&o.drawShots, "draw-shots", "", "draw the match's shots into this directory as PNG: what the shooter saw, what the server used, and the server's state at that time")
	fs.BoolVar(&o.profile, "profile-traffic", false, "count the bytes of each component and field")
	fs.StringVar(&o.learn, "learn", "", "write compression tables trained on this match to a file (as for this example's tables.bin, for which go test -run TestTablesOfTheFile -update then writes game/learned.go)")
	fs.StringVar(&o.serve, "serve", "", "run a dedicated server at this address, with -transport udp, dtls or ws")
	fs.StringVar(&o.web, "web", "", "play in a browser: serve a page at this address, such as :8080, with bots")
	fs.StringVar(&o.inspect, "inspect", "", "with -serve or -join: serve the inspector's page at this address, such as :8090; with -web it is at /inspect/")
	fs.StringVar(&o.join, "join", "", "run bots on the server at this address, with -transport udp, dtls or ws")
	fs.StringVar(&o.pin, "pin", "", "with -join and dtls: the server's pin, as the server printed it")
	fs.StringVar(&o.log, "log", "", "write the events of both ends into this file, raw, as JSON lines (see facts.go)")
	fs.StringVar(&o.check, "check", "", "recount the report in such a file from its facts, and print whether they agree; with -late-inputs it cannot follow lines that are out for a second and more")
	fs.StringVar(&o.bindings, "print-bindings", "", "print the key bindings of game/controls.go with such a JSON file over them, and what of the file is not used")
	fs.StringVar(&o.record, "record", "", "with -serve: record the match, and write its tape into this directory")
	fs.StringVar(&o.replay, "replay", "", "replay such a tape; with -tick stop there and list the entities, with -entity trace one through the systems of the tick")
	fs.StringVar(&o.beside, "beside", "", "with -replay and -player: compare with the trace that a client's inspector saved, system by system")
	fs.UintVar(&o.player, "player", 0, "with -beside: the number of that client's player")
	fs.BoolVar(&o.asJSON, "tables", false, "with -beside: print what the tab Trace of the inspector opens")
	fs.UintVar(&o.tick, "tick", 0, "with -replay: stop at this tick")
	fs.UintVar(&o.entity, "entity", 0, "with -replay: trace the entity with this network id in the tick, or in the last one")
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(help, "arena plays a top-down shooter between bots. Flags:")
		fs.SetOutput(help)
		fs.PrintDefaults()
		return o, err
	}
	if err == nil && fs.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err == nil {
		set := map[string]bool{}
		fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
		err = o.validate(set)
	}
	if err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	return o, nil
}

// webOptions are the flags that -web can be used with.
var webOptions = []string{"web", "clients", "seconds", "rtt", "jitter", "loss", "duplicate", "reorder", "preset", "seed", "tickrate", "peaceful", "plant"}

func (o *options) validate(set map[string]bool) error {
	alone := o.serve != "" || o.join != ""
	if o.web != "" {
		for name := range set {
			if !slices.Contains(webOptions, name) {
				return fmt.Errorf("-web excludes -%s: use it with -%s", name, strings.Join(webOptions[1:], ", -"))
			}
		}
		alone = true
	}
	switch {
	case o.serve != "" && o.join != "":
		return errors.New("-serve and -join exclude each other")
	case o.inspect != "" && o.serve == "" && o.join == "":
		return errors.New("-inspect needs -serve or -join; with -web the inspector is at /inspect/")
	case o.web == "" && alone && set["transport"] && o.transport == "sim":
		return errors.New("-serve and -join need -transport udp, dtls or ws")
	case (o.pin != "") != (o.join != "" && o.transport == "dtls"):
		return errors.New("-pin is needed with -join and -transport dtls, and only then: the server prints it")
	case o.check != "" && len(set) > 1:
		return errors.New("-check excludes all other flags")
	case o.record != "" && o.serve == "":
		return errors.New("-record needs -serve")
	case o.replay == "" && (o.tick != 0 || o.entity != 0):
		return errors.New("-tick and -entity need -replay")
	case (o.beside == "") != (o.player == 0) || o.beside == "" && o.asJSON || o.player > 0xffff:
		return errors.New("-beside, -player and -tables go together: -player is the client's number")
	case o.beside != "" && (o.replay == "" || o.tick != 0 || o.entity != 0):
		return errors.New("-beside needs -replay, without -tick and -entity")
	case o.replay != "" && !only(set, "replay", "tick", "entity", "beside", "player", "tables"):
		return errors.New("-replay excludes all other flags but -tick and -entity, or -beside, -player and -tables: the tape has the settings")
	case o.bindings != "" && len(set) > 1:
		return errors.New("-print-bindings excludes all other flags")
	case o.lateInputs == 0 && set["late-share"]:
		return errors.New("-late-share needs -late-inputs")
	case o.lateInputs == 0 && o.lateWorld:
		return errors.New("-late-world needs -late-inputs: add the longest delay, such as -late-inputs 200ms")
	case alone && o.log != "":
		return errors.New("-log needs both ends in one process: not with -serve or -join")
	case alone && o.drawShots != "":
		return errors.New("-draw-shots needs both ends in one process: not with -serve or -join")
	case !slices.Contains([]string{"sim", "udp", "dtls", "ws", "all"}, o.transport):
		return fmt.Errorf("-transport %q: use sim, udp, dtls, ws or all", o.transport)
	case o.transport == "all" && (alone || o.log != ""):
		return errors.New("-transport all needs both ends in one process, without -log: not with -serve or -join")
	case !slices.Contains([]string{"predict", "partial", "delay", "interpolate"}, o.mode):
		return fmt.Errorf("-mode %q: use predict, partial, delay or interpolate", o.mode)
	case o.mode != "delay" && (set["delay-above"] || set["input-delay"]):
		return errors.New("-delay-above and -input-delay need -mode delay")
	case o.web != "" && o.plant == "desync":
		return errors.New("-web excludes -plant desync: use -plant code")
	case o.plant != "" && o.plant != "code" && o.plant != "desync":
		return fmt.Errorf("-plant %q: use code or desync", o.plant)
	case o.clients < 1 || o.clients > 200:
		return fmt.Errorf("-clients %d: use 1 to 200", o.clients)
	case !(o.seconds >= 0 && o.seconds <= 86400) || o.seconds == 0 && !alone:
		return fmt.Errorf("-seconds %v: use more than 0, at most 86400", o.seconds)
	case o.tickRate < 10 || o.tickRate > 128:
		return fmt.Errorf("-tickrate %d: use 10 to 128", o.tickRate)
	case o.snapshotRate != 0 && (o.snapshotRate < 0 || o.tickRate%o.snapshotRate != 0):
		return fmt.Errorf("-snapshotrate %d: it must divide -tickrate %d", o.snapshotRate, o.tickRate)
	case o.rtt < 0 || o.rtt > 2*time.Second || o.jitter < 0 || o.jitter > time.Second:
		return errors.New("-rtt and -jitter: use 0 to 2s and 0 to 1s")
	}
	if o.preset != "" {
		if _, err := sim.Preset(o.preset); err != nil {
			return fmt.Errorf("-preset %q: use perfect, lan, wifi, lte, train, satellite or hell", o.preset)
		}
	}
	for name, v := range map[string]float64{"loss": o.loss, "duplicate": o.duplicate, "reorder": o.reorder} {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("-%s %v: use 0 to below 1", name, v)
		}
	}
	if o.pin != "" {
		if _, err := o.pinned(); err != nil {
			return err
		}
	}
	if o.mode == "delay" && !set["delay-above"] && !set["input-delay"] {
		o.delayAbove = 150 * time.Millisecond
	}
	if alone {
		if !set["transport"] {
			o.transport = "udp"
		}
		if !set["seconds"] {
			o.seconds = 0
		}
		for name, v := range map[string]*time.Duration{"rtt": &o.rtt, "jitter": &o.jitter} {
			if !set[name] {
				*v = 0
			}
		}
		if !set["loss"] {
			o.loss = 0
		}
	}
	return nil
}

// link returns one direction of every client's connection.
func (o *options) link() sim.Link {
	if l, err := sim.Preset(o.preset); err == nil && o.preset != "" {
		return l
	}
	return sim.Link{Latency: o.rtt / 2, Jitter: o.jitter, Loss: o.loss, Duplicate: o.duplicate, Reorder: o.reorder}
}

// impaired reports whether the link has any effect.
func (o *options) impaired() bool { return o.link() != sim.Link{} }

func (o *options) rules() game.Options {
	return game.Options{TickRate: o.tickRate, Peaceful: o.peaceful}
}

// only reports whether no other flags are set.
func only(set map[string]bool, names ...string) bool {
	for name := range set {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

func (o *options) duration() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }

// lateTicks returns for how many ticks the server waits for a late input.
func (o *options) lateTicks() int {
	return int((o.lateInputs*time.Duration(o.tickRate) + time.Second - 1) / time.Second)
}
