package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	// go test compiles what the README's code imports before these tests, and not once more beside them.
	_ "github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
	_ "github.com/foretick/foretick/server"
	_ "github.com/foretick/foretick/simtest"
	_ "github.com/foretick/foretick/transport/udp"
)

// readmeImports is what the README's code needs and does not show.
var readmeImports = []string{
	"context", "testing", "time", module, module + "/client", module + "/ecs", module + "/server", module + "/simtest", module + "/transport/udp",
}

// TestReadmeBuilds compiles the README's Go code, all blocks together, and runs its
// tests of the game's code: one match of the 20, and all of them with FORETICK_LONG.
func TestReadmeBuilds(t *testing.T) {
	root, src := repository(t), readmeCode(t, "")
	name := filepath.Join(t.TempDir(), "readme_test.go")
	require.NoError(t, os.WriteFile(name, []byte(src), 0o600))
	args := []string{"test", "-v", "-run", "^Test(Sync|Game)$", name}
	if testing.Short() { // what needs no linking
		args = []string{"vet", name}
	}
	cmd := releasetest.GoCommand(args...)
	cmd.Dir = root
	one := costtest.Count(0, 1) == 0 && !testing.Short()
	if one {
		cmd.Env = append(cmd.Env, "SIMTEST_SEED=1")
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "the README's code:\n%s\n%s", src, out)
	if one {
		require.Equal(t, 1, strings.Count(string(out), ": seed "), "%s", out)
	}
	if costtest.Count(0, 1) > 0 { // the library is compiled for browsers
		vetForBrowsers(t, name)
	}
}

// readmeCode returns a test file of all of the README's Go code, with more code behind it.
func readmeCode(t *testing.T, more string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(document(t, "README.md"), -1)
	require.Len(t, blocks, 3, "the README's code has moved: look whether all of it is tested still")
	src := "package readme\n\nimport (\n\t\"" + strings.Join(readmeImports, "\"\n\t\"") + "\"\n)\n"
	for _, b := range blocks {
		src += "\n" + b[1]
	}
	return src + "\nvar _, _ = serve, play\n" + more
}

// readmeGet is the command by which the README adds the library to a module.
const readmeGet = "go get github.com/foretick/foretick"

// readmePlays plays the README's game by its own serve and play, until the player has moved.
const readmePlays = `
func TestPlays(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- serve(ctx) }()
	right := func(client.View) Move { return Move{X: 1} }
	moved := false
	err := play(address, right, func(g *Game, v client.View) {
		for _, rows := range ecs.NewQuery(v.World.Types(), ecs.Read(&g.Pos)).Owned(v.World, v.Player) {
			for _, at := range g.Pos.Slice(rows) {
				moved = moved || v.State == client.Playing && at.X > 1
			}
		}
		if moved {
			stop()
		}
		time.Sleep(5 * time.Millisecond)
	})
	stop()
	if ended := <-served; !moved {
		t.Errorf("the player did not move: the client says %v, the server %v", err, ended)
	}
}
`

