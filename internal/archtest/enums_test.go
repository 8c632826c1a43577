package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// noEnum are integer types with constants that print as numbers, each with its reason.
var noEnum = map[string]string{
	"ecs.Owner": "Nobody is the only constant, and players have numbers",
}

// TestEnumsHaveString: an exported integer type with constants has a String method, so that a log line
// and a failed test say what happened and not 3.
func TestEnumsHaveString(t *testing.T) {
	dirs := map[string]bool{}
	walk(t, func(name string) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && imported(name) && !strings.Contains(name, "internal/") {
			dirs[filepath.Dir(name)] = true
		}
	})
	require.NotEmpty(t, dirs)
	left := map[string]bool{}
	for dir := range dirs {
		files, err := releasetest.Glob(filepath.Join(repository(t), dir, "*.go"))
		require.NoError(t, err)
		var trees []*ast.File
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
				require.NoError(t, err)
				trees = append(trees, f)
			}
		}
		for _, name := range silentEnums(trees) {
			name = filepath.ToSlash(dir) + "." + name
			left[name] = true
			if noEnum[name] == "" {
				t.Errorf("%s has constants and no String method", name)
			}
		}
	}
	for name := range noEnum {
		require.True(t, left[name], "%s: take it from the list", name)
	}
}

// silentEnums returns the exported integer types of a package that have exported constants and no
// String method.
func silentEnums(trees []*ast.File) (names []string) {
	integers, constants, said := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range trees {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "String" {
					said[typeName(d.Recv.List[0].Type)] = true
				}
			case *ast.GenDecl:
				last := "" // of a constant that repeats the line before it
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						of, _ := s.Type.(*ast.Ident)
						if of != nil && !s.Assign.IsValid() && s.Name.IsExported() && (strings.Contains(of.Name, "int") || of.Name == "byte") {
							integers[s.Name.Name] = true
						}
					case *ast.ValueSpec:
						if d.Tok != token.CONST {
							continue
						}
						if s.Type != nil || len(s.Values) > 0 {
							last = constantType(s)
						}
						if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
							constants[last] = true
						}
					}
				}
			}
		}
	}
	for name := range integers {
		if constants[name] && !said[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// constantType returns the name of a constant's type, of its declaration or of a conversion.
func constantType(s *ast.ValueSpec) string {
	e := s.Type
	if e == nil {
		if call, ok := s.Values[0].(*ast.CallExpr); ok {
			e = call.Fun
		}
	}
	return typeName(e)
}

// typeName returns the name of a type of the same package, also behind a pointer.
func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// TestSilentEnums shows what is found.
func TestSilentEnums(t *testing.T) {
	const src = `package p
type (
	A uint8
	B int
	C uint8
	d uint8
	E = A
	F string
	G uint16
)
const (
	A0 A = iota
	A1
)
const B0 = B(1)
const (
	C0 C = iota
	_
)
const d0, F0 = d(1), F("f")
const g0 G = 1
func (*C) String() string { return "" }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"A", "B"}, silentEnums([]*ast.File{f}))
}

// The texts of enums that no output of the module shows.
func TestEnumTexts(t *testing.T) {
	for want, e := range map[string]fmt.Stringer{
		"replace old": transport.ReplaceOld, "refuse new": transport.RefuseNew, "allow both": transport.AllowBoth, "rule 3": transport.Same(3),
		"play": netcode.RolePlay, "observe": netcode.RoleObserve, "role 2": netcode.Role(2),
		"hello": netcode.MessageHello, "unread": netcode.MessageUnread, "message 5": netcode.MessageType(5), "message 255": netcode.MessageType(255),
		"same": prediction.Same, "near": prediction.Near, "different": prediction.Different, "verdict 3": prediction.Verdict(3),
		"by distance": snapshot.ByDistance, "always": snapshot.Always, "never": snapshot.Never, "relevance 3": snapshot.Relevance(3),
		"public": schema.GridPublic, "sim": schema.GridSim, "grid 2": schema.Grid(2),
	} {
		require.Equal(t, want, e.String())
	}
}
