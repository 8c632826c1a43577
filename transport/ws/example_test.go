//go:build !js

package ws_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// A server that answers once, and a client that asks.
func Example() {
	srv, err := ws.NewServer(ws.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	web := httptest.NewServer(srv) // an http.Server in earnest
	defer web.Close()
	cli, err := ws.Dial("ws"+strings.TrimPrefix(web.URL, "http"), ws.Config{})
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
