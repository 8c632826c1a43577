package foretick

import "github.com/foretick/foretick/internal/misuse"

// UsageError is the value of a panic about a wrong call in the game's own code. Its method Error
// returns the text, which names the fix.
type UsageError = misuse.Error
