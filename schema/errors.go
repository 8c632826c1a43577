package schema

import (
	"errors"
	"fmt"
)

var (
	// ErrMalformed is returned for bytes that no honest peer sends: schemas and packed
	// values.
	ErrMalformed = errors.New("schema: malformed")
	// ErrFrozen says that a registry was changed after a snapshot.Source or Receiver was
	// made from it.
	ErrFrozen = errors.New("schema: the registry is in use: register before NewSource and NewReceiver")
)

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// TagError is a fault in a type that [Compile] was given.
type TagError struct {
	Type    string // the component's type
	Field   string // path of the field, "" for the type itself
	Problem string // the fault
	Fix     string // what to write instead
}

// Error names type, field, problem and fix.
func (e *TagError) Error() string {
	at := e.Type
	if e.Field != "" {
		at += "." + e.Field
	}
	return "schema: " + at + ": " + e.Problem + "; " + e.Fix
}

// joinTags joins the faults in one error.
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
