package netcode

// steer returns the change of time's speed for an error of off ticks: up to 1 %
// for small errors, up to 10 % for large ones. Catching up is quicker than
// falling back: being late costs inputs, being early costs only latency.
func steer(off float64) float64 {
	switch {
	case off > 0:
		return min(0.1, 0.06*off)
	case off > -1:
		return max(-0.01, 0.04*off)
	}
	return max(-0.1, -0.01+0.03*(off+1))
}

// hurry returns the change of predicted time's speed for a large error, in
// seconds. While commands are late, the server misses all of them, and a jump
// would not end that sooner. Being early only adds delay.
func hurry(off float64) float64 {
	if off > 0 {
		return max(0, min(8*(off-0.05), 2))
	}
	return min(0, max(4*(off+0.05), -0.3))
}
