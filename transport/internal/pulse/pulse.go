// Package pulse is the timer of an endpoint.
package pulse

import "time"

// most is the largest number of ticks that are counted at once, so that a pause of the process causes
// no timeouts.
const most = 4

// Run calls beat at each interval until done is closed. It passes the number of whole ticks since the
// last call that passed any.
func Run(done <-chan struct{}, interval, tick time.Duration, beat func(passed uint32)) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for last := time.Now(); ; {
		select {
		case <-done:
			return
		case <-t.C:
		}
		passed := uint32(time.Since(last) / tick)
		last = last.Add(time.Duration(passed) * tick) // the rest of a tick counts later
		beat(min(passed, most))
	}
}
