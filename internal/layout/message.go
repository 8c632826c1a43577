package layout

import "github.com/foretick/foretick/schema"

// Message is a kind of message from the server to players.
type Message struct {
	Name    string // its Go type's
	Schema  *schema.Schema
	Channel int
	Own     int // its number in this build, −1: another build's, passed over
}

// Request is a kind of message from a player to the server.
type Request struct {
	Name   string // its Go type's
	Schema *schema.Schema
	Cause  string // name of its handler among causes
	Kind   int    // on the wire; −1: the server's build does not have it
}
