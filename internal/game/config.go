package game

import (
	"fmt"
	"time"
)

// DefaultSendRate is the most bytes a second that an end sends if its config has 0.
const DefaultSendRate = 32_000

const mostRate = 1 << 30

// CheckRate returns an error for a negative or absurdly high rate in bytes a second.
func CheckRate(name string, rate int) error {
	if rate < 0 || rate > mostRate {
		return fmt.Errorf("foretick: %s is %d: use up to 2³⁰ bytes a second, or 0 for %d", name, rate, DefaultSendRate)
	}
	return nil
}

// CheckDuration replaces zero by the default, and returns an error for more than most. A negative
// duration means off.
func CheckDuration(name string, d *time.Duration, most, byDefault time.Duration) error {
	if *d == 0 {
		*d = byDefault
	}
	if *d > most {
		return fmt.Errorf("foretick: %s is %v: use up to %v, 0 for %v, or less for none", name, *d, most, byDefault)
	}
	return nil
}
