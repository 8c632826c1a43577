package remotetest

import "github.com/foretick/foretick/internal/costtest"

// small makes tests play few of their seeds and links. FORETICK_LONG adds the others, which differ
// only in numbers.
var small = costtest.Count(0, 1) == 0
