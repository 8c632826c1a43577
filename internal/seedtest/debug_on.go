//go:build foretick_debug

package seedtest

// BuildTags are the go test flags that build this test again.
const BuildTags = " -tags foretick_debug"
