//go:build !linux

package costtest

import "time"

// work returns how long fn took. The processor time of one thread is not known on these systems.
func work(fn func()) time.Duration {
	begun := time.Now()
	fn()
	return time.Since(begun)
}
