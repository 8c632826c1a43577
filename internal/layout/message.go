package layout

import "github.com/foretick/foretick/schema"

// Message is a kind of message from the server to players.
type Message struct {
	Name    string // Name is the name of its Go type.
	Schema  *schema.Schema
	Channel int
	Own     int // Own is its number in this build. −1 means another build's, which is skipped.
}

// Request is a kind of message from a player to the server.
type Request struct {
	Name   string // Name is the name of its Go type.
	Schema *schema.Schema
	Cause  string // Cause is the name of its handler among causes.
	Kind   int    // Kind is the kind on the wire. −1 means that the server's build does not have it.
}
