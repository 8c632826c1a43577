package transport

// Logger is what an endpoint logs to. A *slog.Logger is one.
type Logger interface {
	Error(msg string, args ...any)
}
