package lifecycle

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config configures Run. The zero value works.
type Config struct {
	// Every is the time between two calls of Health. Two calls of Counts are half of it apart. 0 means
	// 2 s. Negative is an error. At most 1 h.
	Every time.Duration
	// Timeout is the longest time of one call to the manager. 0 means 2 s. Negative is an error. At
	// most 1 h.
	Timeout time.Duration
	// Failures is how many calls of Health in a row may fail before Escalate, and how often Shutdown
	// is tried. 0 means 3. Negative is an error. At most 1000.
	Failures int
	// Idle is the time that an allocated process without a match waits for players before it says
	// Ready again. 0 means 30 s. Negative never says it again. At most 24 h.
	Idle time.Duration
	// DrainFor is the most time that matches may take to end after draining began. Then the host shuts
	// them down. Keep it below the time that the fleet gives to a process to end. 0 means no limit.
	// Negative is an error. At most 168 h.
	DrainFor time.Duration
	// Escalate is called when Failures calls of Health in a row have failed. It is not called again
	// until one succeeds. nil drains the host, because a manager that hears nothing soon removes the
	// process.
	Escalate func(err error)
	// OnState is called with each state that the manager reports, in order, in the goroutine of Run.
	// Use it to make the matches that an allocation asks for. It must not block.
	OnState func(State)
	// Logger logs what fails and what changes. nil is silent.
	Logger *slog.Logger
}

func (c *Config) checkConfig(h served, l Lifecycle) error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("lifecycle: "+format, args...))
		}
	}
	fault(h == nil, "the host is nil: look at the error of host.New first")
	fault(l == nil, "the lifecycle is nil: pass &lifecycle.Files{} for none")
	times := []struct {
		name  string
		value *time.Duration
		zero  time.Duration
		most  time.Duration
	}{{"Every", &c.Every, 2 * time.Second, time.Hour}, {"Timeout", &c.Timeout, 2 * time.Second, time.Hour}, {"DrainFor", &c.DrainFor, 0, 168 * time.Hour}}
	for _, n := range times {
		fault(*n.value < 0 || *n.value > n.most, "Config.%s is %v: use up to %v, or 0 for the default", n.name, *n.value, n.most)
		if *n.value == 0 {
			*n.value = n.zero
		}
	}
	fault(c.Failures < 0 || c.Failures > 1000, "Config.Failures is %d: use 1 to 1000, or 0 for 3", c.Failures)
	fault(c.Idle > 24*time.Hour, "Config.Idle is %v: use up to 24h, 0 for 30 s, or less for never", c.Idle)
	if c.Failures == 0 {
		c.Failures = 3
	}
	if c.Idle == 0 {
		c.Idle = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}
