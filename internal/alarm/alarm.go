// Package alarm turns what an end logs or recovers into an error that ends a match of simtest.
package alarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Logger returns a logger that passes each logged error to told, and drops all else. A client logs an error
// when the client itself is at fault; see stats.Client.CorePanics.
func Logger(told func(error)) *slog.Logger { return slog.New(alarm{told}) }

type alarm struct{ told func(error) }

// Enabled implements slog.Handler.
func (alarm) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle implements slog.Handler.
func (a alarm) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(at slog.Attr) bool {
		fmt.Fprintf(&b, "\n%s: %v", at.Key, at.Value)
		return true
	})
	a.told(errors.New(b.String()))
	return nil
}

// WithAttrs implements slog.Handler.
func (a alarm) WithAttrs([]slog.Attr) slog.Handler { return a }

// WithGroup implements slog.Handler.
func (a alarm) WithGroup(string) slog.Handler { return a }

// Origin returns a stack from the origin of the panic.
func Origin(stack []byte) []byte {
	_, after, found := bytes.Cut(stack, []byte("\npanic("))
	if _, after, _ = bytes.Cut(after, []byte("\n")); !found {
		return stack
	}
	_, after, _ = bytes.Cut(after, []byte("\n")) // the location of the panic call
	return after
}
