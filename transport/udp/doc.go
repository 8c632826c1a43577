// Package udp carries datagrams over UDP sockets between a server and its clients. The server spends nothing on a
// client until it has verified the client's address.
//
// A client sends a hello datagram of full size. The server replies with a small cookie and stores nothing. Only a
// client that returns the cookie, and so receives at its claimed address, reaches the accept hook and gets a
// connection id. Until then the server never sends more than it received. Connections are known by their id, not
// by their address. A client whose NAT changes its port stays connected after a challenge to the new address,
// which takes two round trips of silence. So does a client whose own address changes, since its machine is in another
// network now: when a send fails, or nothing comes for 250 ms and two round trips, it asks from the address that the
// system would choose, and uses that one once the server replies. docs/STANDARD-udp.md describes every datagram.
//
// Nothing is encrypted or authenticated: an attacker who can read the traffic can forge it (Info.Secure is false).
// Without reading it, an attacker must guess 64 bits to disturb a connection's handshake, end or client datagrams,
// and 32 bits for a server's.
//
// An attacker who can read the traffic and inject into it can end a session in two ways: with one forged close, or
// with six forged game packets that make every genuine one look too old. Without keys no check can tell these from
// genuine ones. Use package dtls where that matters, or package ws inside TLS; use this package in networks that
// you trust.
//
//	srv, err := udp.Listen(":27015", udp.Config{})
//	cli, err := udp.Dial("play.example.com:27015", udp.Config{Token: ticket})
//
// An endpoint has a goroutine that reads its socket and one for its timers; both end with Close.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package udp
