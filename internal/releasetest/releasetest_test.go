package releasetest

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// names returns the names in a module's zip, without the prefix that each must have.
func names(t *testing.T, dir, module string) map[string]bool {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join(dir, filepath.FromSlash(module), "@v", Version+".zip"))
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	found := map[string]bool{}
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, module+"@"+Version+"/")
		require.True(t, ok, f.Name)
		found[name] = true
	}
	return found
}

// TestRelease: a module's zip holds its test data and what git has in its directories, but no
// nested module and nothing of version control. Each module has a licence.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Release(dir, Root(t)))
	root := names(t, dir, Module)
	for _, name := range []string{"go.mod", "LICENSE", "README.md", "doc.go", "ecs/doc.go", ".ci/run", "schema/testdata/schema.txt", "docs/STANDARD.md"} {
		require.True(t, root[name], name)
	}
	for name := range root {
		for _, without := range append([]string{".git", "benchmarks", "examples/ebiten", "artefacts"}, Nested...) {
			require.False(t, strings.HasPrefix(name, without+"/"), name)
		}
	}
	vet := names(t, dir, Module+"/cmd/foretick-vet")
	require.True(t, vet["main.go"] && vet["LICENSE"])
}

// TestReleaseRefusesReplace: nobody can use a module with a replace by its version.
func TestReleaseRefusesReplace(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module m\n\nreplace a => ../a\n"), 0o600))
	require.ErrorContains(t, Release(t.TempDir(), root), "has a replace")
}

// TestFindRoot: a directory of the module alone, as the module cache has it, is no repository.
func TestFindRoot(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+Module+"\n"), 0o600))
	_, ok := findRoot(dir)
	require.False(t, ok)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cmd", "foretick-vet"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cmd", "foretick-vet", "go.mod"), nil, 0o600))
	deep := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	got, ok := findRoot(deep)
	require.True(t, ok)
	require.Equal(t, dir, got)
	_, ok = findRoot(filepath.Dir(dir))
	require.False(t, ok)
}

// TestProxy: in its environment the go command finds the checkout, the modules that the cache
// holds and those that it lacks, and nothing else: with a cache of its own, and in one that holds
// the checkout, whose locks the go command keeps while it asks.
func TestProxy(t *testing.T) {
	filled, err := goOutput("env", "GOMODCACHE")
	require.NoError(t, err)
	// Caches that hold nothing, filled from the one that this test was built from.
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(filled)+"/cache/download")
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	env := Proxy(t)
	download := func(what string) error {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", what)
		cmd.Dir, cmd.Env, cmd.WaitDelay = t.TempDir(), env, time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", what, errors.Join(err, ctx.Err()), out)
		}
		return nil
	}
	tries := func() {
		for _, what := range []string{Module + "@" + Version, Module + "@latest", Module + "/cmd/foretick-vet@" + Version, "github.com/stretchr/testify@v1.12.1"} {
			require.NoError(t, download(what))
		}
		for _, what := range []string{Module + "@v0.0.9", "github.com/foretick@v0.1.0", "example.com/none@v1.0.0"} {
			err := download(what)
			require.Error(t, err)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		}
	}
	tries()

	shared := t.TempDir()
	env = append(env, "GOMODCACHE="+shared)
	require.NoError(t, download(Module+"@"+Version))
	t.Setenv("GOMODCACHE", shared)
	env = Proxy(t)
	require.Contains(t, env, "GOMODCACHE="+shared, "the cache holds the checkout")
	tries()
}

// TestHolds: a module cache's Version is this checkout's where each byte is, and nowhere else.
func TestHolds(t *testing.T) {
	release, cache := t.TempDir(), t.TempDir()
	write := func(dir, module, text string) {
		at := filepath.Join(dir, filepath.FromSlash(module), "@v")
		require.NoError(t, os.MkdirAll(at, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(at, Version+".zip"), []byte(text), 0o600))
	}
	write(release, Module, "root")
	write(release, Module+"/"+Nested[0], "nested")
	require.False(t, holds(cache, release), "nothing there")
	write(cache, Module, "rooT")
	require.False(t, holds(cache, release), "another root")
	write(cache, Module, "root")
	require.True(t, holds(cache, release), "the root alone")
	write(cache, Module+"/"+Nested[0], "nesteD")
	require.False(t, holds(cache, release), "another nested module")
	write(cache, Module+"/"+Nested[0], "nested")
	require.True(t, holds(cache, release))
	write(cache, Module+"/"+Nested[1], "unknown")
	require.False(t, holds(cache, release), "a nested module that is not released")
}

// TestUnescape has the capital letters of a module path, which a proxy's path marks.
func TestUnescape(t *testing.T) {
	require.Equal(t, "github.com/BurntSushi/toml", unescape("github.com/!burnt!sushi/toml"))
}

// go build prints nothing where GOFLAGS has -v, and other flags stay.
func TestGoCommandIsQuiet(t *testing.T) {
	t.Setenv("GOFLAGS", "-v -trimpath")
	out, err := GoCommand("env", "GOFLAGS").Output()
	require.NoError(t, err)
	require.Equal(t, "-trimpath", strings.TrimSpace(string(out)))
}
