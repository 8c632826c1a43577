//go:build race

package simtest_test

// raced: the race detector is on, and everything takes ten times as long. Tests that play
// the same for many seeds and links then play fewer: data races are the same in all.
const raced = true
