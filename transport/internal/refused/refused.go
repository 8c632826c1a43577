// Package refused counts the clients that an endpoint refused by reason.
package refused

import (
	"errors"
	"strconv"

	"github.com/foretick/foretick/transport"
)

// most is the most reasons that are counted separately. The number is bounded because accept hooks
// choose the reasons.
const most = 16

// hook is the reason of errors that name none. other is the reason of all errors beyond most reasons.
const hook, other = "hook", "other"

// Reasoned is an error that names its reason.
type Reasoned interface {
	error
	// Reason returns one word in small letters, as metrics show it.
	Reason() string
}

// because is an error with a reason.
type because struct {
	error
	reason string
}

// Unwrap returns the error itself.
func (b because) Unwrap() error { return b.error }

// Reason implements Reasoned.
func (b because) Reason() string { return b.reason }

// Because returns err with a reason.
func Because(reason string, err error) error { return because{err, reason} }

// Tally counts refused clients by reason. It has no lock; an endpoint uses its own. The zero value is empty.
type Tally struct{ all []transport.Count }

// Add counts a client that was refused with an error.
func (t *Tally) Add(err error) {
	reason, text := explain(err)
	for i := range t.all {
		if c := &t.all[i]; c.Name == reason || c.Name == other {
			c.N++
			c.Refusal = text
			return
		}
	}
	if len(t.all) == most-1 {
		reason = other
	}
	t.all = append(t.all, transport.Count{Name: reason, Refusal: text, N: 1})
}

// explain returns an error's reason, and its text for a log.
func explain(err error) (reason, text string) {
	reason, text = hook, err.Error()
	var r Reasoned
	named := errors.As(err, &r)
	if named {
		reason = r.Reason()
	}
	var why *transport.DisconnectError
	if errors.As(err, &why) {
		if text = why.Reason; text == "" {
			text = why.Code.String()
		}
		if named {
			text = reason + ": " + text
		}
	}
	text = transport.CutReason(text)
	if !named {
		text = "the accept hook said " + strconv.Quote(text)
	}
	return reason, text
}

// Append appends the counts to dst.
func (t *Tally) Append(dst []transport.Count, layer string) []transport.Count {
	for _, c := range t.all {
		c.Layer = layer
		dst = append(dst, c)
	}
	return dst
}
