package archtest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// repository returns the repository's root. Its rules are about a clone: a module's zip has
// some of it only.
func repository(t *testing.T) string {
	return releasetest.Root(t)
}

// walk visits all files of the repository but what tools ignore too, and what is for newer releases of
// Go than go.mod asks for.
func walk(t *testing.T, visit func(name string)) {
	root := repository(t)
	walkAll(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || !releasetest.Newer(filepath.Join(root, filepath.FromSlash(name))) {
			visit(name)
		}
	})
}

// walkAll visits what is for newer releases too.
func walkAll(t *testing.T, visit func(name string)) {
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

// longestFile is the number of lines that a file may have, unless it holds tests.
const longestFile = 800

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
		if lines := bytes.Count(src, []byte("\n")); lines > longestFile && !f.test() {
			t.Errorf("%s has %d lines, more than %d: cut it, one noun a file", name, lines, longestFile)
		}
		for _, fault := range f.check() {
			t.Error(fault)
		}
	})
	for _, area := range slices.Concat([]string{"", "transport", "examples"}, ends, core, apart) {
		require.NotZero(t, seen[area], "found no Go file in %q: the test looks in the wrong place", area)
	}
}

// ownModule are the examples whose dependencies the root must not carry.
var ownModule = map[string]bool{"examples/ebiten/go.mod": true, "examples/donburi/go.mod": true, "examples/physics/go.mod": true}

// TestExamplesHoldNoModule keeps the examples fit for copying.
func TestExamplesHoldNoModule(t *testing.T) {
	walk(t, func(name string) {
		if strings.HasPrefix(name, "examples/") && filepath.Base(name) == "go.mod" && !ownModule[name] {
			t.Errorf("%s: an example belongs to the root module, so that a copy of it builds anywhere", name)
		}
	})
}

