package prediction

import (
	"fmt"
	"iter"

	"github.com/foretick/foretick/internal/counts"
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
	Causes = iota
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

// ByCause counts by Cause. The zero value has counted nothing.
type ByCause struct{ n [Causes]uint64 }

// Of returns how often c was counted.
func (b ByCause) Of(c Cause) uint64 { return counts.Of(b.n[:], c) }

// All returns the count of each cause, in their order, zeros included.
func (b ByCause) All() iter.Seq2[Cause, uint64] { return counts.All[Cause](b.n[:]) }

// Count adds n to the count of c.
func (b *ByCause) Count(c Cause, n uint64) { b.n[c] += n }

// Add adds the counts of other to those of b.
func (b *ByCause) Add(other ByCause) {
	for c, n := range other.n {
		b.n[c] += n
	}
}

// String returns the counts that are not zero by the names of their causes, such as
// "input 3, server_effect 9". It returns "none" if all are zero.
func (b ByCause) String() string { return counts.Named[Cause](b.n[:]) }
