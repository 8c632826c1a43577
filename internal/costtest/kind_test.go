package costtest_test

import (
	"strings"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
)

// skipping is a testing.TB that records why a test was skipped or failed.
type skipping struct {
	testing.TB
	skipped, failed string
}

func (s *skipping) Helper() {}

func (s *skipping) Skipf(format string, _ ...any) { s.skipped = format }

func (s *skipping) Fatalf(format string, _ ...any) { s.failed = format }

// TestKinds: tests of a listed kind are skipped, and no others. If the list has a name that is no
// kind, every test that declares a kind fails.
func TestKinds(t *testing.T) {
	declare := map[string]func(testing.TB){
		"allocations": costtest.Allocations, "memory": costtest.Memory, "ratio": costtest.Ratio, "sockets": costtest.Sockets,
	}
	for without, skips := range map[string]string{"": "", "ratio": "ratio", "sockets,memory": "sockets memory", "ratio,allocations": "ratio allocations"} {
		t.Setenv(costtest.WithoutVariable, without)
		for kind, call := range declare {
			s := skipping{TB: t}
			if call(&s); (s.skipped != "") != strings.Contains(skips, kind) || s.failed != "" {
				t.Errorf("%s without %q: skipped %q, failed %q", kind, without, s.skipped, s.failed)
			}
		}
	}
	for _, wrong := range []string{"ratios", "memory, ratio", "long"} {
		t.Setenv(costtest.WithoutVariable, wrong)
		s := skipping{TB: t}
		if costtest.Sockets(&s); s.failed == "" {
			t.Errorf("%q passed for a list of kinds", wrong)
		}
	}
}

// TestLong: a long test is skipped by default, and plays more the higher the number is.
func TestLong(t *testing.T) {
	for number, want := range map[string]int{"": 3, "0": 3, "1": 10, "20": 200} {
		t.Setenv(costtest.LongVariable, number)
		s := skipping{TB: t}
		if costtest.Long(&s); (s.skipped != "") != (want == 3) {
			t.Errorf("%s=%s: skipped %q", costtest.LongVariable, number, s.skipped)
		}
		if n := costtest.Count(3, 10); n != want {
			t.Errorf("%s=%s: %d matches instead of %d", costtest.LongVariable, number, n, want)
		}
	}
	t.Setenv(costtest.LongVariable, "yes")
	defer func() {
		if recover() == nil {
			t.Error("yes passed for a number")
		}
	}()
	costtest.Count(1, 2)
}
