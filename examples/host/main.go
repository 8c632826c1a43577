// Host is a complete game service: a matchmaker, a host of many matches behind one port, bots, and a
// page of figures. Without flags all of it runs on this machine, in one process:
//
//	go run ./examples/host                # then open http://127.0.0.1:8080
//	curl -d '{"Name":"ann"}' http://127.0.0.1:8080/play
//
// On a fleet each part is a process of the same program:
//
//	host -role host -agones               # in a pod of the fleet, next to the SDK server of Agones
//	host -role matchmaker -fleet hosts    # allocates from the fleet by the API of Kubernetes
//	host -role bots -ask http://MATCHMAKER:8080 -bots 40
//
// Matchmaker and hosts share a key, 64 hexadecimal digits in FORETICK_TICKET_KEY or a file. The files
// in fleet/, on one machine those in machine/, and the Dockerfile show the rest.
//
// On SIGTERM a host refuses new matches and ends with its last one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/foretick/foretick/transport/ticket"
)

// options are the values of the command line's flags, and what is made from them. parse describes
// each flag.
type options struct {
	role            string
	game, web, page string
	public          string
	publicWeb       string
	proxyHeader     string
	agones          bool
	fleet, to, ask  string
	files           string
	tapes, collect  string
	replay          string
	tick, entity    uint
	players, bots   int
	matches         int
	length, drain   time.Duration
	keys            *keys
	log             *slog.Logger
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("host", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.StringVar(&o.role, "role", "all", "all, host, matchmaker or bots")
	fs.StringVar(&o.game, "game", "127.0.0.1:7777", "address to listen on for native players, over DTLS and UDP")
	fs.StringVar(&o.web, "web", "127.0.0.1:7778", "address to listen on for browsers, over WebSocket")
	fs.StringVar(&o.page, "page", "127.0.0.1:8080", "address of the matchmaker, the figures, /livez and /readyz")
	fs.StringVar(&o.public, "public", "", "IP:PORT under which players reach -game; empty: -game itself, or what Agones says")
	fs.StringVar(&o.publicWeb, "public-web", "", "URL under which browsers reach -web, such as wss://play.example.com/game; empty: ws:// and -web itself, or what Agones says")
	fs.StringVar(&o.proxyHeader, "proxy-header", "", "header in which a proxy in front of -web writes the player's address, such as X-Forwarded-For; empty: there is no proxy")
	fs.BoolVar(&o.agones, "agones", false, "the host runs on Agones")
	fs.StringVar(&o.files, "files", "", "without Agones: directory for the files ready, health, status and drain, for a supervisor")
	fs.StringVar(&o.tapes, "tapes", filepath.Join(os.TempDir(), "tapes"), "directory for the tapes of running matches, which a killed process leaves; another one for each process; empty: none")
	fs.StringVar(&o.collect, "collect", "", "command that is run with the path of each tape of a match that panicked or was killed; if it succeeds, the tape is removed; empty: tapes stay in the directory")
	fs.StringVar(&o.replay, "replay", "", "replay this tape, and end; with -tick stop there and list the entities, with -entity print what each system did to one; -drain is that of the host that recorded it")
	fs.UintVar(&o.tick, "tick", 0, "with -replay: stop at this tick")
	fs.UintVar(&o.entity, "entity", 0, "with -replay: the network id of an entity of that list")
	file := fs.String("keys", "", "file with one or two ticket keys of 64 hexadecimal digits, which may change; the matchmaker issues under the first; empty: "+keyVariable)
	logs := fs.String("log", "text", "form of log lines: text or json")
	fs.StringVar(&o.fleet, "fleet", "", "the matchmaker allocates hosts of this Agones fleet")
	fs.StringVar(&o.to, "to", "", "the matchmaker sends everybody to the host at this IP:PORT")
	fs.StringVar(&o.ask, "ask", "", "bots ask the matchmaker at this URL")
	fs.IntVar(&o.players, "players", 4, "players of a match")
	fs.IntVar(&o.matches, "matches", 100, "most matches of a host")
	fs.IntVar(&o.bots, "bots", 8, "players without people; 0: none")
	fs.DurationVar(&o.length, "length", 5*time.Minute, "length of a match")
	fs.DurationVar(&o.drain, "drain", 10*time.Minute, "most time for matches to end after SIGTERM")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var lines slog.Handler = slog.NewTextHandler(out, nil)
	if *logs == "json" {
		lines = slog.NewJSONHandler(out, nil)
	}
	o.log = slog.New(lines)
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.players < 1 || o.players > 64 || o.matches < 1 || o.bots < 0 || o.length <= 0 || o.drain < 0:
		return o, errors.New("-players is 1 to 64, -matches and -length are positive, -bots and -drain are not negative")
	case *logs != "text" && *logs != "json":
		return o, fmt.Errorf("-log %q: use text or json", *logs)
	case o.replay == "" && (o.tick != 0 || o.entity != 0):
		return o, errors.New("-tick and -entity need -replay, the tape to look into")
	case o.tick > math.MaxUint32 || o.entity > math.MaxUint32:
		return o, errors.New("-tick and -entity are at most 4294967295")
	case o.collect != "" && o.tapes == "":
		return o, errors.New("-collect needs -tapes, the directory that it collects from")
	case o.publicWeb != "" && !strings.HasPrefix(o.publicWeb, "ws://") && !strings.HasPrefix(o.publicWeb, "wss://"):
		return o, fmt.Errorf("-public-web %q: use a URL such as wss://play.example.com/game", o.publicWeb)
	case o.agones && o.files != "":
		return o, errors.New("use either -agones or -files")
	case o.role == "bots" && o.ask == "":
		return o, errors.New("-role bots needs -ask, the URL of the matchmaker")
	case o.role == "matchmaker" && (o.fleet == "") == (o.to == ""):
		return o, errors.New("-role matchmaker needs either -fleet or -to")
	}
	if o.replay != "" {
		return o, nil
	}
	if o.keys, err = readKeys(*file); err != nil {
		return o, err
	}
	if len(o.keys.all()) > 0 {
		return o, nil
	}
	if o.role == "host" || o.role == "matchmaker" {
		return o, fmt.Errorf("set %s to %d hexadecimal digits, or name a file with -keys, the same for matchmaker and hosts", keyVariable, 2*ticket.KeySize)
	}
	o.keys.now.Store(&[][]byte{ticket.NewKey()})
	return o, nil
}

