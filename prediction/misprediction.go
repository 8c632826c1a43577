package prediction

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// StandIn says what the server ran in place of a command.
type StandIn uint8

// The stand-ins.
const (
	// Other: unknown, or the record of the client's command is gone.
	Other StandIn = iota
	// Repeated: the command did not arrive in time; the server ran the last one
	// again, without its one-shot fields.
	Repeated
	// Decayed: commands were missing for so long that the game's decay made
	// one.
	Decayed
	// Neutral: commands were missing for so long that a zero command ran.
	Neutral
	// Refused: the game's check of commands, or a field's tag, refused it.
	Refused
	// Replaced: the client made the tick's command twice, because its clock was
	// set back, and the server ran the first one.
	Replaced
)

var standInNames = [...]string{"", "repeated", "decayed", "neutral", "refused", "replaced"}

// String returns the stand-in's name: repeated, decayed, neutral, refused,
// replaced, and the empty string for Other.
func (s StandIn) String() string {
	if int(s) < len(standInNames) {
		return standInNames[s]
	}
	return fmt.Sprintf("standin(%d)", uint8(s))
}

// MarshalText returns the name.
func (s StandIn) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Difference is one predicted field that differed. Predicted and Actual are in
// the field's units: a bool, an integer, a float64, a string, or [4]float64 for
// a rotation. nil means that there is no value.
type Difference struct {
	Entity    uint64 `json:"entity"` // the caller's local handle of the entity
	Prefab    string `json:"prefab"`
	Component string `json:"component"`
	Field     string `json:"field"`
	Predicted any    `json:"predicted"`
	Actual    any    `json:"actual"`

	Label  string   `json:"label,omitempty"`  // the field's name for people, if the game gave one
	Unit   string   `json:"unit,omitempty"`   // the unit of both values, such as "m/s", if the game gave one
	Values []string `json:"values,omitempty"` // names of an integer's values from 0
}

// String returns the field and both values.
func (d Difference) String() string {
	label, unit := "", ""
	if d.Label != "" {
		label = " (" + d.Label + ")"
	}
	if d.Unit != "" {
		unit = " " + d.Unit
	}
	return fmt.Sprintf("%s%s.%s%s predicted %s%s, server has %s%s", named(d.Prefab), d.Component, d.Field, label, d.shown(d.Predicted), unit, d.shown(d.Actual), unit)
}

// shown formats a value like the function shown, but an integer by its name if it has one.
func (d Difference) shown(v any) string {
	at := -1
	switch v := v.(type) {
	case int64:
		at = int(v)
	case uint64:
		at = int(min(v, math.MaxInt32))
	}
	if at >= 0 && at < len(d.Values) {
		return d.Values[at]
	}
	return shown(v)
}

// Misprediction explains one correction: the predicted value, the server's
// value, and why they differ. Values are in the field's units.
type Misprediction struct {
	Tick      Tick    `json:"tick"`             // the server's tick that differed
	Entity    uint64  `json:"entity"`           // the caller's local handle of the entity
	Prefab    string  `json:"prefab"`           // the entity's prefab
	Component string  `json:"component"`        // first differing component
	Field     string  `json:"field"`            // first differing field
	Predicted float64 `json:"predicted"`        // the client's value; 0 if not a number
	Actual    float64 `json:"actual"`           // the server's value; 0 if not a number
	Cause     Cause   `json:"cause"`            // the reason; Why explains it in words
	System    string  `json:"system,omitempty"` // with cause ServerEffect: the server's system or handler; with cause Code, in a debug build: the first system with another result
	CauseTick Tick    `json:"cause_tick"`       // the tick of the command or effect that caused it, or of System; 0 when unknown
	// CauseTicks is the number of consecutive ticks, up to CauseTick, that ran
	// without the client's command: a stall counts once. 0: unknown.
	CauseTicks uint32 `json:"cause_ticks,omitempty"`
	// StandIn says what the server ran instead, when Cause is Input.
	StandIn StandIn `json:"stand_in,omitempty"`
	// Player is the other player whose action or value it was, when Cause is
	// RemoteInput or Untracked. 0: unknown, or none.
	Player uint16 `json:"player,omitempty"`
	// Read is the component whose value differed, when Cause is Untracked. It is "" for an
	// entity that only one end had.
	Read string `json:"read,omitempty"`
	// OfOther is true if Cause is Untracked and the value belonged to an entity that
	// this client does not predict. The entity is owned by Player, or unowned if
	// Player is 0.
	OfOther bool `json:"of_other,omitempty"`
	// Rounded is true if Cause is Untracked and the value of others was the same on both
	// ends, but rounded on its way to the client.
	Rounded bool `json:"rounded,omitempty"`
	// Input is the command that the client ran in CauseTick (in Tick if that is
	// 0), and Executed the one that the server ran. nil: unknown.
	Input    any `json:"input,omitempty"`
	Executed any `json:"executed,omitempty"`
	// Architecture and ServerArchitecture are those of the client and the server, as in
	// GOARCH, when Cause is Code and they are not the same. Otherwise both are empty.
	Architecture       string `json:"architecture,omitempty"`
	ServerArchitecture string `json:"server_architecture,omitempty"`
	// Differences lists every predicted field that differed in Tick, including
	// the first. It is empty when a whole entity exists on one end only.
	Differences []Difference `json:"differences,omitempty"`
}

