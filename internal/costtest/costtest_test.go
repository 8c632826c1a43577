package costtest_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
)

// failing is a testing.TB that records a failure and does not end the test.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper()               {}
func (f *failing) Fatalf(string, ...any) { f.failed = true }

var kept []byte

var block [512 << 10]byte

// busy works for longer than decoding 100 bytes may take: each block takes 0.3 ms or more.
func busy() {
	for range costtest.Time / (100 * time.Microsecond) {
		block[0] += sha256.Sum256(block[:])[0]
	}
}

// TestBound: Bound fails only for functions that allocate or work too much for their bytes.
func TestBound(t *testing.T) {
	for name, c := range map[string]struct {
		size   int
		decode func()
		fails  bool
	}{
		"nothing":            {0, func() {}, false},
		"what may be":        {100, func() { kept = make([]byte, 60<<10) }, false},
		"too much memory":    {100, func() { kept = make([]byte, 80<<10) }, true},
		"as much as it read": {1 << 20, func() { kept = make([]byte, 2<<20) }, false},
		"too long":           {100, busy, true},
	} {
		f := failing{TB: t}
		if costtest.Bound(&f, c.size, c.decode); f.failed != c.fails {
			t.Errorf("%s: failed is %t", name, f.failed)
		}
	}
}
