package pair

import (
	"context"
	"flag"
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/simtest"
)

var (
	serve   = flag.String("pair.serve", "", "be the server alone, at this address, such as :7777")
	join    = flag.String("pair.join", "", "be the clients alone, of the server at this address")
	seconds = flag.Float64("pair.seconds", 0, "how long to play; 0 means 30, or 1 with both ends in this process")
	clients = flag.Int("pair.clients", 2, "how many clients join")
)

// Test plays a game over UDP. Without flags it plays both ends in this process. With
// -pair.serve or -pair.join it is one end: see the package's comment. newPlayer returns one
// end of the game. It is called once for the server, and once for each client.
func Test(t *testing.T, newPlayer func() simtest.Player) {
	t.Helper()
	d := time.Duration(*seconds * float64(time.Second))
	alone := *serve != "" || *join != ""
	switch {
	case d < 0 || *clients < 1 || *serve != "" && *join != "":
		t.Fatal("-pair.seconds is not negative, -pair.clients 1 and more, and -pair.serve excludes -pair.join")
	case d == 0 && alone:
		d = 30 * time.Second
	case d == 0:
		d = time.Second
	}
	if *serve != "" {
		ctx, stop := context.WithTimeout(context.Background(), d)
		defer stop()
		if err := Serve(ctx, *serve, newPlayer, func(at netip.AddrPort) { t.Logf("serving at %v", at) }); err != nil {
			t.Fatal(err)
		}
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	addr := *join
	served := make(chan error, 1)
	if addr == "" {
		at := make(chan netip.AddrPort, 1)
		go func() { served <- Serve(ctx, "127.0.0.1:0", newPlayer, func(a netip.AddrPort) { at <- a }) }()
		select {
		case a := <-at:
			addr = a.String()
		case err := <-served:
			t.Fatal(err)
		}
	}
	r, err := Join(ctx, addr, *clients, d, newPlayer)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.String())
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if *join == "" {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
