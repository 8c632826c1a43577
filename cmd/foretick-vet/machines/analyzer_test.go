package machines_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/foretick/foretick/cmd/foretick-vet/machines"
)

// planted copies the game with planted faults to a directory where its module may be changed.
func planted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod = []byte(strings.Replace(string(mod), "../../../..", root, 1))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "go", "mod", "tidy")
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestPlanted: the tool reports every planted fault of a game with its line, and nothing else.
func TestPlanted(t *testing.T) {
	analysistest.Run(noFacts{t}, planted(t), machines.Analyzer, "./game")
}

// TestLevels: the tool does not report a field that only OnLevel sets. It reports a field that a
// shared system writes, or a server system or a handler in mid-tick.
func TestLevels(t *testing.T) {
	analysistest.Run(noFacts{t}, planted(t), machines.Analyzer, "./levels")
}

// TestPeers: where peers of package rollback run the game, the tool checks OnJoin, OnLeave and OnServer as
// shared systems, and leaves OnFinal out. What a package without an end has is reported by the one that
// imports rollback, or with the flag.
func TestPeers(t *testing.T) {
	dir, tool := planted(t), build(t)
	analysistest.Run(noFacts{t}, dir, machines.Analyzer, "./peers", "./rules", "./served")
	if out := runTool(dir, tool, "./rules"); strings.Contains(out, "OnJoin") {
		t.Errorf("nothing says that peers run package rules:\n%s", out)
	}
	out := runTool(dir, tool, "-machines.rollback", "./rules")
	for _, want := range []string{"OnJoin join: writes g.joins", "OnJoin join: math/rand.Intn", "OnLeave: ranges over a map", "OnServer handler: writes g.hits", "OnServer handler calls Jitter"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q with the flag in:\n%s", want, out)
		}
	}
	if out := runTool(dir, "go", "vet", "-vettool="+tool, "./peers"); !strings.Contains(out, "planted/rules: OnServer handler: writes g.hits") {
		t.Errorf("go vet passes no facts of packages:\n%s", out)
	}
}

// variants are five small games that differ on arm64; docs/guide/machines.md has how often.
var variants = []string{"readme", "stepped", "raw", "turned", "wide"}

// TestVariants: in each variant the tool reports all code that differs with its line, and nothing
// after the fixes.
func TestVariants(t *testing.T) {
	dir := planted(t)
	for _, v := range variants {
		analysistest.Run(noFacts{t}, dir, machines.Analyzer, "./variants/"+v)
	}
	tool := build(t)
	before := runTool(dir, tool, "./variants/...")
	for _, v := range variants {
		if !strings.Contains(before, filepath.Join("variants", v, "game.go")) {
			t.Errorf("nothing is said of %s:\n%s", v, before)
		}
	}
	runTool(dir, tool, "-fix", "./variants/...")
	if out := runTool(dir, tool, "./variants/..."); out != "" {
		t.Errorf("left after the fixes:\n%s", out)
	}
	run(t, dir, "go", "vet", "./variants/...")
}

// TestRoots: functions named by the flag -machines.roots are checked like shared systems.
func TestRoots(t *testing.T) {
	dir, tool := planted(t), build(t)
	out := runTool(dir, tool, "-machines.roots", "^(server|Jitter)$", "./...")
	for _, want := range []string{"function server: time.Now", "function server: math.Sin", "function Jitter by inner: math/rand/v2.Float64"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "function server: writes") {
		t.Errorf("a receiver's field may be a component:\n%s", out)
	}
	if out := runTool(dir, tool, "-machines.roots", "(", "./lib"); !strings.Contains(out, "-machines.roots: ") {
		t.Errorf("a bad expression passes:\n%s", out)
	}
}

func build(t *testing.T) (tool string) {
	t.Helper()
	tool = filepath.Join(t.TempDir(), "foretick-vet")
	run(t, ".", "go", "build", "-o", tool, "..")
	return tool
}

// runTool returns the tool's output. The tool's exit code is ignored, since it fails if it reports.
func runTool(dir, tool string, args ...string) string {
	cmd := exec.Command(tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// noFacts ignores the analyzer's facts, which analysistest would otherwise require to be listed.
type noFacts struct{ testing.TB }

func (t noFacts) Errorf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, "unexpected fact") {
		t.TB.Error(text)
	}
}

// TestFixes: the game compiles after the fixes, and no product is left that a fix can round.
func TestFixes(t *testing.T) {
	dir, tool := planted(t), build(t)
	runTool(dir, tool, "-fix", "./...")
	run(t, dir, "go", "vet", "-unreachable=false", "-unsafeptr=false", "./...")
	out := runTool(dir, tool, "./...")
	if n := strings.Count(out, "; write float32("); n > 0 {
		t.Errorf("%d products are left:\n%s", n, out)
	}
	if strings.Contains(out, "math.Sincos") {
		t.Errorf("a call is left that package mathf has too:\n%s", out)
	}
	for _, want := range []string{"time.Now", "math.Hypot"} { // Hypot is taken as a value, for which there is no fix
		if !strings.Contains(out, want) {
			t.Errorf("%s has no fix, and is gone:\n%s", want, out)
		}
	}
}

// TestVettool: go vet can run the tool, which passes facts between packages there too.
func TestVettool(t *testing.T) {
	dir, tool := planted(t), build(t)
	out := runTool(dir, "go", "vet", "-vettool="+tool, "./game")
	if !strings.Contains(out, `shared system "calls" calls Jitter`) {
		t.Error(out)
	}
}
