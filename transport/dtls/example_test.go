package dtls_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
)

// A matchmaker issues a ticket, with which a client connects to the server that it names.
func Example() {
	key := ticket.NewKey()                              // the matchmaker's and the server's
	public := netip.MustParseAddrPort("127.0.0.1:7777") // what players dial; behind it is the server
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

	addr := srv.Below().(*udp.Endpoint).LocalAddr().String() // in earnest: "", the ticket's
	cli, err := dtls.Dial(addr, dtls.Config{Ticket: b})
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
			var info transport.Info
			if ev.Kind == transport.Data && srv.Info(ev.Peer, &info) {
				srv.Send(ev.Peer, fmt.Appendf(nil, "%s said %s", info.Identity, ev.Data))
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
	// player 4711 said hello
}
