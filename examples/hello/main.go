// Hello is the smallest complete game. Run it with -serve in one terminal and without flags in
// others; or with -alone in one.
//
//	rules.go   components, command and systems: both ends have them
//	server.go  the server
//	client.go  a player: its commands, and what it draws
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
	"github.com/foretick/foretick/transport/udp"
)

func main() {
	server := flag.Bool("serve", false, "be the server")
	alone := flag.Bool("alone", false, "be the server and its player in one process, without a network")
	addr := flag.String("addr", "127.0.0.1:7777", "the server's address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, *server, *alone, *addr); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server, alone bool, addr string) error {
	if alone {
		return playAlone(ctx, log.Printf)
	}
	net, err := open(server, addr)
	switch {
	case err != nil:
		return err
	case server:
		return serve(ctx, net)
	}
	return play(ctx, net, log.Printf)
}

// open returns the transport of a server or of a client. For another transport, change its lines:
// see the README.
func open(server bool, addr string) (transport.Endpoint, error) {
	if server {
		return udp.Listen(addr, udp.Config{})
	}
	return udp.Dial(addr, udp.Config{})
}

// playAlone runs a server and its only player in one process, connected through memory. With
// udp.Listen's endpoint in place of nil, others can join: then a player hosts the match.
func playAlone(ctx context.Context, say func(format string, args ...any)) error {
	host := local.New(nil)
	served := make(chan error, 1)
	go func() { served <- serve(ctx, host) }()
	err := play(ctx, host.Dial(nil), say)
	_ = host.Close(transport.Closed, "the player left")
	return errors.Join(err, <-served)
}
