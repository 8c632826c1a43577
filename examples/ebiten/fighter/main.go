// Fighter is the fighting game of examples/fighter in a window, and in a tab of a browser.
//
//	go run ./fighter                                      plays against a bot
//	go run ./fighter -host :7790                          waits for another player, also one with a browser
//	go run ./fighter -connect ws://127.0.0.1:7790/play    plays there
//	go run ./fighter -replay match.replay                 plays a match again
//
// The rules, the relay and the peers are packages of examples/fighter. README.md says how to build for the browser.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick/examples/ebiten/fighter/scene"
)

type options struct {
	host, web, connect, replay, save string
	bot                              bool
	frames                           int
	screenshot                       string
}

func main() {
	var o options
	flag.StringVar(&o.host, "host", "", "HOST:PORT to run the relay at for another player; empty plays against a bot")
	flag.StringVar(&o.web, "web", "web", "directory of the page that -host serves")
	flag.StringVar(&o.connect, "connect", defaultConnect(), "relay to play at: HOST:PORT, or ws://HOST:PORT/play")
	flag.StringVar(&o.replay, "replay", "", "replay to play again")
	flag.StringVar(&o.save, "save", "", "file to write the match's replay to, when the window closes")
	flag.BoolVar(&o.bot, "bot", false, "let the player play by itself")
	flag.IntVar(&o.frames, "frames", 0, "end after so many frames")
	flag.StringVar(&o.screenshot, "screenshot", "", "PNG file to write the last of -frames to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, o)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	ebiten.SetWindowTitle("fighter")
	ebiten.SetWindowSize(scene.Width, scene.Height)
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update, and so one Step, for each frame that is drawn
	if o.replay != "" {
		p, err := newPlayback(o.replay)
		if err != nil {
			return fmt.Errorf("-replay %s: %w", o.replay, err)
		}
		return ebiten.RunGame(&window{o: o, replay: p})
	}
	dial, err := open(ctx, o)
	if err != nil {
		return err
	}
	w, err := newWindow(o, dial)
	if err != nil {
		return err
	}
	w.publish()
	go w.stepBetween()
	if err := ebiten.RunGame(w); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.save != "" {
		if err := w.save(); err != nil {
			return fmt.Errorf("-save: %w", err)
		}
	}
	return w.player.Close()
}

// save writes the match's replay.
func (w *window) save() error {
	f, err := os.Create(w.o.save)
	if err != nil {
		return err
	}
	if err := w.player.WriteReplay(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
