package archtest_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgressLines: a program overwrites its line on a terminal alone. In a log or a pipe
// every state of such a line stays. So only files named progress.go, which look for a
// terminal, begin a text with a carriage return.
func TestProgressLines(t *testing.T) {
	root, seen := repository(t), 0
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || path.Base(name) == "progress.go" {
			return
		}
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		seen++
		for i, line := range bytes.Split(b, []byte("\n")) {
			if bytes.Contains(bytes.ReplaceAll(line, []byte(`\r\n`), nil), []byte(`"\r`)) {
				t.Errorf("%s:%d overwrites its line: print it as examples/arena/progress.go does", name, i+1)
			}
		}
	})
	require.Greater(t, seen, 500)
}
