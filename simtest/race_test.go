//go:build race

package simtest_test

// raced is true under the race detector, where everything takes ten times as long. Tests that
// play many seeds and links then play fewer, since all have the same data races.
const raced = true
