//go:build !foretick_debug

package simtest_test

// trailRate is the additional traffic of a debug server's hashes of the
// predicted state, in bytes a second per shooter: tests with tight budgets
// leave room for it.
const trailRate = 0

// debugging is true in builds that name systems.
const debugging = false
