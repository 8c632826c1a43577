package transport

// Logger is the log of an endpoint or a client. A *slog.Logger implements it. It is an interface, so
// that only programs that log link package slog. args are pairs of a key and a value.
type Logger interface {
	Info(msg string, args ...any)
	Warn(msg string, args ...any)
	Error(msg string, args ...any)
}
