// Package misuse raises the panics about wrong calls in the game's own code.
package misuse

import "fmt"

// Error is what this module's packages panic with when a call can never be right, such as Spawn of a
// prefab that was not declared. Packages that games import have it as UsageError, so that one errors.As
// finds it in the recovered value, whichever package was called wrongly. It is always a value, never a
// pointer.
type Error struct {
	Text string // Text begins with the package's name and says what to change.
	Err  error  // Err is the error that the call caused, such as that of a configuration; nil for most.
}

// Error returns the text.
func (e Error) Error() string { return e.Text }

// Unwrap returns Err.
func (e Error) Unwrap() error { return e.Err }

// Panicf panics with an [Error]. The text begins with the name of the package that the game called.
func Panicf(format string, args ...any) { panic(Error{Text: fmt.Sprintf(format, args...)}) }

// Panic panics with an [Error] of err's text, which unwraps to err.
func Panic(err error) { panic(Error{err.Error(), err}) }
