//go:build !foretick_debug

package simtest

// buildTags are the flags with which go test builds this test again.
const buildTags = ""
