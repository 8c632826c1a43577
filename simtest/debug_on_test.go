//go:build foretick_debug

package simtest_test

// trailRate is what a debug server's hashes of the predicted state weigh beside the
// snapshots of a shooter, bytes a second: tests of tight budgets leave room for it.
const trailRate = 2600

// debugging says that systems are named.
const debugging = true
