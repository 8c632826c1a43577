package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/foretick/foretick"
)

// Tick counts simulation steps.
type Tick = foretick.Tick

// Values of Row.System in rows that are not of a system.
const (
	// BeforeSystems is the first row: the values that the tick began with.
	BeforeSystems = "(before the systems)"
	// ServerAlone is a row for everything that changed between two shared systems, by code that
	// only the server runs.
	ServerAlone = "(the server alone)"
)

// Values of Value.Field that name no field. The values are true on an end that has the entity or
// component, and false on one that does not.
const (
	WholeEntity    = "(entity)"
	WholeComponent = "(component)"
)

// Table is a tick of a trace, as both ends ran it.
type Table struct {
	Tick Tick `json:"tick"`
	// Client and Server are set if that end recorded the tick. Nothing is compared unless both
	// did.
	Client bool `json:"client"`
	Server bool `json:"server"`
	// Rows are the steps of the tick in running order. Steps without a change are left out,
	// except for systems.
	Rows []Row `json:"rows"`
	// Inherited is set if the ends differed before the tick's first system. The fault is in an
	// earlier tick.
	Inherited bool `json:"inherited,omitempty"`
	// Command is set if the ends ran the tick with different commands.
	Command bool `json:"command,omitempty"`
	// Partial is set if a record was cut, or if there are more entities than a trace holds.
	Partial bool `json:"partial,omitempty"`
	// First is the first difference that arose in the tick, nil if none did.
	First *Finding `json:"first,omitempty"`
}

// Row is a step of a tick.
type Row struct {
	System string  `json:"system"` // name of the system, BeforeSystems or ServerAlone
	Values []Value `json:"values"` // values that changed on an end, or that differ
	// Differs is set if the ends differ in a value after the step. Arose is set if they did not
	// differ in that value before the step.
	Differs bool `json:"differs,omitempty"`
	Arose   bool `json:"arose,omitempty"`
}

// Value is a field before and after a step. The values are those of [schema.Schema.Value]. A
// value is nil if the end does not have it.
type Value struct {
	Entity    uint32 `json:"entity"` // the entity's name on the connection
	Prefab    string `json:"prefab"`
	Component string `json:"component"`
	Field     string `json:"field"`
	Label     string `json:"label,omitempty"`
	Unit      string `json:"unit,omitempty"`

	Before Pair `json:"before"`
	After  Pair `json:"after"`

	Differs bool `json:"differs,omitempty"` // the ends differ after the step
	Arose   bool `json:"arose,omitempty"`   // the ends differ after the step, and did not before
}

// Pair is a value on both ends.
type Pair struct {
	Client any `json:"client"`
	Server any `json:"server"`
}

// MarshalJSON writes 32-bit floats with as few digits as they need. Numbers that JSON cannot hold
// become text: NaN, +Inf, -Inf, and whole numbers of more than 53 bits.
func (p Pair) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Client any `json:"client"`
		Server any `json:"server"`
	}{plain(p.Client), plain(p.Server)})
}

func plain(v any) any {
	const most = 1 << 53
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return short(x)
	case [4]float64: // a rotation
		return [4]any{plain(x[0]), plain(x[1]), plain(x[2]), plain(x[3])}
	case int64:
		if x > most || x < -most {
			return strconv.FormatInt(x, 10)
		}
	case uint64:
		if x > most {
			return strconv.FormatUint(x, 10)
		}
	}
	return v
}

// Finding is the first difference of a tick.
type Finding struct {
	Tick   Tick   `json:"tick"`
	System string `json:"system"`
	Value
	// Excuse is an explanation of the difference other than a fault in the system. It is empty
	// if there is none.
	Excuse Excuse `json:"excuse,omitempty"`
}

// Excuse is an explanation of a difference other than a fault in a system.
type Excuse string

// The excuses.
const (
	// TheServer: something that only the server runs changed the value.
	TheServer Excuse = "the server alone changed it"
	// Others: the system reads or writes other entities, which a client has as they were some
	// time ago.
	Others Excuse = "the system reads or writes other entities"
)

// String returns the finding in one line.
func (f Finding) String() string {
	s := fmt.Sprintf("tick %d: system %q: %s.%s of %s %d: before it the client had %v and the server %v, after it %v and %v",
		f.Tick, f.System, f.Component, f.Field, f.Prefab, f.Entity, short(f.Before.Client), short(f.Before.Server), short(f.After.Client), short(f.After.Server))
	if f.Excuse != "" {
		s += " (" + string(f.Excuse) + ")"
	}
	return s
}

// short returns a float64 as a float32 if no precision is lost, so that it prints with fewer
// digits.
func short(v any) any {
	if f, ok := v.(float64); ok && float64(float32(f)) == f {
		return float32(f)
	}
	return v
}

// First returns the difference of the oldest tick that only a fault in a system explains. It
// returns false if there is none: then the ends ran the same systems with the same results,
// as far as the tables show.
func First(tables []Table) (Finding, bool) {
	for i := range tables {
		if f := tables[i].First; f != nil && f.Excuse == "" {
			return *f, true
		}
	}
	return Finding{}, false
}
