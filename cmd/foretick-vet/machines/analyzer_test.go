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

// planted copies the planted game to where its module may be changed.
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

// TestPlanted: all that is planted in a game is named with its line, and nothing else.
func TestPlanted(t *testing.T) {
	analysistest.Run(noFacts{t}, planted(t), machines.Analyzer, "./game")
}

// noFacts leaves out what the analyzer tells itself of other packages: the reports show it.
type noFacts struct{ testing.TB }

func (t noFacts) Errorf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, "unexpected fact") {
		t.TB.Error(text)
	}
}

// TestFixes: the game compiles after the fixes, and no product is left that has one.
func TestFixes(t *testing.T) {
	dir := planted(t)
	tool := filepath.Join(t.TempDir(), "foretick-vet")
	run(t, ".", "go", "build", "-o", tool, "..")
	fix := exec.Command(tool, "-fix", "./...")
	fix.Dir, fix.Env = dir, append(os.Environ(), "GOWORK=off")
	_, _ = fix.CombinedOutput() // it fails on what has no fix
	run(t, dir, "go", "vet", "-unreachable=false", "-unsafeptr=false", "./...")
	again := exec.Command(tool, "./...")
	again.Dir, again.Env = dir, fix.Env
	out, _ := again.CombinedOutput()
	if n := strings.Count(string(out), "; write float32("); n > 0 {
		t.Errorf("%d products are left:\n%s", n, out)
	}
	if !strings.Contains(string(out), "time.Now") {
		t.Errorf("what has no fix is gone too:\n%s", out)
	}
}

// TestVettool: go vet runs it, and facts travel between packages there too.
func TestVettool(t *testing.T) {
	dir := planted(t)
	tool := filepath.Join(t.TempDir(), "foretick-vet")
	run(t, ".", "go", "build", "-o", tool, "..")
	vet := exec.Command("go", "vet", "-vettool="+tool, "./game")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := vet.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `shared system "calls" calls Jitter`) {
		t.Errorf("%v:\n%s", err, out)
	}
}
