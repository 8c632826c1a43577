// Ebiten is a small complete game in Ebitengine: players walk, aim with the mouse and
// shoot. The same code runs natively and in the browser.
//
//	go run .                                 hosts a match and plays in it
//	go run . -join ws://127.0.0.1:7780/play  plays in a match that runs already
//	go run . -serve -listen ws://:7780       runs a match without a window
//	go run . -bindings keys.json             plays with the keys of a file
//
// The folder duel has the rules, which both ends share. README.md lists what each file
// shows, and how to build for the browser.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/ebiten/duel"
	"github.com/foretick/foretick/examples/ebiten/keys"
	"github.com/foretick/foretick/server"
)

type options struct {
	join       string
	listen     string
	web        string
	serve      bool
	bindings   string
	bot        bool
	mute       bool
	overlays   bool
	frames     int
	screenshot string
}

func main() {
	var o options
	flag.StringVar(&o.join, "join", defaultJoin(), "address of a match, such as ws://127.0.0.1:7780/play or udp://127.0.0.1:7780; empty hosts one")
	flag.StringVar(&o.listen, "listen", "ws://127.0.0.1:7780", "address to host at; ws:// is for browsers too, udp:// is not")
	flag.StringVar(&o.web, "web", "web", "directory of the page that a ws:// host serves")
	flag.BoolVar(&o.serve, "serve", false, "host without a window")
	flag.StringVar(&o.bindings, "bindings", "", "JSON file of key bindings over the default ones; F1 saves there too")
	printBindings := flag.Bool("print-bindings", false, "print all bindings, for such a file, and end")
	flag.BoolVar(&o.bot, "bot", false, "let the player play by itself")
	flag.BoolVar(&o.mute, "mute", false, "no sound")
	flag.BoolVar(&o.overlays, "overlays", false, "begin with F3 and F5 pressed")
	flag.IntVar(&o.frames, "frames", 0, "end after so many frames")
	flag.StringVar(&o.screenshot, "screenshot", "", "PNG file to write the last of -frames to")
	flag.Parse()
	if *printBindings {
		if err := printKeys(o.bindings, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, o)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// printKeys prints all bindings: those of the file, and the default ones of all other actions.
func printKeys(file string, out io.Writer) error {
	m, err := keys.Load(file)
	if err != nil {
		return fmt.Errorf("-bindings %w", err)
	}
	return m.SaveAll(out)
}

func run(ctx context.Context, o options) error {
	var here *host
	if o.join == "" || o.serve {
		h, err := newHost(o)
		if err != nil {
			return err
		}
		log.Printf("hosting at %s", h.addr)
		if o.serve {
			context.AfterFunc(ctx, func() { h.server.Drain("this server closes") }) // the server ends when its last player has left
			return h.server.Run(context.Background())
		}
		go func() { _ = h.server.Run(ctx) }()
		here, o.join = h, h.addr
	}
	w, err := newWindow(o, here)
	if err != nil {
		return err
	}
	ebiten.SetWindowTitle("duel, over " + o.join)
	ebiten.SetWindowSize(duel.Width*scale, duel.Height*scale)
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update, and so one Step, for each frame that is drawn
	err = ebiten.RunGame(w)
	return errors.Join(err, w.client.Close())
}

// host is a match that runs in this process.
type host struct {
	server *server.Server
	addr   string     // where other windows join
	seen   serverView // where the server has the players, for F5
}

func newHost(o options) (*host, error) {
	endpoint, addr, err := listen(o.listen, o.web)
	if err != nil {
		return nil, fmt.Errorf("-listen %s: %w", o.listen, err)
	}
	h, g := &host{addr: addr}, &duel.Game{}
	h.server, err = server.New(server.Config{
		Protocol: g.Protocol(), Transport: endpoint,
		OnTick: func(f *foretick.ServerFrame) { h.seen.keep(g, f.Frame) },
	})
	return h, err
}
