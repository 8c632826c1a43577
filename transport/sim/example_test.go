package sim_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A server that answers what it gets, a client over a slow link, and ten seconds that pass at once.
func Example() {
	net := sim.NewNetwork(7)
	srv := net.Listen()
	slow := sim.Link{Latency: 50 * time.Millisecond}
	cli := net.Dial(srv, slow, slow)

	var events [16]transport.Event
	var tick func()
	tick = func() {
		for _, ev := range events[:srv.Recv(events[:])] {
			if ev.Kind == transport.Data {
				srv.Send(ev.Peer, append([]byte("you said "), ev.Data...))
			}
		}
		for _, ev := range events[:cli.Recv(events[:])] {
			switch ev.Kind {
			case transport.Connected:
				cli.Send(ev.Peer, []byte("hello"))
			case transport.Data:
				fmt.Printf("%v: %s\n", net.Now(), ev.Data)
			}
		}
		net.At(net.Now()+20*time.Millisecond, tick)
	}
	net.At(0, tick)
	net.Run(10 * time.Second)
	// Output:
	// 220ms: you said hello
}
