package simtest

import (
	"context"
	"log/slog"
)

// cautious is a logger's handler that passes on warnings of the server's debug build
// about likely mistakes in a game, and drops all other lines.
type cautious struct{ told func(text string) }

// Enabled implements slog.Handler.
func (c cautious) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (c cautious) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "caution" {
			c.told(a.Value.String())
		}
		return true
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (c cautious) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements slog.Handler.
func (c cautious) WithGroup(string) slog.Handler { return c }
