package simtest

import (
	"fmt"
	"slices"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// lost adds up the values that did not fit their tags, on the server and all clients.
type lost struct {
	fields []stats.Loss // how often values were outside of their range, by component and field
	cut    uint64       // strings and slices that were too long
}

// addLosses adds the losses of one end. Changes that rounding undid are left out, because a
// body at rest against a wall also causes them.
func (l *lost) addLosses(of []stats.Loss) {
	for _, x := range of {
		if x.Outside == 0 {
			continue
		}
		i := slices.IndexFunc(l.fields, func(y stats.Loss) bool { return y.Component == x.Component && y.Field == x.Field })
		if i < 0 {
			l.fields = append(l.fields, stats.Loss{Component: x.Component, Field: x.Field, System: x.System})
			i = len(l.fields) - 1
		}
		l.fields[i].Outside += x.Outside
	}
}

func (l *lost) client(c *client.Client) { l.addLosses(c.Losses(nil)) }

func (l *lost) server(s *server.Server) {
	l.addLosses(s.Losses(nil))
	l.cut += s.Stats().ValuesCut
}

// lines returns a line for each field, and one for strings and slices that were cut.
func (l *lost) lines() (out []string) {
	for _, x := range l.fields {
		by := ""
		if x.System != "" {
			by = fmt.Sprintf(", by system %q", x.System)
		}
		out = append(out, fmt.Sprintf("%s.%s was outside of its tag's range %d times%s, and was sent as another value: clamp it, or widen the tag", x.Component, x.Field, x.Outside, by))
	}
	if l.cut > 0 {
		out = append(out, fmt.Sprintf("strings or slices were sent cut %d times, since they are longer than their tags allow, or no UTF-8: shorten them, or raise max", l.cut))
	}
	return out
}
