// Package layout holds a compiled protocol: what both ends know of a game's components,
// prefabs, command, messages, requests and hitboxes. It is data alone. The game's functions
// stay with the root package, which finds them by the numbers in these tables.
//
// A Layout does not change once the protocol is declared, so any number of readers may
// share it. A client of another build makes a second one, in the order of the server's
// tables.
package layout
