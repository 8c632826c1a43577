package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tag makes a module proxy in which this checkout is a tagged version, as the Go
// command would find it after the release.
func tag(t *testing.T, proxy, module, root, version string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(mod), "\nreplace", "%s: a module with a replace cannot be run by its version", module)
	write("list", version+"\n")
	write(version+".info", `{"Version":"`+version+`"}`)
	write(version+".mod", string(mod))
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(t, err)
	z := zip.NewWriter(f)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir // not in the module
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		to, err := z.Create(module + "@" + version + "/" + filepath.ToSlash(name))
		require.NoError(t, err)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = to.Write(b)
		return err
	}))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

// After the release, the README's first line makes a game without a checkout and without
// a replace, whose tests pass, and foretick-vet runs by its version.
func TestReleased(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	proxy, home := t.TempDir(), t.TempDir()
	tag(t, proxy, library, root, "v0.1.0")
	tag(t, proxy, library+"/cmd/foretick-vet", filepath.Join(root, "cmd", "foretick-vet"), "v0.1.0")
	env := append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(strings.TrimSpace(string(cache)))+"/cache/download",
		"GONOSUMDB=*", "GOWORK=off", "GOMODCACHE="+filepath.Join(home, "mod"), "GOFLAGS=-modcacherw")
	inside := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
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
