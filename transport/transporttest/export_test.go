package transporttest

import (
	"testing"
	"time"
)

// Cases returns the names of the suite's cases.
func Cases() (names []string) {
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// Try runs one case.
func Try(t testing.TB, name string, network func(t testing.TB) Net) {
	for _, c := range cases {
		if c.name == name {
			c.try(t, network)
			return
		}
	}
	t.Fatalf("there is no case %q", name)
}

// SetStuck makes a case hang no longer than d.
func SetStuck(d time.Duration) { stuck = d }
