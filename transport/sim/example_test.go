package sim_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A server that echoes, and a client over a slow link; ten virtual seconds pass at once.
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

// A link fails for two seconds. Faults use the same clock as the match, and depend on the seed.
func ExampleNetwork_Blackhole() {
	net := sim.NewNetwork(7)
	srv := net.Listen()
	cli := net.Dial(srv, sim.WiFi, sim.WiFi)
	net.At(3*time.Second, func() { net.Blackhole(cli, net.Now(), net.Now()+2*time.Second) })

	var events [16]transport.Event
	var to transport.PeerID
	heard, silence := time.Duration(0), time.Duration(0)
	var tick func()
	tick = func() {
		for _, ev := range events[:cli.Recv(events[:])] {
			to = ev.Peer
		}
		cli.Send(to, []byte("input")) // fails until Connected
		for _, ev := range events[:srv.Recv(events[:])] {
			if ev.Kind == transport.Data {
				silence, heard = max(silence, net.Now()-heard), net.Now()
			}
		}
		net.At(net.Now()+time.Second/50, tick)
	}
	net.At(0, tick)
	net.Run(10 * time.Second)
	up, _ := net.Paths(cli)
	fmt.Println("the longest silence lasted", silence, "as", up.Stats().Dark, "datagrams were lost to it and", up.Stats().Lost,
		"to chance")
	// Output:
	// the longest silence lasted 2.06s as 104 datagrams were lost to it and 2 to chance
}
