package guard

import "time"

// LongestStep is the longest time between two Steps that counts. What is beyond is no time of
// the match: the process stood still, its clock was set, or the first Step was given another
// clock's time, such as the zero time.
const LongestStep = 30 * time.Second

// Elapsed returns the time since start for a Step at now. last is what it returned for the
// Step before. Where more than LongestStep lies between the two, either way, no time has
// passed, and Elapsed moves start on.
func Elapsed(start *time.Time, last time.Duration, now time.Time) time.Duration {
	since := now.Sub(start.Add(last)) // which is cut to 292 years
	if since > LongestStep || since < -LongestStep {
		*start = now.Add(-last)
		return last
	}
	return last + since
}
