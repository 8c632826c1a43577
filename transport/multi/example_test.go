package multi_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// A server that native players reach over UDP and browsers over WebSocket.
func ExampleNew() {
	native, err := udp.Listen("127.0.0.1:0", udp.Config{})
	if err != nil {
		panic(err)
	}
	browsers, err := ws.Listen("127.0.0.1:0", ws.Config{})
	if err != nil {
		panic(err)
	}
	joined, err := multi.New(native, browsers) // for server.Config.Transport
	if err != nil {
		panic(err)
	}
	defer joined.Close(transport.Closed, "")

	page, err := ws.Dial("ws://"+browsers.LocalAddr().String()+"/", ws.Config{})
	if err != nil {
		panic(err)
	}
	defer page.Close(transport.Closed, "")
	var events [4]transport.Event
	for {
		for _, ev := range events[:joined.Recv(events[:])] {
			name, _ := joined.Name(ev.Peer)
			fmt.Println(ev.Kind, "by", name)
			return
		}
		time.Sleep(time.Millisecond)
	}
	// Output:
	// connected by ws
}
