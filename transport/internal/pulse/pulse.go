// Package pulse is the timer of an endpoint.
package pulse

import "time"

// most is how many ticks count at once: a process that was stopped has not listened, and the time counts for little.
const most = 4

// Run calls beat at each interval until done is closed, with the ticks of a length that have passed since there last were
// some.
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
		last = last.Add(time.Duration(passed) * tick) // what is left of a tick counts later
		beat(min(passed, most))
	}
}
