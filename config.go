package foretick

import (
	"fmt"
	"time"
)

const defaultSendRate = 32_000

const mostRate = 1 << 30

func checkRate(name string, rate int) error {
	if rate < 0 || rate > mostRate {
		return fmt.Errorf("foretick: %s is %d: use up to 2³⁰ bytes a second, or 0 for %d", name, rate, defaultSendRate)
	}
	return nil
}

// checkDuration fills the default in for zero. Negative is off.
func checkDuration(name string, d *time.Duration, most, byDefault time.Duration) error {
	if *d == 0 {
		*d = byDefault
	}
	if *d > most {
		return fmt.Errorf("foretick: %s is %v: use up to %v, 0 for %v, or less for none", name, *d, most, byDefault)
	}
	return nil
}
