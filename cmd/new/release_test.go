package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

// After the release, the README's first line makes a game without a checkout and without
// a replace, whose tests pass, and foretick-vet runs by its version.
func TestReleased(t *testing.T) {
	costtest.Long(t)
	env, home := releasetest.Proxy(t), t.TempDir()
	inside := func(dir string, args ...string) string {
		t.Helper()
		cmd := releasetest.GoCommand(args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %v: %s", args, out)
		return string(out)
	}
	inside(home, "run", library+"/cmd/new@v0.1.0", "mygame")
	game := filepath.Join(home, "mygame")
	mod, err := os.ReadFile(filepath.Join(game, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "require github.com/foretick/foretick v0.1.0")
	require.NotContains(t, string(mod), "replace")
	inside(game, "vet", "./...")
	inside(game, "test", "./...")
	inside(game, "run", library+"/cmd/foretick-vet@v0.1.0", "./...")
}
