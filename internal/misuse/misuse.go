// Package misuse raises the panics about wrong calls in the game's own code.
package misuse

import "fmt"

// Error is the value of a panic about a wrong call in the game's own code.
type Error struct{ Text string }

// Error returns the text, which names the fix.
func (e Error) Error() string { return "foretick: " + e.Text }

// Panicf panics with an [Error].
func Panicf(format string, args ...any) { panic(Error{fmt.Sprintf(format, args...)}) }
