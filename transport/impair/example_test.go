package impair_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// A game on a bad network: only its endpoint is wrapped.
func ExampleWrap() {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	inner, err := udp.Dial(srv.LocalAddr().String(), udp.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	lossy := sim.Link{Latency: 5 * time.Millisecond, Loss: 0.2, Burst: 3}
	cli := impair.Wrap(inner, lossy, lossy, 7)
	defer cli.Close(transport.Closed, "")

	var events [16]transport.Event
	for {
		<-cli.Ready()
		for _, ev := range events[:cli.Recv(events[:])] {
			if ev.Kind != transport.Connected {
				fmt.Println("no luck:", ev.Code, ev.Reason)
				return
			}
			for range 100 {
				cli.Send(ev.Peer, []byte("input"))
			}
			up, _, _ := cli.Stats(ev.Peer)
			fmt.Println(up.Sent, "sent,", up.Lost, "will not arrive")
			return
		}
	}
	// Output:
	// 100 sent, 21 will not arrive
}

// NewProxy makes a bad network for a client and a server that are not changed. Here the client is a
// phone on a train whose NAT changes its port.
func ExampleNewProxy() {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	proxy, err := impair.NewProxy("127.0.0.1:0", srv.LocalAddr().String(), sim.Train, sim.Train, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proxy.Close()
	cli, err := udp.Dial(proxy.Addr().String(), udp.Config{}) // the proxy's address instead of the server's
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cli.Close(transport.Closed, "")

	var events [16]transport.Event
	for {
		<-cli.Ready()
		for _, ev := range events[:cli.Recv(events[:])] {
			fmt.Println(ev.Kind)
			if err := proxy.Rebind(); err != nil {
				fmt.Println(err)
			}
			return
		}
	}
	// Output:
	// connected
}
