package remotetest

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow further than usual before a garbage collection. The tests create and
// drop many small matches, for which the collector would take a tenth of the processor's time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
