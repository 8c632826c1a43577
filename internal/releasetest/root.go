package releasetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Root returns the directory of the repository that the test runs in. It skips the test where
// there is only the module: a module's zip holds neither the nested modules nor what lies
// outside of them.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if root, ok := findRoot(dir); ok {
		return root
	}
	t.Skip("needs a clone of the repository: here is only the module, without its nested modules")
	return ""
}

// findRoot returns the repository around a directory.
func findRoot(dir string) (root string, ok bool) {
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod")) // #nosec G304 -- above the test
		if err == nil && bytes.HasPrefix(mod, []byte("module "+Module+"\n")) {
			_, err = os.Stat(filepath.Join(dir, "cmd", "foretick-vet", "go.mod"))
			return dir, err == nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}
