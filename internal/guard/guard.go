// Package guard holds the checks that servers, clients and observers share: of their
// configs, and of packets that could not be read.
package guard

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"
)

// Limits and default of every Timeout.
const (
	LeastTimeout   = 100 * time.Millisecond
	LongestTimeout = 24 * time.Hour
	DefaultTimeout = 5 * time.Second
)

// Timeout returns an error that names a config's field if d is outside of the limits.
func Timeout(name string, d time.Duration) error {
	if d < LeastTimeout || d > LongestTimeout {
		return fmt.Errorf("%s is %v: use %v to %v, or 0 for %v", name, d, LeastTimeout, LongestTimeout, DefaultTimeout)
	}
	return nil
}

// Missing reports whether an interface holds nothing, or a nil pointer, function or map.
func Missing(x any) bool {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Interface, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// Unreadable is the reason of a disconnect after a packet whose reading panicked because
// of a fault in this library.
const Unreadable = "a packet of the server's could not be read: a fault of Foretick's own"

// Logger is what a client logs to. It is no *slog.Logger, so that package slog, and
// encoding/json with it, are linked only into programs that log.
type Logger interface {
	Info(msg string, args ...any)
	Warn(msg string, args ...any)
	Error(msg string, args ...any)
}

// Silent is a Logger that logs nothing.
type Silent struct{}

// Info does nothing.
func (Silent) Info(string, ...any) {}

// Warn does nothing.
func (Silent) Warn(string, ...any) {}

// Error does nothing.
func (Silent) Error(string, ...any) {}

// LogPanic logs everything needed to fix a panic in the reading of a packet.
func LogPanic(l Logger, v any, packet []byte) {
	l.Error("panic while reading a packet", "value", fmt.Sprint(v), "packet", hex.EncodeToString(packet), "stack", string(debug.Stack()))
}
