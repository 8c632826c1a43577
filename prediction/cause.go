package prediction

import "fmt"

// Cause says why a prediction was wrong: the first that applies, in this order.
type Cause uint8

// The causes.
const (
	// Input: the server executed another command than the client did, since
	// the last tick on which both agreed.
	Input Cause = iota
	// ServerEffect: something that only the server runs wrote a predicted field of
	// this player's: a system, a hook, a request's handler, or the program itself.
	ServerEffect
	// RemoteInput: another player did what this client did not know or guessed
	// otherwise, and it changed what this client predicts: a push, a collision, a
	// shared object. With remote prediction it may be found before the server's
	// snapshot of the own player: Tick is then the newest predicted tick, Predicted
	// what it was and Actual what it is now.
	RemoteInput
	// Untracked: a shared system read a value that differed on the client.
	Untracked
	// Code: none of these. The same code with the same inputs computed
	// something else.
	Code
	// Unknown: the client and the server have not agreed on a tick for so long that
	// what happened in between is not known any more.
	Unknown
	// Causes is how many there are.
	Causes = 6
)

var causeNames = [Causes]string{"input", "server_effect", "remote_input", "untracked", "code", "unknown"}

// String returns the cause's name in reports: input, server_effect, remote_input,
// untracked, code, unknown.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// MarshalText writes the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
