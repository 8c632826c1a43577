package shottest

import "github.com/foretick/foretick/internal/costtest"

// small has tests that play the same for many seeds and links play few of them: those that
// FORETICK_LONG adds differ in numbers alone.
var small = costtest.Count(0, 1) == 0