// run executes the command line args. main exits with its error.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	if o.replay != "" {
		return replay(o, out)
	}
	switch o.role {
	case "bots":
		return play(ctx, o)
	case "host":
		h, err := newHosting(ctx, o)
		if err != nil {
			return err
		}
		return h.serve(ctx, http.NewServeMux())
	case "matchmaker":
		return matchmaking(ctx, o)
	case "all":
		return all(ctx, o)
	}
	return fmt.Errorf("-role %q: use all, host, matchmaker or bots", o.role)
}

// matchmaking runs only the matchmaker.
func matchmaking(ctx context.Context, o options) error {
	m := &matchmaker{o: o}
	if o.fleet != "" {
		f, err := newFleet(o)
		if err != nil {
			return err
		}
		m.place = f.allocate
	} else {
		addr, err := netip.ParseAddrPort(o.to)
		if err != nil {
			return fmt.Errorf("-to %q: use an address such as 192.0.2.1:7777", o.to)
		}
		m.place = func(context.Context, string) (gameServer, error) {
			return gameServer{Game: addr, Web: o.publicWeb}, nil
		}
	}
	l, err := net.Listen("tcp", o.page)
	if err != nil {
		return err
	}
	o.log.Info("matchmaker", "url", "http://"+l.Addr().String()+"/play")
	go o.keys.watch(ctx, o, func([][]byte) error { return nil })
	mux := http.NewServeMux()
	mux.Handle("POST /play", m)
	return pages(ctx, l, mux)
}

// pages serves HTTP until ctx ends.
func pages(ctx context.Context, l net.Listener, mux http.Handler) error {
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// all runs every part in this process.
func all(ctx context.Context, o options) error {
	h, err := newHosting(ctx, o)
	if err != nil {
		return err
	}
	m := &matchmaker{o: o, place: func(context.Context, string) (gameServer, error) {
		if h.host.Draining() {
			return gameServer{}, errNoServer
		}
		return h.where, nil
	}}
	mux := http.NewServeMux()
	mux.Handle("POST /play", m)
	o.ask = "http://" + h.pages.Addr().String()
	o.log.Info("matchmaker", "url", o.ask+"/play")
	playing, leave := context.WithCancel(ctx) // on SIGTERM the bots leave, and so their matches end
	defer leave()
	var bots sync.WaitGroup
	if o.bots > 0 {
		bots.Go(func() {
			if err := play(playing, o); err != nil {
				o.log.Error("bots", "err", err)
			}
		})
	}
	err = h.serve(ctx, mux)
	leave()
	bots.Wait()
	return err
}
