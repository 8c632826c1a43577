package releasetest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewer: a file is left out if no build of the oldest release has it.
func TestNewer(t *testing.T) {
	for head, want := range map[string]bool{
		"":                                     false,
		"//go:build go1.27\n\n":                true,
		"//go:build go1.27 && linux\n\n":       true,
		"// A licence.\n\n//go:build go1.30\n": true,
		"//go:build go1.26\n\n":                false,
		"//go:build !go1.27\n\n":               false,
		"//go:build linux\n\n":                 false,
		"//go:build go1.27 || linux\n\n":       false,
	} {
		require.Equal(t, want, newer([]byte(head+"package p\n\n//go:build go1.27\n")), head)
	}
	mod, err := os.ReadFile(filepath.Join(Root(t), "go.mod"))
	require.NoError(t, err)
	require.Equal(t, Go, "go"+regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1])
}

// TestGlob leaves out the methods that need a newer release.
func TestGlob(t *testing.T) {
	names, err := Glob(filepath.Join(Root(t), "*.go"))
	require.NoError(t, err)
	require.Contains(t, names, filepath.Join(Root(t), "protocol.go"))
	require.NotContains(t, names, filepath.Join(Root(t), "methods_go127.go"))
}