// TestExamplesHaveTests: a copy begins with one.
func TestExamplesHaveTests(t *testing.T) {
	tested := map[string]bool{}
	walk(t, func(name string) {
		if parts := strings.Split(name, "/"); parts[0] == "examples" && len(parts) > 2 {
			tested[parts[1]] = tested[parts[1]] || strings.HasSuffix(name, "_test.go")
		}
	})
	require.Greater(t, len(tested), 10)
	for name, has := range tested {
		require.True(t, has, "examples/%s has no test", name)
	}
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
		{"input/a.go", imports("encoding/json", "unsafe", lib+"internal/misuse"), ""},
		{"input/a.go", imports(lib + "ecs"), "standard library only"},
		{"input/a.go", imports("golang.org/x/exp/constraints"), "standard library only"},
		{"input/a_test.go", imports(module, lib+"ecs", lib+"input", "pgregory.net/rapid"), ""},
		{"client/a.go", imports(lib + "input"), "for games to choose"},
		{"simtest/a_test.go", imports(lib + "input"), "for games to choose"},
		{"ecs/a.go", imports(lib + "input"), "for games to choose"},
		{"examples/hello/main.go", imports(lib + "input"), ""},
		{"examples/hello/main.go", imports(module, lib+"ecs", "os", "net"), ""},
		{"examples/hello/main.go", imports(lib + "internal/ring"), "public packages only"},
		{"internal/ring/a.go", imports(lib + "ecs"), "knows none of them"},
		{"internal/cause/a.go", imports(lib + "prediction"), ""},
		{"internal/cause/a.go", imports(lib + "ecs"), "knows none of them"},
		{"internal/trace/a.go", imports(lib + "schema"), ""},
		{"internal/trace/a.go", imports(lib + "ecs"), "knows none of them"},
		{"internal/late/a.go", imports(lib+"ecs", lib+"netcode", lib+"internal/rewind"), ""},
		{"internal/late/a.go", imports(module), "know no game and no session"},
		{"internal/late/a.go", imports(lib + "transport"), "know no game and no session"},
		{"internal/game/a.go", imports(lib+"ecs", lib+"prediction", lib+"transport", lib+"internal/layout"), ""},
		{"internal/game/a.go", imports(module), "knows neither of them"},
		{"internal/game/a.go", imports(lib + "flight"), "knows neither of them"},
		{"internal/game/a.go", imports(lib + "internal/quantise"), "alone: use schema"},
		{"internal/game/last_words.go", "package p\nimport \"time\"\nvar f = time.Sleep\n", ""},
		{"internal/game/loss.go", "package p\nimport \"time\"\nvar f = time.Sleep\n", "uses time.Sleep"},
		{"internal/misuse/a.go", imports("fmt"), ""},
		{"internal/misuse/a.go", imports(lib + "input"), "for games to choose"},
		{"internal/misuse/a_test.go", imports(lib+"input", lib+"server"), ""},
		{"internal/layout/a.go", imports(lib+"ecs", lib+"schema", lib+"netcode"), ""},
		{"internal/layout/a.go", imports(lib + "snapshot"), "it is data"},
		{"internal/layout/a.go", imports(module), "it is data"},
		{"internal/rewind/a.go", imports(lib+"lagcomp", lib+"snapshot"), ""},
		{"internal/rewind/a.go", imports(lib + "ecs"), "knows no protocol"},
		{"internal/rewind/a.go", imports(module), "knows no protocol"},
		{"internal/probe/a.go", imports(lib+"ecs", lib+"transport"), ""},
		{"internal/probe/a.go", imports(module), "knows none of them"},
		{"internal/tape/a.go", imports(lib + "transport"), ""},
		{"internal/tape/a.go", imports(lib + "ecs"), "knows none of them"},
		{"frame.go", imports(lib + "flight"), "the root does not know flight"},
		{"frame.go", imports(lib + "server"), "the root does not know server"},
		{"frame.go", imports(lib + "client"), "the root does not know client"},
		{"frame_test.go", imports(lib+"client", lib+"server"), ""},
		{"server/a.go", imports(module, lib+"internal/game", lib+"internal/seam", lib+"internal/seat"), ""},
		{"server/a.go", imports(lib + "client"), "an end does not know the other"},
		{"client/a.go", imports(lib + "server"), "an end does not know the other"},
		{"rollback/rollbacktest/a.go", imports(lib+"rollback", lib+"relay", lib+"internal/seam"), ""},
		{"rollback/rollbacktest/a.go", imports(lib + "server"), "an end does not know the other"},
		{"rollback/a.go", imports(lib + "rollback/rollbacktest"), "an end does not know the other"},
		{"client/a_test.go", imports(lib+"server", lib+"simtest", lib+"internal/peek"), ""},
		{"internal/fieldtest/a.go", imports(lib + "internal/peek"), ""},
		{"client/a.go", imports(lib + "internal/peek"), "only tests look at unexported fields"},
		{"simtest/a.go", imports(lib + "internal/seam"), "for the root and the ends alone"},
		{"internal/game/a.go", imports(lib + "internal/seam"), "for the root and the ends alone"},
		{"internal/game/a.go", imports(lib + "server"), "knows neither of them"},
		{"internal/seam/a.go", imports(lib + "internal/game"), ""},
		{"internal/seam/a.go", imports(module), "the root imports it"},
		{"internal/seam/a.go", imports(lib + "internal/layout"), "the root imports it"},
		{"internal/seat/a.go", imports(module, lib+"ecs", lib+"internal/game"), ""},
		{"internal/seat/a.go", imports(lib + "client"), "so it knows neither"},
		{"internal/peek/a.go", imports(lib + "server"), "knows none of them"},
		{"internal/probe/a.go", imports(lib + "server"), "knows none of them"},
		{"bridge/a.go", imports(module, lib+"ecs"), ""},
		{"bridge/a.go", imports(lib + "server"), "no end"},
		{"examples/hello/main.go", imports(lib + "internal/probe"), "public packages only"},
		{"internal/plantedtest/a.go", imports(module, lib+"simtest"), ""},
		{"internal/plantedtest/a.go", "package p\nimport \"time\"\nvar f = time.Now\n", ""},
		{"internal/chaintest/a.go", imports(lib+"ecs", lib+"mathf"), ""},
		{"internal/oracletest/a_test.go", imports(module, lib+"flight", lib+"internal/tape"), ""},
		{"internal/oracletest/a.go", imports(lib + "flight"), "knows none of them"},
		{"internal/archtest/a_test.go", imports(lib + "server"), ""},
		{"internal/matchtest/a_test.go", imports(module, lib+"simtest"), ""},
		{"internal/matchtest/a.go", imports(module), "knows none of them"},
		{"internal/screentest/a_test.go", imports(lib + "internal/plantedtest"), ""},
		{"examples/arena/a_test.go", imports(lib + "internal/plantedtest"), "public packages only"},
		{"simtest/a_test.go", imports(lib + "internal/plantedtest"), ""},
		{"simtest/a.go", imports(lib + "internal/plantedtest"), "for tests alone"},
		{"internal/coder/a.go", imports(lib + "internal/ring"), "bits and numbers only"},
		{"internal/quantise/a.go", imports(lib + "internal/coder"), ""},
		{"internal/quantise/a.go", imports(lib + "internal/ring"), "the coder only"},
		{"internal/coder/a.go", imports(lib + "internal/quantise"), "internal/coder lies below internal/quantise"},
		{"internal/quantise/a.go", imports(lib + "schema"), "internal/quantise lies below schema"},
		{"schema/a.go", imports(lib+"internal/quantise", lib+"internal/coder"), ""},
		{"schema/a.go", imports(lib + "snapshot"), "schema lies below snapshot"},
		{"schema/a.go", imports(lib + "ecs"), "useful alone"},
		{"snapshot/a.go", imports(lib+"schema", lib+"internal/quantise"), ""},
		{"prediction/a.go", imports(lib + "schema"), "useful alone"},
		{"prediction/a.go", imports(lib + "internal/coder"), "alone: use schema"},
		{"server/a.go", imports(lib + "internal/quantise"), "alone: use schema"},
		{"server/a.go", imports(lib+"ecs", lib+"snapshot", lib+"transport"), ""},
		{"server/a.go", imports("net"), "reach outside"},
		{"server/a.go", imports(lib + "observe"), "an end does not know observe"},
		{"server/a.go", imports(lib + "inspect"), "an end does not know inspect"},
		{"inspect/a.go", imports(module, lib+"ecs", lib+"internal/probe"), ""},
		{"inspect/a.go", imports("net/http"), "only transports, Run loops and examples reach outside"},
		{"server/a.go", imports(lib + "simtest"), "an end does not know simtest"},
		{"server/a_test.go", imports(lib+"observe", lib+"simtest"), ""},
		{"observe/a.go", imports(lib+"snapshot", lib+"netcode", lib+"internal/guard"), ""},
		{"observe/a.go", imports(module), "an observer knows neither"},
		{"observe/a.go", imports(lib + "client"), "an observer knows neither"},
		{"observe/a_test.go", imports(module), ""},
		{"host/a.go", imports(lib+"stats", lib+"internal/published", lib+"transport"), ""},
		{"host/a.go", imports(module), "servers, not what a game"},
		{"stats/a.go", imports("slices"), ""},
		{"stats/a.go", imports(lib + "host"), "stats are plain values"},
		{"server/a.go", imports(lib + "stats"), ""},
		{"ecs/a.go", imports("os"), "reach outside"},
		{"ecs/internal/train/main.go", "package main\nimport _ \"os\"\n", ""},
		{"errors.go", "package p\nimport \"net\"\nvar err = net.ErrClosed\n", ""},
		{"errors.go", "package p\nimport \"net\"\nvar a, b = net.ErrClosed, net.Dial\n", "reach outside"},
		{"server/a_test.go", imports("net", "os"), ""},
		{"internal/seedtest/seed.go", imports("os"), ""},
		{"simtest/match.go", imports("os"), "reach outside"},
		{"server/a.go", "package p\nimport \"time\"\nvar x = time.Second\n", ""},
		{"server/a.go", "package p\nimport \"time\"\nfunc f() { _ = time.Now() }\n", "server/a.go:3 uses time.Now"},
		{"ecs/a.go", "package p\nimport clock \"time\"\nvar f = clock.Since\n", "uses time.Since"},
		{"server/run.go", "package p\nimport \"time\"\nfunc f() { go f(); _ = time.Now() }\n", ""},
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
