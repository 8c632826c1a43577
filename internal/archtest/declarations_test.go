package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// TestDeclarationsHoldNoRunTime: methods of Protocol declare, so their files have no method of what
// runs, and neither they nor the compiled protocol name an end.
func TestDeclarationsHoldNoRunTime(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "internal/game/*.go"} {
		some, err := releasetest.Glob(filepath.Join(repository(t), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, some, pattern)
		files = append(files, some...)
	}
	methods := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			switch of := receiver(fn); of {
			case "Protocol":
				methods++
			case "Frame", "HitView":
				require.False(t, strings.HasPrefix(filepath.Base(name), "protocol"), "%s: %s is a method of %s: what runs is not declared beside Protocol", name, fn.Name.Name, of)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if star, ok := n.(*ast.StarExpr); ok {
				for _, end := range []string{"Server", "Client", "player"} {
					require.NotEqual(t, end, fmt.Sprint(star.X), "%s: a declaration takes no %s", name, end)
				}
			}
			return true
		})
	}
	require.Greater(t, methods, 40)
}
