// Package dtls carries datagrams over DTLS 1.2 and UDP: encrypted, authenticated, each at most once, and from a client
// that has proved who it is. It lies over package udp, whose stateless cookie, limits and connection ids it keeps: a
// client whose NAT gives it another port plays on, with the keys it has. docs/STANDARD-dtls.md holds the format.
//
// By ticket: a matchmaker, which shares a key with the server, gives the player a ticket (package ticket), and the
// connection is keyed by its secret. Nobody else can use it, and the server knows the player:
//
//	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
//	srv, err := dtls.Listen(":27015", dtls.Config{Gate: gate})
//
//	cli, err := dtls.Dial("", dtls.Config{Ticket: ticket}) // to the server that the ticket names
//
// By pinned certificate: the client knows the server's certificate, and shows a token once nobody can listen:
//
//	cert, err := dtls.NewCertificate() // once, and kept
//	srv, err := dtls.Listen(":27015", dtls.Config{Certificate: &cert, Accept: ...})
//
//	cli, err := dtls.Dial("play.example.com:27015", dtls.Config{Pins: []dtls.Pin{pin}, Token: session})
//
// The handshake is that of github.com/pion/dtls/v2, of which little is used and less is trusted: see SECURITY.md. The
// records of a connection are this package's own, under the keys of that handshake, and cost no allocation.
//
// An endpoint has two goroutines of its own and two below it, and three for each handshake; all end with Close.
package dtls
