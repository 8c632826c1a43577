package foretick

import (
	"fmt"
)

// UsageError is the value of a panic about a wrong call in the game's own code.
type UsageError struct{ Text string }

// Error returns the text, which names the fix.
func (u UsageError) Error() string { return "foretick: " + u.Text }

func misuse(format string, args ...any) { panic(UsageError{fmt.Sprintf(format, args...)}) }
