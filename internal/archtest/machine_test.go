package archtest_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helper is the package through which tests reach for what a machine may lack.
const helper = "internal/releasetest"

// programOfExamples does what releasetest.Program does, for an example that is copied out and so
// imports no internal package.
const programOfExamples = "examples/host/operate_test.go"

// ofMachine are the functions whose result depends on who runs a test, and why tests do
// without.
var ofMachine = map[string]string{
	"exec.LookPath":    "not every machine has the program: releasetest.Program skips",
	"os.UserHomeDir":   "not everybody has a home: use t.TempDir",
	"os.UserCacheDir":  "not everybody has a home: use t.TempDir",
	"os.UserConfigDir": "not everybody has a home: use t.TempDir",
	"os.Getuid":        "a test is the same for root and for others",
	"os.Geteuid":       "a test is the same for root and for others",
}

// machine returns what a test leans on that another command or machine left there.
func (f *file) machine() (faults []string) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if why := leftThere(text(n)); why != "" {
				faults = append(faults, f.at(n.Pos(), strconv.Quote(text(n))+": "+why))
			}
		case *ast.CallExpr:
			name := called(n)
			if why := ofMachine[name]; why != "" && !(name == "exec.LookPath" && f.name == programOfExamples) {
				faults = append(faults, f.at(n.Pos(), name+": "+why))
			}
			args := n.Args
			if name == "exec.CommandContext" && len(args) > 0 {
				args = args[1:]
			}
			if strings.HasPrefix(name, "exec.Command") && len(args) > 0 && text(args[0]) != "" {
				faults = append(faults, f.at(n.Pos(), "runs "+text(args[0])+": use releasetest.GoCommand or releasetest.Program"))
			}
			if name == "filepath.Join" && above(n.Args) {
				faults = append(faults, f.at(n.Pos(), "looks for the repository: use releasetest.Root"))
			}
		}
		return true
	})
	return faults
}

// leftThere returns why a test does not write a text.
func leftThere(s string) string {
	switch s {
	case "GOMODCACHE", "GOCACHE", "GOPATH":
		return "another command may not have filled it: use releasetest.Proxy"
	case "../..", "../../..":
		return "looks for the repository: use releasetest.Root"
	}
	for _, dir := range []string{"/usr/", "/opt/", "/root/", "/home/", "/etc/"} {
		if strings.HasPrefix(s, dir) {
			return "not every machine has it: use releasetest.Program, or testdata"
		}
	}
	return ""
}

// text returns the value of a literal string, and "" of anything else.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

// called returns the package and name of a function that is called.
func called(c *ast.CallExpr) string {
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// above reports whether the elements of a path lead up and nowhere else.
func above(args []ast.Expr) bool {
	return len(args) > 1 && !slices.ContainsFunc(args, func(e ast.Expr) bool { return text(e) != ".." })
}

// TestMachine: the root module's tests lean on nothing that another command or machine left:
// they pass from the module's zip, for anybody, offline, with Go alone. `.ci/fresh module`
// plays that.
func TestMachine(t *testing.T) {
	root := repository(t)
	var nested []string
	walk(t, func(name string) {
		if dir, ok := strings.CutSuffix(name, "/go.mod"); ok {
			nested = append(nested, dir)
		}
	})
	looked := 0
	walk(t, func(name string) {
		if !strings.HasSuffix(name, "_test.go") || within(name, helper) || name == "internal/archtest/machine_test.go" ||
			slices.ContainsFunc(nested, func(dir string) bool { return within(name, dir) }) {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		looked++
		for _, fault := range f.machine() {
			t.Error(fault)
		}
	})
	require.Greater(t, looked, 300, "found too few tests: the walk looks in the wrong place")
}

// TestMachineFinds has one line of each kind that TestMachine refuses.
func TestMachineFinds(t *testing.T) {
	for line, want := range map[string]string{
		`exec.Command("go", "build")`:            "releasetest.GoCommand",
		`exec.CommandContext(c, "node", "a.js")`: "releasetest.Program",
		`exec.Command(os.Args[0], "-test.run")`:  "",
		`exec.LookPath("Xvfb")`:                  "releasetest.Program",
		`run("env", "GOMODCACHE")`:               "releasetest.Proxy",
		`os.ReadFile("/usr/bin/chromium")`:       "not every machine",
		`filepath.Abs("../..")`:                  "releasetest.Root",
		`filepath.Join("..", "..")`:              "releasetest.Root",
		`os.ReadFile("../../docs/STANDARD.md")`:  "",
		`filepath.Join("..", "..", "docs")`:      "",
		`os.Geteuid()`:                           "root",
		`os.UserHomeDir()`:                       "t.TempDir",
	} {
		f, err := parse("a_test.go", "package p\nfunc f() { "+line+" }\n")
		require.NoError(t, err)
		faults := strings.Join(f.machine(), "\n")
		if want == "" {
			require.Empty(t, faults, line)
		} else {
			require.Contains(t, faults, want, line)
		}
	}
}
