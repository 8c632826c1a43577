package campaign

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
)

var errCostly = errors.New("costs more than its bytes may")

// What a step of a server may allocate in addition to the allowance for its bytes: for the game's
// own work, and for each new connection's buffers.
const (
	serverStep = 4 * costtest.Bytes
	newcomer   = costtest.Bytes
)

// weighed returns an error if a step takes more memory or time than its received bytes allow.
func weighed(step func() (bytes, connections int)) error {
	bytes, connections := 0, 0
	memory, took := costtest.Cost(func() { bytes, connections = step() })
	if memory > uint64(serverStep+newcomer*connections+2*bytes) || took > costtest.Time*time.Duration(1+bytes/1200) {
		return fmt.Errorf("%w: a step with %d bytes and %d connections took %v and %d bytes of memory", errCostly, bytes, connections, took, memory)
	}
	return nil
}

// costTries is how often a script is tried until it does not cost too much: other programs on the
// machine may slow it.
const costTries = 5

// FuzzServerSequence: whatever several peers send and do, in any order and at any time, the server
// continues, and keeps no memory of them. No step costs more than its received bytes allow. The
// fuzzer's bytes choose from a grammar, and checksums are correct.
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
		var err error
		for range costTries {
			if _, err = (&Rogues{weigh: weighed}).Act(script[:min(len(script), 2048)]); !errors.Is(err, errCostly) {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
