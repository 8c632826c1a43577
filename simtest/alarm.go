package simtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// alarm is a slog.Handler that passes each logged error to told. A client logs an error
// when the client itself is at fault; see stats.Client.CorePanics.
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
