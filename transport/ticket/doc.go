// Package ticket makes and checks connect tickets: what a matchmaker hands to a player so that a game server, which
// shares a key with the matchmaker and nothing else, knows who is connecting.
//
// The matchmaker, once it knows the player and the server:
//
//	t, err := ticket.Issue(key, ticket.Claims{Identity: []byte("player 4711"),
//		Expires: time.Now().Add(30 * time.Second), Servers: []netip.AddrPort{addr}})
//	b, err := t.MarshalBinary() // to the player, over HTTPS: whoever has these bytes is the player
//
// The player's client parses the bytes and dials t.Servers, with package dtls by the whole ticket
// (dtls.Config.Ticket), with other transports by showing t.Sealed as its token. The server's [Gate] opens it, and lets
// each ticket in once, while it is valid, at the servers that it names, unless its identity is banned.
//
// A ticket's sealed part is encrypted and authenticated (XChaCha20-Poly1305) under the matchmaker's key: neither the
// player nor who listens can read or change it. Its secret is derived from the sealed part (HKDF-SHA256), so a server
// that can open the one knows the other; package dtls uses it as the pre-shared key, so that a ticket that was seen on
// its way to the server is of no use. Other transports show the sealed part itself: use them inside TLS.
package ticket
