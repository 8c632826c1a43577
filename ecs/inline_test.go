//go:build !js

package ecs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// TestAccessorsInline asks the compiler whether the hot accessors are inlined
// into a system's body: the calls of testdata/inline.
func TestAccessorsInline(t *testing.T) {
	out, err := releasetest.GoCommand("build", "-gcflags=-m", "-o", t.TempDir(), "./testdata/inline").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, call := range []string{"Slice", "Get", "Find"} {
		require.True(t, inlined(string(out), "ecs.(*Component[go.shape.", "])."+call), call)
	}
	for _, call := range []string{"Get", "Find"} {
		require.True(t, inlined(string(out), "ecs.View[go.shape.", "]."+call), "View."+call)
	}
	require.True(t, inlined(string(out), "ecs.Rows.Len", ""))
}

func inlined(out, receiver, method string) bool {
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "testdata/inline/main.go") && strings.Contains(line, "inlining call to "+receiver) && strings.HasSuffix(line, method) {
			return true
		}
	}
	return false
}
