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

// SetStuck makes a case hang for at most d.
func SetStuck(d time.Duration) { stuck.setLimit(d) }

// DoorCases returns the names of the cases of identities.
func DoorCases() (names []string) {
	for _, c := range doorCases {
		names = append(names, c.name)
	}
	return names
}

// TryDoor runs one case of identities.
func TryDoor(t testing.TB, name string, doors func(t testing.TB) Doors) {
	for _, c := range doorCases {
		if c.name == name {
			c.try(t, doors)
			return
		}
	}
	t.Fatalf("there is no case %q", name)
}

// SetPatience makes the suite wait for at most d, and returns the previous limit.
func SetPatience(d time.Duration) (before time.Duration) {
	before = patience.get()
	patience.setLimit(d)
	return before
}
