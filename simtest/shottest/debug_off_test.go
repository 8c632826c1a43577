//go:build !foretick_debug

package shottest

// trailRate is the additional traffic of a debug server's hashes of the predicted state, in
// bytes a second.
const trailRate = 0
