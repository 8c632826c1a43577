package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// maxExported bounds what a reader of the root's and the ends' documentation has to take in. Lower
// it when names go; to raise it is a decision for RATIONALE.md.
var maxExported = map[string]int{"": 130, "server": 44, "client": 34}

// uncounted are the methods that only satisfy interfaces of the standard library: nobody
// looks them up in the documentation. They are listed, and not counted.
var uncounted = []string{"Error", "String", "Unwrap"}

// TestExportedNames counts the exported types, functions, methods and values of the root and the
// ends.
//
//	go test ./internal/archtest -run ExportedNames -v
//
// lists them by kind.
func TestExportedNames(t *testing.T) {
	for dir, most := range maxExported {
		names := map[string][]string{}
		files, err := releasetest.Glob(filepath.Join(repository(t), dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			exported(f, names)
		}
		total, left := 0, 0
		for _, kind := range []string{"types", "functions", "methods", "values"} {
			list := names[kind]
			slices.Sort(list)
			list = slices.Compact(list) // one name in files of several build tags
			require.NotEmpty(t, list)
			total += len(list)
			if kind == "methods" {
				left = len(list) - len(counted(list))
				total -= left
			}
			t.Logf("%d %s: %s", len(list), kind, strings.Join(list, ", "))
		}
		t.Logf("%q has %d exported names, at most %d; %d methods named %s are not counted", dir, total, most, left, strings.Join(uncounted, ", "))
		if total > most {
			t.Errorf("%q exports %d names, and may export %d: unexport what only tools and tests need, or move it to their package", dir, total, most)
		}
	}
}

// counted leaves out the methods that are not counted.
func counted(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(name string) bool {
		_, method, _ := strings.Cut(name, ".")
		return slices.Contains(uncounted, method)
	})
}

// TestExportedCounts shows what is counted.
func TestExportedCounts(t *testing.T) {
	const src = `package p
type T struct{ F int }
type I interface{ M() }
type t int
func F() {}
func f() {}
func (T) M() {}
func (*T) N() {}
func (T) m() {}
func (t) O() {}
func (G[K]) P() {}
type G[K any] struct{}
const (
	A, b = 1, 2
)
var C int
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	require.NoError(t, err)
	names := map[string][]string{}
	exported(f, names)
	require.Equal(t, map[string][]string{
		"types":     {"T", "I", "G"},
		"functions": {"F"},
		"methods":   {"T.M", "T.N", "G.P"},
		"values":    {"A", "C"},
	}, names)
	require.Equal(t, []string{"T.M"}, counted([]string{"T.Error", "T.M", "T.String", "T.Unwrap"}))
}

// exported adds the exported names of a file to names, by kind.
func exported(f *ast.File, names map[string][]string) {
	add := func(kind, name string) { names[kind] = append(names[kind], name) }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch on := receiver(d); {
			case !d.Name.IsExported():
			case d.Recv == nil:
				add("functions", d.Name.Name)
			case ast.IsExported(on):
				add("methods", on+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add("types", s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							add("values", n.Name)
						}
					}
				}
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
