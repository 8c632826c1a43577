package foretick

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDeclarationsHoldNoRunTime: methods of Protocol declare, so they stand in files of
// declarations, and these name neither end.
func TestDeclarationsHoldNoRunTime(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	methods := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		runs := false
		for _, end := range []string{"server_", "client_", "player_", "server.go", "client.go", "player.go"} {
			runs = runs || strings.HasPrefix(name, end)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && receiver(fn) == "Protocol" {
				require.False(t, runs, "%s: %s is a method of Protocol: what runs reads the compiled protocol", name, fn.Name.Name)
				methods++
			}
		}
		if !strings.HasPrefix(name, "protocol_") {
			continue
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

func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
		return fmt.Sprint(star.X)
	}
	return ""
}

// TestMatchLeavesTheLayoutAlone: nothing writes to a compiled protocol while it runs.
func TestMatchLeavesTheLayoutAlone(t *testing.T) {
	h := newHands(t)
	print := func() (all []string) {
		all = append(all, fmt.Sprintf("%+v %+v", h.server.p.Layout, *h.server.p.Command))
		for _, c := range h.clients {
			all = append(all, fmt.Sprintf("%+v %+v", c.p.Layout, *c.p.Command))
		}
		return all
	}
	before := print()
	h.run(time.Second)
	require.NoError(t, h.clients[0].Close())
	require.NoError(t, h.server.NextLevel([]byte("two"), nil))
	h.run(time.Second)
	require.Equal(t, before, print())
}