// TestReadmeInAnEmptyModule: the README's command adds the library to an empty module, from a
// proxy that has this checkout as its release. There the README's code compiles, its tests pass,
// and its server and client play over UDP.
func TestReadmeInAnEmptyModule(t *testing.T) {
	costtest.Long(t)
	require.Contains(t, document(t, "README.md"), "`"+readmeGet+"`")
	address := fmt.Sprint("127.0.0.1:", releasetest.Port(t))
	src := readmeCode(t, "\nconst address = \""+address+"\"\n"+readmePlays)
	require.Equal(t, 1, strings.Count(src, "udp.Listen(\":7777\""))
	src = strings.Replace(src, "udp.Listen(\":7777\"", "udp.Listen(\""+address+"\"", 1)

	env, dir := releasetest.Proxy(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme_test.go"), []byte(src), 0o600))
	for _, line := range []string{"go mod init mygame", readmeGet, "go mod tidy", "go vet .", "go test -v ."} {
		cmd := releasetest.GoCommand(strings.Fields(line)[1:]...)
		cmd.Dir, cmd.Env = dir, append(env, "SIMTEST_SEED=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s:\n%s\n%s", line, src, out)
		if strings.Contains(line, "test") {
			for _, name := range []string{"TestGame", "TestSync", "TestPlays"} {
				require.Contains(t, string(out), "--- PASS: "+name)
			}
		}
	}
}

// TestReadmePicturesAreSmall: a newcomer on a slow line sees them.
func TestReadmePicturesAreSmall(t *testing.T) {
	const most = 1_500_000
	all := regexp.MustCompile(`!\[[^]]*\]\((docs/pictures/[^)]+)\)`).FindAllStringSubmatch(document(t, "README.md"), -1)
	require.NotEmpty(t, all)
	sum := int64(0)
	for _, one := range all {
		file, err := os.Stat(filepath.Join(repository(t), filepath.FromSlash(one[1])))
		require.NoError(t, err)
		sum += file.Size()
	}
	require.LessOrEqual(t, sum, int64(most), "use fewer frames or colours in internal/screentest/pictures")
}

// vetForBrowsers typechecks files as a browser's program.
func vetForBrowsers(t *testing.T, files ...string) {
	t.Helper()
	cmd := releasetest.GoCommand(append([]string{"vet"}, files...)...)
	cmd.Dir, cmd.Env = repository(t), append(cmd.Env, "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s for browsers:\n%s", files, out)
}

// TestReadmeTransports: examples/hello builds for browsers as it is, and with the
// README's line for each other transport that browsers have or that shared code names.
func TestReadmeTransports(t *testing.T) {
	costtest.Long(t) // the library is compiled for browsers
	hello := document(t, "examples/hello/main.go")
	rows := regexp.MustCompile("(?m)^\\| (\\w+).* \\| `(\\w+\\.Listen\\(.*\\))` \\| `(\\w+\\.Dial\\(.*\\))` \\|$").FindAllStringSubmatch(document(t, "README.md"), -1)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row[1]] = true
		if row[1] == "DTLS" { // needs a certificate, which the example does not have
			continue
		}
		of, _, _ := strings.Cut(row[2], ".")
		src := strings.Replace(hello, "udp.Listen(addr, udp.Config{})", row[2], 1)
		src = strings.Replace(src, "udp.Dial(addr, udp.Config{})", row[3], 1)
		src = strings.Replace(src, "/transport/udp\"", "/transport/"+of+"\"", 1)
		require.Contains(t, src, row[2])
		require.Contains(t, src, row[3])
		dir := t.TempDir()
		var files []string
		for file, text := range map[string]string{
			"main.go": src, "rules.go": document(t, "examples/hello/rules.go"),
			"server.go": document(t, "examples/hello/server.go"), "client.go": document(t, "examples/hello/client.go"),
		} {
			files = append(files, filepath.Join(dir, file))
			require.NoError(t, os.WriteFile(files[len(files)-1], []byte(text), 0o600))
		}
		vetForBrowsers(t, files...)
	}
	require.Equal(t, map[string]bool{"UDP": true, "DTLS": true, "WebSocket": true}, seen, "where is the table?")
}

// TestDocumentsLinks: what a document links to in this repository is there.
func TestDocumentsLinks(t *testing.T) {
	root := repository(t)
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	n := 0
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".md") && name != "llms.txt" {
			return
		}
		for _, m := range link.FindAllStringSubmatch(document(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			to := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(name), m[1])))
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	})
	require.Greater(t, n, 20, "found too few links: the test looks in the wrong place")
}

// TestDocumentsNameTests: a test that a document names as proof is there.
func TestDocumentsNameTests(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	named := regexp.MustCompile("`(Test[A-Z]\\w*)`")
	have, names := map[string]bool{}, map[string]string{}
	walk(t, func(name string) {
		switch {
		case strings.HasSuffix(name, "_test.go"):
			for _, m := range declared.FindAllStringSubmatch(document(t, name), -1) {
				have[m[1]] = true
			}
		case strings.HasSuffix(name, ".md"):
			for _, m := range named.FindAllStringSubmatch(document(t, name), -1) {
				names[m[1]] = name
			}
		}
	})
	require.Greater(t, len(names), 4, "found too few names: the test looks in the wrong place")
	for name, in := range names {
		if !have[name] {
			t.Errorf("%s names %s, which is not there", in, name)
		}
	}
}

// TestReadmeExamples: every feature in the README's table has an example, and the
// examples that it names are there.
func TestReadmeExamples(t *testing.T) {
	root := repository(t)
	have := map[string]bool{}
	files, err := releasetest.Glob(filepath.Join(root, "*_test.go"))
	require.NoError(t, err)
	others, err := releasetest.Glob(filepath.Join(root, "*", "*_test.go"))
	require.NoError(t, err)
	for _, name := range append(files, others...) {
		of := ""
		if dir := filepath.Dir(name); dir != root {
			of = filepath.Base(dir) + "."
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				have[of+fn.Name.Name] = true
			}
		}
	}
	_, table, found := strings.Cut(document(t, "README.md"), "| for | there is | example |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		require.Len(t, cells, 3, row)
		examples := regexp.MustCompile("`((?:\\w+\\.)?Example\\w*)`").FindAllStringSubmatch(cells[2], -1)
		if len(examples) == 0 && !strings.Contains(cells[2], "](examples/") {
			t.Errorf("%s: no example", cells[0])
		}
		for _, e := range examples {
			if !have[e[1]] {
				t.Errorf("%s: %s is not there", cells[0], e[1])
			}
		}
	}
}

// TestExamplesKeepUp: what an example repeats of the repository, since its copy cannot read
// it, is the same there.
func TestExamplesKeepUp(t *testing.T) {
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(document(t, "go.mod"))
	require.Contains(t, document(t, "examples/host/Dockerfile"), "FROM golang:"+needs[1]+" AS build\n", "it builds with a Go that is new enough")
}

// document returns a file of the repository.
func document(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join(repository(t), filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(b)
}
