package nettest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

// Moving tests a client whose own address changes: the system removes the address and adds another, as
// when a laptop changes its network. The connection must stay, and the silence must be short.
type Moving struct {
	Listen func(t testing.TB) (srv transport.Endpoint, addr netip.AddrPort)
	Dial   func(t testing.TB, addr string) transport.Endpoint
}

// Run plays at 60 Hz and 50 ms of round trip, in a network of its own.
func (c Moving) Run(t *testing.T) {
	if !Namespace(t) {
		return
	}
	far, mine := netip.MustParseAddr("10.7.0.1"), [2]netip.Addr{netip.MustParseAddr("10.7.0.2"), netip.MustParseAddr("10.7.0.3")}
	Address(t, far, true)
	Address(t, mine[0], true)
	Prefer(t, far, mine[0])
	srv, addr := c.Listen(t)
	line := sim.Link{Latency: 25 * time.Millisecond}
	proxy, err := impair.NewProxy(netip.AddrPortFrom(far, 0).String(), addr.String(), line, line, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	cli := c.Dial(t, proxy.Addr().String())
	toServer, toClient := Pair(t, srv, cli)

	var ev [64]transport.Event
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	play := func(until func(heard bool) bool) {
		for {
			<-tick.C
			_ = cli.Send(toServer, make([]byte, 40))
			_ = srv.Send(toClient, make([]byte, 100))
			heard := false
			for _, e := range ev[:cli.Recv(ev[:])] {
				if heard = true; e.Kind != transport.Data {
					t.Fatalf("%v %v %q", e.Kind, e.Code, e.Reason)
				}
			}
			for _, e := range ev[:srv.Recv(ev[:])] {
				if e.Kind != transport.Data {
					t.Fatalf("at the server: %v %v %q", e.Kind, e.Code, e.Reason)
				}
			}
			if until(heard) {
				return
			}
		}
	}
	for i := range Length(t, "changes of the address", 2, 10) {
		settled := time.Now().Add(1200 * time.Millisecond)
		play(func(bool) bool { return time.Now().After(settled) })
		old, now := mine[i%2], mine[(i+1)%2]
		Address(t, old, false)
		gone := time.Now().Add(300 * time.Millisecond) // there is no network at all for a while
		play(func(bool) bool { return time.Now().After(gone) })
		Address(t, now, true)
		Prefer(t, far, now)
		begin := time.Now()
		play(func(heard bool) bool { return heard || time.Since(begin) > 5*time.Second })
		silence := time.Since(begin)
		if t.Logf("change %d: %v until it is heard again", i+1, silence.Round(time.Millisecond)); silence > 5*time.Second {
			t.Fatal("the client is away")
		}
		var info transport.Info
		if !cli.Info(toServer, &info) || info.Stats.Migrations != uint64(i+1) {
			t.Errorf("the client counts %d moves", info.Stats.Migrations)
		}
	}
}
