package dtls_test

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
)

// A matchmaker issues a ticket; a client uses it to connect to the server that it names.
func Example() {
	key := ticket.NewKey()                              // shared by the matchmaker and the server
	public := netip.MustParseAddrPort("127.0.0.1:7777") // the address that players dial
	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := dtls.Listen("127.0.0.1:0", dtls.Config{Gate: gate})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")

	t, err := ticket.Issue(key, ticket.Claims{Identity: []byte("player 4711"),
		Expires: time.Now().Add(30 * time.Second), Servers: []netip.AddrPort{public}})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := t.MarshalBinary() // to the player, over HTTPS

	addr := srv.LocalAddr().String() // in production: "", for the ticket's address
	cli, err := dtls.Dial(addr, dtls.Config{Ticket: b})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cli.Close(transport.Closed, "")

	var events [1]transport.Event // package udp's example shows a game's loop
	for srv.Recv(events[:]) == 0 {
		<-srv.Ready()
	}
	var info transport.Info
	srv.Info(events[0].Peer, &info)
	fmt.Printf("%s is %v, encrypted: %v\n", info.Identity, events[0].Kind, info.Secure)
	// Output:
	// player 4711 is connected, encrypted: true
}

// Two ends without a matchmaker: the client knows the server's certificate, and sends a token over the encrypted
// connection.
func Example_certificate() {
	cert, err := dtls.NewCertificate() // once; store it
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: &cert,
		Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
			if string(token) != "let me in" {
				return nil, errors.New("no such session")
			}
			return []byte("ann"), nil
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	addr, pins := srv.LocalAddr().String(), []dtls.Pin{dtls.PinOf(cert)}
	for _, token := range []string{"let me in", "please"} {
		cli, err := dtls.Dial(addr, dtls.Config{Pins: pins, Token: []byte(token)})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer cli.Close(transport.Closed, "")
		var events [1]transport.Event
		for cli.Recv(events[:]) == 0 {
			<-cli.Ready()
		}
		fmt.Printf("%v %q\n", events[0].Kind, events[0].Reason)
	}
	// Output:
	// connected ""
	// disconnected "no such session"
}
