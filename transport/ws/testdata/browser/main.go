//go:build js

// Browser is a client in js/wasm. Its arguments are the URLs of a server that echoes, one that
// refuses, one that reads nothing, and of no server. It prints one line per event.
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func run(echo, refusal, stall, nobody string) error {
	if err := echoes(echo); err != nil {
		return err
	}
	for _, url := range []string{refusal, nobody} {
		cli, err := ws.Dial(url, ws.Config{Token: []byte("let me in")})
		if err != nil {
			return err
		}
		ev := next(cli)
		fmt.Println(ev.Kind, ev.Code, ev.Reason)
		cli.Close(0, "")
	}
	if err := stalls(stall); err != nil {
		return err
	}
	cli, err := ws.Dial(echo, ws.Config{Token: []byte("again")})
	if err != nil {
		return err
	}
	fmt.Println(next(cli).Kind)
	cli.Close(301, "auf Wiedersehen")
	fmt.Println("closed")
	return nil
}

func next(ep transport.Endpoint) transport.Event {
	var ev [1]transport.Event
	deadline := time.After(10 * time.Second)
	for ep.Recv(ev[:]) == 0 {
		select {
		case <-ep.Ready():
		case <-deadline:
			return transport.Event{Reason: "nothing happened"}
		}
	}
	return ev[0]
}

func echoes(url string) error {
	cli, err := ws.Dial(url, ws.Config{Token: []byte("from the browser")})
	if err != nil {
		return err
	}
	defer cli.Close(0, "")
	ev := next(cli)
	if ev.Kind != transport.Connected {
		return fmt.Errorf("%v %v %q", ev.Kind, ev.Code, ev.Reason)
	}
	peer := ev.Peer
	sizes := []int{0, 1, 125, 126, 127, 200, 1000, ws.MTU}
	for i, n := range sizes {
		if err := cli.Send(peer, bytes.Repeat([]byte{byte(i)}, n)); err != nil {
			return err
		}
	}
	for i, n := range sizes {
		if ev := next(cli); ev.Kind != transport.Data || !bytes.Equal(ev.Data, bytes.Repeat([]byte{byte(i)}, n)) {
			return fmt.Errorf("%v of %d bytes where the echo of %d was due", ev.Kind, len(ev.Data), n)
		}
	}
	fmt.Println("echoed", len(sizes))
	time.Sleep(1200 * time.Millisecond) // keep-alives hold the connection
	cli.Send(peer, []byte("drop me"))
	ev = next(cli)
	fmt.Println(ev.Kind, ev.Code, ev.Reason)
	return nil
}

// stalls sends more than the server takes.
func stalls(url string) error {
	cli, err := ws.Dial(url, ws.Config{SendQueue: 64 << 10, Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer cli.Close(0, "")
	peer := next(cli).Peer
	const sent = 16_000
	for i := range sent {
		if err := cli.Send(peer, make([]byte, ws.MTU)); err != nil {
			return err
		}
		if i%10 == 0 {
			time.Sleep(time.Microsecond)
		}
	}
	var info transport.Info
	cli.Info(peer, &info)
	if s := info.Stats; s.SendDropped == 0 || s.Sent+s.SendDropped > sent || sent-s.Sent-s.SendDropped > 64 {
		return fmt.Errorf("a server that reads nothing, and %+v", s)
	}
	fmt.Println("dropped the oldest")
	return nil
}
