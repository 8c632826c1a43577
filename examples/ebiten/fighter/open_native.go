//go:build !js

package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
)

// defaultConnect returns "": a native game plays against a bot unless -connect or -host says otherwise.
func defaultConnect() string { return "" }

// open starts the relay if it is to run in this process, and the bot. It returns how the window's player
// connects.
func open(ctx context.Context, o options) (dial func() (transport.Endpoint, error), err error) {
	if o.connect != "" {
		return func() (transport.Endpoint, error) { return play.Dial(o.connect) }, nil
	}
	here := local.New(nil)
	if o.host != "" {
		outer, addr, err := play.Listen(o.host, http.FileServer(http.Dir(o.web)))
		if err != nil {
			return nil, fmt.Errorf("-host %s: %w", o.host, err)
		}
		log.Printf("the other player connects to %s, or opens http://%s", addr, addr)
		here = local.New(outer)
	}
	go func() {
		if stats, err := play.Relay(ctx, here, os.Stderr); err != nil {
			log.Print(err, stats)
		}
	}()
	dial = func() (transport.Endpoint, error) { return here.Dial(nil), nil }
	if o.host == "" {
		bot, err := play.Join(dial, play.Bot(uint64(time.Now().UnixNano())))
		if err != nil {
			return nil, err
		}
		go func() {
			if err := bot.Run(ctx, time.Second/60, nil); err != nil {
				log.Print("the bot: ", err)
			}
		}()
	}
	return dial, nil
}

// hidden returns false: a window that is covered or minimised may have a pad.
func hidden() bool { return false }

// publish does nothing: only a page has scripts that may look.
func (w *window) publish() {}
