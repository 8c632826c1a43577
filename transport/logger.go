package transport

// Logger is the log of an endpoint. A *slog.Logger implements it.
type Logger interface {
	Error(msg string, args ...any)
}
