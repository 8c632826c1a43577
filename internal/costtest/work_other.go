//go:build !linux

package costtest

import "time"

// work is how long fn took: the processor time of one thread is not known here.
func work(fn func()) time.Duration {
	begun := time.Now()
	fn()
	return time.Since(begun)
}
