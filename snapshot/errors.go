package snapshot

import (
	"errors"
	"fmt"
)

var (
	// ErrMalformed is the cause of every refusal of received bytes that no honest
	// sender makes.
	ErrMalformed = errors.New("snapshot: malformed")
	// ErrBaseline says that a record names a baseline that the receiver does not
	// hold. It wraps [ErrMalformed].
	ErrBaseline = fmt.Errorf("%w: unknown baseline", ErrMalformed)
	// ErrHeavy says that a snapshot needs more memory at once than its length allows.
	// An honest one may, where very much appears at a time: treat it as lost, and do
	// not acknowledge it. What was made room for stays, so that a later one is read.
	ErrHeavy = errors.New("snapshot: more values than its bytes may bring at once")
	// ErrFrozen says that a registry was changed after a Source or Receiver was
	// made from it.
	ErrFrozen = errors.New("snapshot: the registry is in use: register before NewSource and NewReceiver")
)

// TagError is a fault in a type that [Compile] was given.
type TagError struct {
	Type    string // the component's type
	Field   string // path of the field, "" for the type itself
	Problem string // what is wrong
	Fix     string // what to write instead
}

// Error names type, field, problem and fix.
func (e *TagError) Error() string {
	at := e.Type
	if e.Field != "" {
		at += "." + e.Field
	}
	return "snapshot: " + at + ": " + e.Problem + "; " + e.Fix
}

// joinTags is the faults in one error.
func joinTags(es []*TagError) error {
	if len(es) == 1 {
		return es[0]
	}
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return errors.Join(all...)
}

// UsageError is the value of a panic on a hot path that was called wrongly.
type UsageError struct {
	Call    string // the method
	Problem string // what was wrong, and what to do
}

// Error names the call and the problem.
func (e *UsageError) Error() string { return "snapshot: " + e.Call + ": " + e.Problem }

// mostHistory is the longest history of an entity, in versions.
const mostHistory = 1 << 16

// orDefault is a number of a config, or the default for zero.
func orDefault(call, field string, v, byDefault, most int) int {
	if v < 0 || v > most {
		panic(&UsageError{call, fmt.Sprintf("%s is %d: use 1 to %d, or 0 for %d", field, v, most, byDefault)})
	}
	if v == 0 {
		return byDefault
	}
	return v
}

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }
