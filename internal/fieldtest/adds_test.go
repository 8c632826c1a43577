package fieldtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
)

type sums struct {
	A, B uint64
	Most time.Duration
	Each [3]uint32
	In   struct{ C float64 }
	own  int //nolint:unused // no counter
}

// faults records what a check reports.
type faults struct {
	testing.TB
	said []string
}

func (f *faults) Helper() {}

func (f *faults) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func TestAddsSeesWhatIsLeftOut(t *testing.T) {
	all := func(s, o *sums) {
		s.A += o.A
		s.B += o.B
		s.Most = max(s.Most, o.Most)
		for i := range s.Each {
			s.Each[i] += o.Each[i]
		}
		s.In.C += o.In.C
	}
	for _, c := range []struct {
		name   string
		add    func(s, o *sums)
		except []string
		want   string
	}{
		{"all", all, nil, ""},
		{"without B", func(s, o *sums) { s.A += o.A; o.A, o.B = 0, 0; all(s, o) }, nil, "Add of B: 0 and 7 make 0"},
		{"without the last", func(s, o *sums) { o.Each[2] = 0; all(s, o) }, nil, "Each[2]: 0 and 7 make 0"},
		{"without what is within", func(s, o *sums) { o.In.C = 0; all(s, o) }, nil, "In.C: 0 and 7 make 0"},
		{"the wrong one", func(s, o *sums) { all(s, o); s.B += o.A }, nil, "Add of A changes B"},
		{"twice", func(s, o *sums) { all(s, o); s.A += o.A }, nil, "Add of A: 0 and 7 make 14"},
		{"the other's instead", func(s, o *sums) { all(s, o); s.A = o.A }, nil, "Add of A: 7 and 0 make 0"},
		{"excepted, and added", all, []string{"In"}, "In.C: 0 and 7 make 7, not 0"},
		{"excepted, and not there", all, []string{"D"}, "has no field D"},
	} {
		f := &faults{TB: t}
		fieldtest.Adds(f, c.add, c.except...)
		if c.want == "" {
			require.Empty(t, f.said, c.name)
			continue
		}
		require.Len(t, f.said, 1, "%s: %v", c.name, f.said)
		require.Contains(t, f.said[0], c.want, c.name)
	}
}
