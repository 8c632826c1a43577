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

// maxPromised bounds the names that the first tier of docs/COMPATIBILITY.md promises. To raise it
// is a decision for RATIONALE.md: a promised name costs every later version.
const maxPromised = 900

// tierLines are the last lines of package comments: of a tier whole, and of one with names that
// are in another.
var tierLines = map[string][2]string{
	"promised":          {"promised. See docs/COMPATIBILITY.md.", "promised, but for the names that docs/COMPATIBILITY.md lists."},
	"with a note":       {"a minor version may change it, with a note. See docs/COMPATIBILITY.md.", ""},
	"any minor version": {"any minor version may change it. See docs/COMPATIBILITY.md.", "any minor version may change it, but for the names that docs/COMPATIBILITY.md lists."},
}

// TestTiers: each package that a game can import is in one tier of docs/COMPATIBILITY.md, its comment
// ends with that tier, and the names that the page lists exist.
func TestTiers(t *testing.T) {
	var rows []string
	for _, line := range strings.Split(document(t, "docs/COMPATIBILITY.md"), "\n") {
		for tier := range tierLines {
			if strings.Contains(line, " | "+tier+" | ") {
				rows = append(rows, line)
			}
		}
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	seen, counts := map[string]bool{}, map[string]int{}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		require.Len(t, cells, 3, row)
		tier, other := strings.TrimSpace(cells[1]), ""
		for name := range tierLines {
			if name != tier && strings.HasPrefix(strings.TrimSpace(cells[2]), name) {
				other = name
			}
		}
		packages := quoted.FindAllStringSubmatch(cells[0], -1)
		var apart []string
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			apart = append(apart, m[1])
		}
		require.Equal(t, other != "", len(apart) > 0, "the cell says which tier its names are in: %s", row)
		for _, m := range packages {
			dir := m[1]
			if dir == "foretick" {
				dir = "."
			}
			require.False(t, seen[dir], "%s stands twice", dir)
			seen[dir] = true
			names, comment := promises(t, dir)
			want := tierLines[tier][0]
			if len(apart) > 0 {
				want = tierLines[tier][1]
			}
			require.True(t, strings.HasSuffix(comment, "\n\nCompatibility: "+want+"\n"), "%s: the package comment ends with %q", dir, "Compatibility: "+want)
			left := 0
			for _, name := range apart {
				n := len(names)
				names = slices.DeleteFunc(names, func(s string) bool { return s == name || strings.HasPrefix(s, name+".") })
				require.Less(t, len(names), n, "%s has no %s", dir, name)
				left += n - len(names)
			}
			counts[tier] += len(names)
			counts[other] += left
			t.Logf("%-32s %4d %s, %d %s", dir, len(names), tier, left, other)
		}
	}
	walk(t, func(name string) {
		dir := filepath.ToSlash(filepath.Dir(name))
		if strings.Contains(dir, "internal/") || dir == "stats/collector" || strings.HasPrefix(dir, "docs/") { // own modules, and pages
			return
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && imported(name) && !seen[dir] {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), name), nil, parser.PackageClauseOnly)
			require.NoError(t, err)
			if f.Name.Name != "main" {
				t.Errorf("%s is in no tier of docs/COMPATIBILITY.md", dir)
				seen[dir] = true
			}
		}
	})
	t.Logf("promised %d, at most %d; with a note %d; any minor version %d", counts["promised"], maxPromised, counts["with a note"], counts["any minor version"])
	require.LessOrEqual(t, counts["promised"], maxPromised)
}

// promises returns what a package would promise: its exported names, and the exported fields and methods
// of its exported types, as Type.Name. It returns the package comment too. Methods for newer releases of
// Go are functions in another spelling, so they promise nothing more.
func promises(t *testing.T, dir string) (names []string, comment string) {
	files, err := releasetest.Glob(filepath.Join(repository(t), dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if text := f.Doc.Text(); strings.HasPrefix(text, "Package ") {
			comment = text
		}
		byKind := map[string][]string{}
		exported(f, byKind)
		for kind, list := range byKind {
			if kind == "methods" {
				list = counted(list)
			}
			names = append(names, list...)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			for _, member := range members(spec.Type) {
				names = append(names, spec.Name.Name+"."+member)
			}
			return false
		})
	}
	slices.Sort(names)
	return slices.Compact(names), comment
}

// members returns the exported fields of a struct, or methods of an interface.
func members(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch x := e.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, n := range field.Names {
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
