//go:build !js

package ws_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// A server that is a handler of somebody's http.Server, and a client.
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

	var events [1]transport.Event // a game's loop is package udp's example
	for cli.Recv(events[:]) == 0 {
		<-cli.Ready()
	}
	var info transport.Info
	cli.Info(events[0].Peer, &info)
	fmt.Printf("%v, in order: %v\n", events[0].Kind, info.Ordered)
	// Output:
	// connected, in order: true
}
