package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leaning is how a comment begins that cannot be read without the field above it.
var leaning = regexp.MustCompile(`(?i)^(of (these|those|them|it|its|that)\b|these\b|those\b|them\b|it\b|likewise\b|the same\b|ditto\b|from it\b|with it\b|in them\b|… )`)

// TestFieldCommentsStandAlone: an editor and go doc Type.Field show a field's comment alone.
// So it names what it counts, and does not lean on its neighbour.
func TestFieldCommentsStandAlone(t *testing.T) {
	for _, c := range []string{"of these, those that differed", "those that differed", "… and the next", "The same, for events", "it looks from X"} {
		require.True(t, leaning.MatchString(c), c)
	}
	for _, c := range []string{"snapshots applied", "offset in bytes", "itself", "of the entity's owner"} {
		require.False(t, leaning.MatchString(c), c)
	}
	root, n := repository(t), 0
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !imported(name) {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(f, func(node ast.Node) bool {
			ts, ok := node.(*ast.TypeSpec)
			if !ok || !ts.Name.IsExported() {
				return true
			}
			if st, ok := ts.Type.(*ast.StructType); ok {
				for _, field := range st.Fields.List {
					n += lean(t, fset, ts.Name.Name, field)
				}
			}
			return true
		})
	})
	require.Greater(t, n, 300, "found too few fields: the test looks in the wrong place")
}

// lean reports a field whose comment leans on another. It returns the number of exported
// fields with a comment.
func lean(t *testing.T, fset *token.FileSet, of string, field *ast.Field) int {
	if len(field.Names) == 0 || !field.Names[0].IsExported() {
		return 0
	}
	n := 0
	for _, g := range []*ast.CommentGroup{field.Doc, field.Comment} {
		if g == nil {
			continue
		}
		n = 1
		if text := strings.TrimSpace(g.Text()); leaning.MatchString(text) {
			t.Errorf("%v: the comment of %s.%s cannot be read alone: name what it is about: %s", fset.Position(field.Pos()), of, field.Names[0].Name, text)
		}
	}
	return n
}
