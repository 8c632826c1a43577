package main

import (
	"errors"
	"syscall/js"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// defaultJoin returns the address of the host that served the page.
func defaultJoin() string {
	at := js.Global().Get("location")
	scheme := "ws://"
	if at.Get("protocol").String() == "https:" {
		scheme = "wss://"
	}
	return scheme + at.Get("host").String() + "/play"
}

func dial(addr string) (transport.Endpoint, error) { return ws.Dial(addr, ws.Config{}) }

func listen(string, string) (transport.Endpoint, string, error) {
	return nil, "", errors.New("a browser cannot host: give -join")
}
