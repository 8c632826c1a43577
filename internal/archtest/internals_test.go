package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// TestNoInternalsInSight: what the packages export that a game's programs import names no type of an
// internal package, because nobody outside could name it.
func TestNoInternalsInSight(t *testing.T) {
	for _, dir := range []string{"", "bots", "bridge", "client", "ecs", "flight", "host", "host/lifecycle", "input", "inspect", "inspect/web", "mathf", "observe", "preview", "server", "simtest", "stats", "transport"} {
		files, err := releasetest.Glob(filepath.Join(repository(t), dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			for _, seen := range internalsIn(f) {
				if seen == "Requester shows game.RequestID" {
					continue // it seals the interface: no other module can implement it
				}
				t.Errorf("%s: %s", filepath.Join(dir, filepath.Base(name)), seen)
			}
		}
	}
}

// TestInternalsAreSeen shows what TestNoInternalsInSight looks at.
func TestInternalsAreSeen(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p
import "example.org/internal/in"
type T struct{ F []in.X; g in.X }
type I interface{ M() in.X; m(in.X) }
type O func(in.X)
type u struct{ F in.X }
type G struct{ in.Open }
func F(in.X) {}
func (*T) M() (n int, x *in.X) { return }
func (u) M() in.X { return in.X{} }
func f(in.X) {}
`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"T shows in.X", "I shows in.X", "O shows in.X", "F shows in.X", "T.M shows in.X"}, internalsIn(f))
}

// internalsIn lists where exported declarations of a file name types of internal packages. An embedded
// type shows its methods alone, and aliases are names of their own.
func internalsIn(f *ast.File) (list []string) {
	internal := map[string]bool{}
	for _, i := range f.Imports {
		if p, _ := strconv.Unquote(i.Path.Value); strings.Contains(p, "/internal/") {
			internal[path.Base(p)] = true
		}
	}
	var look func(name string, n ast.Node)
	lookAt := func(name string, members *ast.FieldList) {
		for _, m := range members.List {
			if len(m.Names) > 0 && m.Names[0].IsExported() {
				look(name, m.Type)
			}
		}
	}
	look = func(name string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				lookAt(name, n.Fields)
				return false
			case *ast.InterfaceType:
				lookAt(name, n.Methods)
				return false
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && internal[of.Name] {
					list = append(list, name+" shows "+of.Name+"."+n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			on := receiver(d)
			if !d.Name.IsExported() || on != "" && !ast.IsExported(on) {
				continue
			}
			if on != "" {
				on += "."
			}
			for _, fields := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
				if fields == nil {
					continue
				}
				for _, field := range fields.List {
					look(on+d.Name.Name, field.Type)
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() {
					look(s.Name.Name, s.Type)
				}
			}
		}
	}
	return list
}
