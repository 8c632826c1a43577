package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeeds: docs/SEEDS.md has each of the articles' mechanisms once, and every test that
// it names is a function of a test file that skips nothing.
func TestSeeds(t *testing.T) {
	tests := map[string]bool{} // whether it skips
	walk(t, func(name string) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				tests[fn.Name.Name] = tests[fn.Name.Name] || skips(fn)
			}
		}
	})
	row := regexp.MustCompile(`(?m)^\| (\d+) \| .* \| (works|partly|open|not wanted) \| .* \| (.*) \|$`)
	named := regexp.MustCompile("`([^`]*)`")
	missing := regexp.MustCompile(`(?m)^\| (\d+) \| [^|]* \|$`)
	text := document(t, "docs/SEEDS.md")
	said := map[string]bool{}
	for _, m := range missing.FindAllStringSubmatch(text, -1) {
		said[m[1]] = true
	}
	rows := row.FindAllStringSubmatch(text, -1)
	require.Len(t, rows, 105)
	for i, m := range rows {
		require.Equal(t, strconv.Itoa(i+1), m[1])
		require.Equal(t, m[2] == "partly" || m[2] == "open", said[m[1]], "row %s: what is missing of it", m[1])
		for _, n := range named.FindAllStringSubmatch(m[3], -1) {
			skipped, ok := tests[n[1]]
			require.True(t, ok && regexp.MustCompile(`^(Test|Example)`).MatchString(n[1]), "row %s names %s, which is no test", m[1], n[1])
			require.False(t, skipped, "row %s names %s, which is skipped", m[1], n[1])
		}
	}
}

// TestSeedsNameTheirPlaces: each name in the column "where" of docs/SEEDS.md is declared, and
// each file exists.
func TestSeedsNameTheirPlaces(t *testing.T) {
	declared, files := map[string]bool{}, map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		files[filepath.ToSlash(name)], files[filepath.Base(name)] = true, true
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				declared[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					declared[id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					declared[id.Name] = true
				}
			}
			return true
		})
	})
	row := regexp.MustCompile(`(?m)^\| (\d+) \|[^|\n]*\|[^|\n]*\| ([^|\n]*) \|[^|\n]*\|$`)
	quoted, exported := regexp.MustCompile("`([^`]*)`"), regexp.MustCompile(`\b[A-Z]\w*`)
	rows := row.FindAllStringSubmatch(document(t, "docs/SEEDS.md"), -1)
	require.Len(t, rows, 105)
	for _, m := range rows {
		for _, q := range quoted.FindAllStringSubmatch(m[2], -1) {
			if strings.HasSuffix(q[1], ".go") {
				require.True(t, files[q[1]], "row %s names the file %s", m[1], q[1])
				continue
			}
			for _, name := range exported.FindAllString(q[1], -1) {
				require.True(t, declared[name] || strings.HasPrefix(name, "Test"), "row %s names %s, which is declared nowhere: %s", m[1], name, q[1])
			}
		}
	}
}

// skips reports whether a function calls Skip, Skipf or SkipNow.
func skips(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Skip") {
			if x, ok := s.X.(*ast.Ident); ok && (x.Name == "t" || x.Name == "tb") {
				found = true
			}
		}
		return true
	})
	return found
}
