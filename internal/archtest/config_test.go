package archtest_test

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConfigs holds every exported config to the rule for its numbers: zero is the
// default, negative is off or an error. Each is given to fieldtest.Config by a test, and says in the comment of each number what zero and negative mean.
func TestConfigs(t *testing.T) {
	root := repository(t)
	var declared, checked []string
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || !public(name) {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		if f.test() {
			checked = append(checked, f.checked()...)
			return
		}
		names, faults := f.configs()
		declared = append(declared, names...)
		for _, fault := range faults {
			t.Error(fault)
		}
	})
	require.Greater(t, len(declared), 12, "found too few configs: the test looks in the wrong place")
	for _, c := range declared {
		if !slices.Contains(checked, c) {
			t.Errorf("%s: no test gives it to fieldtest.Config: add one", c)
		}
	}
}

// public says whether others may import the package of a file.
func public(name string) bool {
	return !strings.Contains("/"+name, "/internal/") && !slices.ContainsFunc([]string{"examples/", "tools/", "cmd/", "benchmarks/"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}

// checked lists the types that a test gives to fieldtest.Config.
func (f *file) checked() (names []string) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.IndexExpr)
		if !ok {
			return true
		}
		fn, ok := call.X.(*ast.SelectorExpr)
		if pkg, is := ident(fn); !ok || !is || pkg != "fieldtest" || fn.Sel.Name != "Config" {
			return true
		}
		if of, ok := call.Index.(*ast.SelectorExpr); ok {
			for _, spec := range f.tree.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if dir, ours := local(imported); ours && path.Base(imported) == of.X.(*ast.Ident).Name {
					names = append(names, path.Join(dir, of.Sel.Name))
				}
			}
		}
		return true
	})
	return names
}

func ident(s *ast.SelectorExpr) (string, bool) {
	if s == nil {
		return "", false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// wire are configs that travel: their numbers are what a peer says.
var wire = []string{"netcode/ClientConfig"}

// configs lists the exported configs that a file declares, and the numbers in them whose
// comments leave a meaning out.
func (f *file) configs() (names, faults []string) {
	if f.tree.Name.Name == "main" {
		return nil, nil
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Config") {
			return true
		}
		of, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true // an alias is another's
		}
		name := path.Join(f.dir(), spec.Name.Name)
		names = append(names, name)
		if slices.Contains(wire, name) {
			return true
		}
		for _, field := range of.Fields.List {
			faults = append(faults, f.unsaid(spec.Name.Name, field)...)
		}
		return true
	})
	return names, faults
}

var (
	saysZero     = regexp.MustCompile(`\b(0|[Zz]ero)\b`)
	saysNegative = regexp.MustCompile(`\b[Nn]egative\b`)
)

func (f *file) unsaid(of string, field *ast.Field) (faults []string) {
	zero, negative := number(field.Type)
	text := strings.Join(strings.Fields(field.Doc.Text()), " ")
	for _, name := range field.Names {
		if zero && !saysZero.MatchString(text) {
			faults = append(faults, f.at(field.Pos(), fmt.Sprintf("%s.%s: the comment does not say what 0 means", of, name)))
		}
		if negative && !saysNegative.MatchString(text) {
			faults = append(faults, f.at(field.Pos(), fmt.Sprintf("%s.%s: the comment does not say what negative means", of, name)))
		}
	}
	return faults
}

// number says whether a field's type is a number, and one that can be negative.
func number(e ast.Expr) (is, signed bool) {
	switch e := e.(type) {
	case *ast.Ident:
		is = regexp.MustCompile(`^(u?int(8|16|32|64)?|float(32|64))$`).MatchString(e.Name)
		return is, is && e.Name[0] != 'u'
	case *ast.SelectorExpr:
		pkg, _ := ident(e)
		is = pkg == "time" && e.Sel.Name == "Duration"
		return is, is
	}
	return false, false
}

// TestConfigRules shows each rule failing, and what it lets pass.
func TestConfigRules(t *testing.T) {
	for _, c := range []struct {
		src  string
		want string // part of the only fault; empty: none
	}{
		{"type AConfig struct {\n// N is one. 0 means 3; negative is an error.\nN int\n}", ""},
		{"type AConfig struct {\n// N is one. Zero means 3.\nN uint16\n}", ""},
		{"type AConfig struct {\n// S is a name.\nS string\n}", ""},
		{"type aConfig struct {\nN int\n}", ""},
		{"type AConfig struct {\n// N is one. Negative is off.\nN int\n}", "A.go:4 AConfig.N: the comment does not say what 0 means"},
		{"type AConfig struct {\n// D is one. 0 means 3 s.\nD time.Duration\n}", "what negative means"},
		{"type AConfig struct {\n// F is 10.\nF float32 // negative\n}", "what 0 means"},
	} {
		f, err := parse("snapshot/A.go", "package p\n"+c.src)
		require.NoError(t, err)
		_, faults := f.configs()
		if c.want == "" {
			require.Empty(t, faults, c.src)
			continue
		}
		require.NotEmpty(t, faults, c.src)
		require.Contains(t, faults[0], c.want)
	}
	f, err := parse("snapshot/a_test.go", imports(module+"/snapshot")+"func f() { fieldtest.Config[snapshot.AreaConfig](t, r, nil); other.Config[snapshot.B](t) }")
	require.NoError(t, err)
	require.Equal(t, []string{"snapshot/AreaConfig"}, f.checked())
}
