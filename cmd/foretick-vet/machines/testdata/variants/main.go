// Command variants plays one of five small games over UDP: the server in one process, its
// clients in another, which may be on a machine of another architecture.
//
//	variants -game raw -serve 127.0.0.1:0
//	variants -game raw -join 127.0.0.1:7777
package main

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"time"

	"example.com/planted/variants/raw"
	"example.com/planted/variants/readme"
	"example.com/planted/variants/stepped"
	"example.com/planted/variants/turned"
	"example.com/planted/variants/wide"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

var games = map[string]func() simtest.Player{
	"readme": readme.New, "stepped": stepped.New, "raw": raw.New, "wide": wide.New, "turned": turned.New,
}

func main() {
	game := flag.String("game", "", "readme, stepped, raw, wide or turned")
	serve, join := flag.String("serve", "", "be the server at this address"), flag.String("join", "", "be the clients of this address")
	clients := flag.Int("clients", 2, "how many join")
	d := flag.Duration("for", 30*time.Second, "how long")
	flag.Parse()
	if err := play(games[*game], *serve, *join, *clients, *d); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(newPlayer func() simtest.Player, serve, join string, clients int, d time.Duration) error {
	switch {
	case newPlayer == nil:
		return fmt.Errorf("no such -game")
	case serve != "":
		ctx, stop := context.WithTimeout(context.Background(), d)
		defer stop()
		return pair.Serve(ctx, serve, newPlayer, func(at netip.AddrPort) { fmt.Println("serving at", at) })
	}
	r, err := pair.Join(context.Background(), join, clients, d, newPlayer)
	if err == nil {
		fmt.Println(r.String())
	}
	return err
}
