// Package ticket creates and checks connect tickets. A matchmaker gives a ticket to a player, and a game server that
// shares only a key with the matchmaker then knows who connects.
//
// The matchmaker, once it knows the player and the server:
//
//	t, err := ticket.Issue(key, ticket.Claims{Identity: []byte("player 4711"),
//		Expires: time.Now().Add(30 * time.Second), Servers: []netip.AddrPort{addr}})
//	b, err := t.MarshalBinary() // to the player, over HTTPS: anyone with these bytes can play as the player
//
// The player's client parses the bytes and dials t.Servers. With package dtls it uses the whole ticket
// (dtls.Config.Ticket); with other transports it sends t.Sealed as its token. The server's [Gate] opens the ticket.
// It accepts each ticket once, while it is valid, at the servers that it names, unless its identity is banned.
//
// The sealed part is encrypted and authenticated (XChaCha20-Poly1305) with the matchmaker's key: neither the player
// nor an eavesdropper can read or change it. The secret is derived from the sealed part (HKDF-SHA256), so a server
// that can open the sealed part also knows the secret. Package dtls uses the secret as pre-shared key, so a ticket
// intercepted on its way to the server is useless. Other transports send the sealed part itself: use them inside TLS.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package ticket
