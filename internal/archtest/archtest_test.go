package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository answers the root of the module: the tests of a package run in its
// directory.
func repository(t *testing.T) string {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "module "+module+"\n")
	return root
}

// walk visits all files of the repository but what tools ignore too.
func walk(t *testing.T, visit func(name string)) {
	root := repository(t)
	require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel))
		return nil
	}))
}

// TestArchitecture holds every Go file to the rules.
func TestArchitecture(t *testing.T) {
	root := repository(t)
	seen := map[string]int{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		seen[f.area()]++
		for _, fault := range f.check() {
			t.Error(fault)
		}
	})
	for _, area := range append([]string{"", "transport", "examples"}, core...) {
		require.NotZero(t, seen[area], "found no Go file in %q: the test looks in the wrong place", area)
	}
}

// ownModule are the examples whose dependencies the root must not carry.
var ownModule = map[string]bool{"examples/ebiten/go.mod": true}

// TestExamplesHoldNoModule keeps the examples fit for copying.
func TestExamplesHoldNoModule(t *testing.T) {
	walk(t, func(name string) {
		if strings.HasPrefix(name, "examples/") && filepath.Base(name) == "go.mod" && !ownModule[name] {
			t.Errorf("%s: an example belongs to the root module, so that a copy of it builds anywhere", name)
		}
	})
}

// TestRules shows each rule failing, and what it lets pass.
func TestRules(t *testing.T) {
	const lib = module + "/"
	for _, c := range []struct {
		name, src string
		want      string // part of the only fault; empty: none
	}{
		{"ecs/a.go", imports("fmt", lib+"internal/ring", lib+"ecs/internal/x", "golang.org/x/exp/constraints"), ""},
		{"ecs/a.go", imports(lib + "snapshot"), "let the root adapt snapshot"},
		{"ecs/a_test.go", imports(lib + "netcode"), "let the root adapt netcode"},
		{"lagcomp/deep/a.go", imports(lib + "ecs"), "let the root adapt ecs"},
		{"prediction/a.go", imports(module), "must not know the root"},
		{"netcode/a.go", imports(lib + "transport/udp"), "sans-I/O"},
		{"snapshot/a.go", imports("github.com/stretchr/testify/require"), "did not ask for"},
		{"snapshot/a_test.go", imports("github.com/stretchr/testify/require", "pgregory.net/rapid"), ""},
		{"snapshot/a.go", imports("golang.org/x/exp/slices"), "did not ask for"},
		{"transport/a.go", imports("net", "time"), ""},
		{"transport/a.go", imports("golang.org/x/exp/constraints"), "standard library only"},
		{"transport/udp/a.go", imports("net", lib+"transport", lib+"internal/ring"), ""},
		{"transport/udp/a.go", imports(lib + "netcode"), "not what is sent over it"},
		{"transport/sim/a.go", imports(module), "not what is sent over it"},
		{"examples/hello/main.go", imports(module, lib+"ecs", "os", "net"), ""},
		{"examples/hello/main.go", imports(lib + "internal/ring"), "public packages only"},
		{"internal/ring/a.go", imports(lib + "ecs"), "knows none of them"},
		{"server.go", imports(lib+"ecs", lib+"snapshot", lib+"transport"), ""},
		{"server.go", imports("net"), "reach outside"},
		{"ecs/a.go", imports("os"), "reach outside"},
		{"ecs/internal/train/main.go", "package main\nimport _ \"os\"\n", ""},
		{"errors.go", "package p\nimport \"net\"\nvar err = net.ErrClosed\n", ""},
		{"errors.go", "package p\nimport \"net\"\nvar a, b = net.ErrClosed, net.Dial\n", "reach outside"},
		{"server_test.go", imports("net", "os"), ""},
		{"simtest/seed.go", imports("os"), ""},
		{"simtest/match.go", imports("os"), "reach outside"},
		{"server.go", "package p\nimport \"time\"\nvar x = time.Second\n", ""},
		{"server.go", "package p\nimport \"time\"\nfunc f() { _ = time.Now() }\n", "server.go:3 uses time.Now"},
		{"ecs/a.go", "package p\nimport clock \"time\"\nvar f = clock.Since\n", "uses time.Since"},
		{"run.go", "package p\nimport \"time\"\nfunc f() { go f(); _ = time.Now() }\n", ""},
		{"lagcomp/run.go", "package p\nfunc f() { go f() }\n", "lagcomp/run.go:2 starts a goroutine"},
		{"ecs/a.go", "package p\nimport \"math/rand/v2\"\nvar x = rand.IntN(3)\n", "uses rand.IntN"},
		{"ecs/a.go", "package p\nimport \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2))\n", ""},
	} {
		f, err := parse(c.name, c.src)
		require.NoError(t, err)
		faults := f.check()
		if c.want == "" {
			require.Empty(t, faults, "%s\n%s", c.name, c.src)
			continue
		}
		require.Len(t, faults, 1, "%s\n%s", c.name, c.src)
		require.Contains(t, faults[0], c.want)
	}
}

func imports(paths ...string) string {
	return "package p\nimport (\n\t_ \"" + strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
}
