package prediction

import (
	"encoding/json"
	"fmt"
)

// Cause says why a prediction was wrong: the first that applies, in this order.
type Cause uint8

// The causes.
const (
	// Input: the server executed another command than the client did, since
	// the last tick on which both agreed.
	Input Cause = iota
	// ServerEffect: a system or event that only the server runs wrote a
	// predicted field of this player's.
	ServerEffect
	// Foresight: another player did something else than was foreseen of him, and it
	// bore on this one: a push, a collision. It may be found before the server's word
	// on this one: Tick is then the newest predicted, Predicted what it was and Actual
	// what it is now. See the root package's Foresee.
	Foresight
	// Untracked: a shared system read a value that differed on the client.
	Untracked
	// Code: none of these. The same code with the same inputs computed
	// something else.
	Code
	// Causes is how many there are.
	Causes = 5
)

var causeNames = [Causes]string{"input", "server_effect", "foresight", "untracked", "code"}

// String is the cause's name in reports: input, server_effect, foresight,
// untracked, code.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// MarshalText writes the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Misprediction explains one correction: what was predicted, what the server
// says, and why they differ. Values are in the field's own units.
type Misprediction struct {
	Tick      Tick    `json:"tick"`             // the server's tick that differed
	Entity    uint64  `json:"entity"`           // the caller's local handle
	Component string  `json:"component"`        // first differing component
	Field     string  `json:"field"`            // first differing field
	Predicted float64 `json:"predicted"`        // the client's value
	Actual    float64 `json:"actual"`           // the server's value
	Cause     Cause   `json:"cause"`            // why
	System    string  `json:"system,omitempty"` // ServerEffect: the server's system or event; Code in a debug build: the first that computed something else
	CauseTick Tick    `json:"cause_tick"`       // the tick of the input or effect, or of that system; 0 when not known
	// Input is the command that the client played in CauseTick, or in Tick where
	// that is 0, and Executed the one that the server ran. nil: not known.
	Input    any `json:"input,omitempty"`
	Executed any `json:"executed,omitempty"`
}

// String is one line for a log.
func (m Misprediction) String() string {
	s := fmt.Sprintf("tick %d: %s.%s predicted %.10g, server has %.10g: %s", m.Tick, m.Component, m.Field, m.Predicted, m.Actual, m.Cause)
	if m.System != "" {
		s += fmt.Sprintf(" (%s at tick %d)", m.System, m.CauseTick)
	}
	if m.Cause == Input && m.Executed != nil {
		s += fmt.Sprintf(" (tick %d ran with %+v, not %+v)", m.CauseTick, m.Executed, m.Input)
	}
	return s
}

// JSON is the record as one line of JSON.
func (m Misprediction) JSON() string {
	b, err := json.Marshal(m)
	if err != nil { // only a NaN or Inf value can do this
		return fmt.Sprintf(`{"tick":%d,"cause":%q}`, m.Tick, m.Cause)
	}
	return string(b)
}