// Why returns one sentence that explains the cause in plain words.
func (m Misprediction) Why() string {
	switch m.Cause {
	case Input:
		return m.whyInput()
	case ServerEffect:
		if m.System == "" || strings.HasPrefix(m.System, "(") {
			return strings.TrimRight(fmt.Sprintf("the server changed it in tick %d %s", m.CauseTick, m.System), " ")
		}
		return fmt.Sprintf("%q, which only the server runs, changed it in tick %d", m.System, m.CauseTick)
	case LateInput:
		return fmt.Sprintf("another player's input came late and ran in its own tick, which changed tick %d", m.CauseTick)
	case RemoteInput:
		who := "another player"
		if m.Player != 0 {
			who = fmt.Sprintf("player %d", m.Player)
		}
		if m.CauseTick != 0 {
			return fmt.Sprintf("%s changed it in tick %d, which this client could not know", who, m.CauseTick)
		}
		return who + " did something else than was predicted"
	case Untracked:
		return m.whyUntracked()
	case Code:
		return m.whyCode()
	case Unknown:
		return "the ends have not agreed for so long that the cause is not known any more"
	}
	return m.Cause.String()
}

func (m Misprediction) whyCode() string {
	what := "the same code computed something else from the same inputs"
	if m.System != "" {
		what = fmt.Sprintf("system %q computed something else in tick %d, from the same inputs", m.System, m.CauseTick)
	}
	switch {
	case m.Architecture != m.ServerArchitecture:
		return fmt.Sprintf("%s. The client runs on %s and the server on %s, which may round x*y + z and functions of math differently: "+
			"check the game's code with foretick-vet, then run simtest.SyncTest for other reasons", what, m.Architecture, m.ServerArchitecture)
	case m.System != "":
		return what
	}
	return what + ": chance, a clock, the order of a map, state outside of components, or a component that the system does not declare (run with -tags foretick_debug)"
}

func (m Misprediction) whyUntracked() string {
	read := m.Read
	if read == "" {
		read = "a value"
	}
	switch {
	case m.Rounded:
		return "a shared system read " + read + " of others, rounded on its way here: see FullPrecision"
	case m.Player != 0:
		return fmt.Sprintf("a shared system read %s of player %d, which was newer on the server", read, m.Player)
	case m.OfOther:
		return "a shared system read " + read + " of an unowned entity, which was newer on the server"
	case m.Read == "foretick.Parent":
		return "a shared system asked for a parent, which this client was not told yet"
	case m.Read != "":
		return "a shared system read " + read + ", which is not Predicted and was newer on the server, or is rounded on its way here: declare it with Predicted()"
	}
	return "a shared system read a value that differed, or was not known, on this client"
}

func (m Misprediction) whyInput() string {
	what, its := fmt.Sprintf("your command for tick %d", m.CauseTick), "it"
	if m.CauseTicks > 1 {
		what, its = fmt.Sprintf("your commands for ticks %d to %d", m.CauseTick-m.CauseTicks+1, m.CauseTick), "they"
	}
	switch m.StandIn {
	case Repeated:
		return what + " did not arrive in time; the server repeated the last one"
	case Decayed:
		return what + " did not arrive in time; the server let the last one decay"
	case Neutral:
		return what + " did not arrive in time; the server ran a zero command"
	case Refused:
		return "the server refused " + what + " and ran another one"
	case Replaced:
		return what + " changed after " + its + " had been sent; the server ran what was sent first"
	}
	return "the server ran another command than " + what
}

// String returns one line for a log.
func (m Misprediction) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tick %d: %s%s.%s predicted %.10g, server has %.10g", m.Tick, named(m.Prefab), m.Component, m.Field, m.Predicted, m.Actual)
	if len(m.Differences) > 0 {
		b.Reset()
		fmt.Fprintf(&b, "tick %d: ", m.Tick)
		for i, d := range m.Differences {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(d.String())
		}
	}
	fmt.Fprintf(&b, ": %s: %s", m.Cause, m.Why())
	if m.Cause == Input && m.Executed != nil {
		fmt.Fprintf(&b, " (tick %d ran with %+v, not %+v)", m.CauseTick, m.Executed, m.Input)
	}
	return b.String()
}

// JSON returns the record as one line of JSON, with Why as "why".
func (m Misprediction) JSON() string {
	type explained struct {
		Misprediction
		Why string `json:"why"`
	}
	b, err := json.Marshal(explained{m, m.Why()})
	if err != nil { // only a NaN or Inf value can cause this
		return fmt.Sprintf(`{"tick":%d,"cause":%q,"why":%q}`, m.Tick, m.Cause, m.Why())
	}
	return string(b)
}

// named returns a prefab's name as a prefix of a component's.
func named(prefab string) string {
	if prefab == "" {
		return ""
	}
	return prefab + " "
}

// shown formats a value for a log.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case float64:
		return fmt.Sprintf("%.10g", v)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}
