// Package udp carries datagrams over UDP sockets, between a server and clients that it has looked at before it
// spends anything on them.
//
// A client greets with a datagram as large as any, the server answers with a small cookie and forgets it, and only
// who returns the cookie, and so receives at the address it claims, is put before the accept hook and allotted a
// connection id. Until then the server keeps nothing and never sends more than it got. Connections are known by
// their id, not by their address: a client whose NAT gives it another port plays on, after a challenge to the new
// address, and hears nothing for two round trips. docs/STANDARD-udp.md holds the format of every datagram.
//
// Nothing is encrypted or authenticated: who can read the traffic can forge it (Info.Secure is false). Who cannot
// must guess 64 bits to disturb a connection's handshake, end or client's datagrams, and 32 bits for a server's.
//
// Who can read the traffic and inject into it can end a session in two ways: by one forged close, and by six forged
// packets of the game's that make every genuine one look too old. No check can tell these from genuine ones without keys.
// Use package dtls where that matters, or package ws inside TLS; use this one in networks that you trust.
//
//	srv, err := udp.Listen(":27015", udp.Config{})
//	cli, err := udp.Dial("play.example.com:27015", udp.Config{Token: ticket})
//
// An endpoint has a goroutine that reads its socket and one for its timers; both end with Close.
package udp
