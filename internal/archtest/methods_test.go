package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// TestNewerFilesAreNamed: the name of a file says whether it is for newer releases of Go than go.mod asks
// for. Part gofmt of .ci/run goes by the name.
func TestNewerFilesAreNamed(t *testing.T) {
	named := regexp.MustCompile(`_go1\d\d(_test)?\.go$`)
	found := 0
	walkAll(t, func(name string) {
		if strings.HasSuffix(name, ".go") && releasetest.Newer(filepath.Join(repository(t), filepath.FromSlash(name))) {
			found++
			require.Regexp(t, named, name)
		} else {
			require.NotRegexp(t, named, name)
		}
	})
	require.NotZero(t, found)
}

// method is a method that calls a function with its receiver. Go 1.26 cannot parse one with type
// parameters.
var method = regexp.MustCompile(`(?m)^// (\w+) does what the function \[(\w+)\] does\.\nfunc \((\w+) \*?(\w+)\) (\w+)\[.+\{\s+(?:return )?(\w+)\((\w+), .*\)\s+\}$`)

// TestMethodsAreFunctions: each generic function of the root that takes one of its types first is a method
// of that type too, where Go has generic methods. A method does nothing else, so docs/COMPATIBILITY.md
// counts the function alone.
func TestMethodsAreFunctions(t *testing.T) {
	var want, got []string
	files, err := releasetest.Glob(filepath.Join(repository(t), "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && fn.Type.TypeParams != nil {
				want = append(want, receiver(&ast.FuncDecl{Recv: fn.Type.Params})+"."+fn.Name.Name)
			}
		}
	}
	src := document(t, "methods_go127.go")
	all := method.FindAllStringSubmatch(src, -1)
	require.Len(t, all, strings.Count(src, "\nfunc "), "a method that does something else, or says so in other words")
	for _, m := range all {
		require.Equal(t, m[1], m[5])
		require.Equal(t, m[2], m[6])
		require.Equal(t, m[3], m[7])
		got = append(got, m[4]+"."+m[6])
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
	require.Greater(t, len(got), 10)
}
