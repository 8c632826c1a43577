package simtest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/foretick/foretick/simtest"
)

// FuzzServerSequence: whatever several peers say and do, from nothing on, in
// whatever order and at whatever times, the server goes on and keeps nothing of
// them. The bytes are read as a grammar's choices, and checksums are right.
func FuzzServerSequence(f *testing.F) {
	for i := range 16 {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		script := make([]byte, 32<<(i%5))
		for k := range script {
			script[k] = byte(r.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if _, err := (&simtest.Rogues{}).Act(script[:min(len(script), 2048)]); err != nil {
			t.Fatal(err)
		}
	})
}
