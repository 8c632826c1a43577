package simtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
)

var errCostly = errors.New("costs more than its bytes may")

// What a step of a server may allocate besides what its bytes may: the game's own work
// and a new connection's buffers.
const (
	serverStep = 4 * costtest.Bytes
	newcomer   = costtest.Bytes
)

// weighed bounds the memory and the time of each step by the bytes that came for it.
func weighed(step func() (bytes, connections int)) error {
	bytes, connections := 0, 0
	memory, took := costtest.Cost(func() { bytes, connections = step() })
	if memory > uint64(serverStep+newcomer*connections+2*bytes) || took > costtest.Time*time.Duration(1+bytes/1200) {
		return fmt.Errorf("%w: a step with %d bytes and %d connections took %v and %d bytes of memory", errCostly, bytes, connections, took, memory)
	}
	return nil
}

// costTries is how often a script may seem to cost too much: others may be at work on
// the machine.
const costTries = 5

// FuzzServerSequence: whatever several peers send and do, in any order and at any
// time, the server continues and keeps nothing of them. No step costs more than the
// received bytes allow. The bytes are a grammar's choices, and checksums are correct.
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
