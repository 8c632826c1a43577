package udp_test

import (
	"fmt"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// A server that answers once, and a client that asks.
func Example() {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	cli, err := udp.Dial(srv.LocalAddr().String(), udp.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cli.Close(transport.Closed, "")

	var events [16]transport.Event
	for {
		select { // a game would wait for its next tick as well
		case <-srv.Ready():
		case <-cli.Ready():
		}
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
				fmt.Printf("%s\n", ev.Data)
				return
			case transport.Disconnected:
				fmt.Println("no luck:", ev.Code, ev.Detail)
				return
			}
		}
	}
	// Output:
	// you said hello
}
