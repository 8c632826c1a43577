// Package cause finds out why a client mispredicted.
//
// The server keeps a [Player] for each player: which of its ticks ran without the
// client's own command, and when something that the client does not run wrote its
// predicted state. It sends this as a [Note] with each snapshot that needs one. The client
// takes the notes into a [Log], and when a prediction differs from the server's state,
// [Log.Explain] returns the cause. In debug builds both ends hash the predicted state
// after each system, in a [Trail]: the first hash that differs names the system.
//
// The package knows ticks and numbers only, no world and no protocol. Nothing in it is
// safe for concurrent use.
package cause

// Tick counts simulation steps.
type Tick = uint32
