//go:build !race

package simtest_test

const raced = false
