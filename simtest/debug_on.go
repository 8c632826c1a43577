//go:build foretick_debug

package simtest

// buildTags are the go test flags that build this test again.
const buildTags = " -tags foretick_debug"
