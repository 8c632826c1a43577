// Package dtls carries datagrams over DTLS 1.2 and UDP. They are encrypted and authenticated, arrive at most once,
// and come from a client that has proved its identity. It runs on top of package udp and keeps its stateless cookie,
// limits and connection ids. A client whose NAT changes its port stays connected with the same keys.
// docs/STANDARD-dtls.md describes the format.
//
// With tickets: a matchmaker that shares a key with the server gives the player a ticket (package ticket). The
// ticket's secret keys the connection. Nobody else can use the ticket, and the server knows the player:
//
//	gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
//	srv, err := dtls.Listen(":27015", dtls.Config{Gate: gate})
//
//	cli, err := dtls.Dial("", dtls.Config{Ticket: t}) // t: the bytes of the ticket, which names the server
//
// With a pinned certificate: the client knows the server's certificate, and sends a token over the encrypted
// connection:
//
//	cert, err := dtls.NewCertificate() // once; store it
//	srv, err := dtls.Listen(":27015", dtls.Config{Certificate: &cert, Accept: accept})
//
//	cli, err := dtls.Dial("play.example.com:27015", dtls.Config{Pins: []dtls.Pin{pin}, Token: session})
//
// The handshake is that of github.com/pion/dtls/v2. The package uses little of that library and trusts less: see
// SECURITY.md. This package encrypts the records of a connection itself, with the keys of that handshake and without
// allocating.
//
// An endpoint has two goroutines and its udp endpoint two more, plus three for each handshake; all end with Close.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package dtls
