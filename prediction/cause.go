package prediction

import (
	"fmt"
	"strings"
)

// Cause is the reason why a prediction was wrong: the first that applies, in
// this order.
type Cause uint8

// The causes.
const (
	// Input: since the last tick on which both agreed, the server ran another
	// command than the client.
	Input Cause = iota
	// ServerEffect: code that runs only on the server wrote a predicted field
	// of this player: a system, a hook, a request's handler, or the program
	// itself.
	ServerEffect
	// RemoteInput: another player did something that this client did not know
	// or predicted differently, and it changed this client's predicted state: a
	// push, a collision, a shared object. With remote prediction it may be
	// found before the server's snapshot of the local player. Then Tick is the
	// newest predicted tick, Predicted the old value and Actual the new one.
	RemoteInput
	// Untracked: a shared system read a value that differed on the client, or that no
	// snapshot had.
	Untracked
	// Code: none of these. The same code with the same inputs had another
	// result.
	Code
	// Unknown: the client and the server have not agreed on a tick for so long
	// that the records of the time between are gone.
	Unknown
	// LateInput: with server.Config.Late.World, ticks ran again for another player's late
	// command, and changed this player's predicted state.
	LateInput
	// Causes is the number of causes.
	Causes = 7
)

var causeNames = [Causes]string{"input", "server_effect", "remote_input", "untracked", "code", "unknown", "late_input"}

// String returns the cause's name in reports: input, server_effect,
// remote_input, untracked, code, unknown, late_input.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// MarshalText returns the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ByCause counts by cause: element c is the count of the Cause c.
type ByCause [Causes]uint64

// String returns the counts that are not zero by the names of their causes, such as
// "input 3, server_effect 9". It returns "none" if all are zero.
func (b ByCause) String() string {
	var parts []string
	for c, n := range b {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%v %d", Cause(c), n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
