package foretick

import "github.com/foretick/foretick/internal/misuse"

// UsageError is what this module's packages panic with when a call can never be right, such as Spawn
// of a prefab that was not declared. Its text says what to change. Whichever package was called wrongly,
// errors.As finds it in the recovered value, always as a value and never as a pointer.
type UsageError = misuse.Error
