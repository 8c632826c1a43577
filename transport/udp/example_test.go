package udp_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// A server that replies once, and a client that sends a message.
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
		select { // a game would also wait for its next tick
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
				fmt.Println("no luck:", ev.Code, ev.Reason)
				return
			}
		}
	}
	// Output:
	// you said hello
}

// A server that accepts clients with a ticket, and identifies players by it.
func ExampleConfig() {
	srv, err := udp.Listen("127.0.0.1:0", udp.Config{
		MaxPeers: 16,
		Accept: func(_ netip.AddrPort, token []byte) (identity []byte, err error) {
			name, ok := strings.CutPrefix(string(token), "ticket of ")
			if !ok {
				return nil, errors.New("no ticket")
			}
			return []byte(name), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	for _, token := range []string{"ticket of ada", "please"} {
		cli, err := udp.Dial(srv.LocalAddr().String(), udp.Config{Token: []byte(token)})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer cli.Close(transport.Closed, "")
		var events [1]transport.Event
		<-cli.Ready()
		if cli.Recv(events[:]) == 1 && events[0].Kind == transport.Disconnected {
			fmt.Printf("%v: %s\n", events[0].Code, events[0].Reason)
			continue
		}
		var info transport.Info
		srv.Recv(events[:])
		srv.Info(events[0].Peer, &info)
		fmt.Printf("%s is in\n", info.Identity)
	}
	// Output:
	// ada is in
	// refused: no ticket
}
