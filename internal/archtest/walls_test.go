package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is the part of the root that a file belongs to, by its name: an end, the preview, or what
// all of them share.
func room(file string) string {
	for prefix, room := range map[string]string{"server_": "server", "server.": "server", "player": "server", "client_": "client", "client.": "client", "preview": "preview"} {
		if strings.HasPrefix(file, prefix) {
			return room
		}
	}
	return "shared"
}

// mayUse are the rooms whose unexported names a room may use, besides its own.
var mayUse = map[string][]string{
	"shared":  nil,
	"server":  {"shared"},
	"client":  {"shared"},
	"preview": {"shared", "server", "client"},
}

// TestRootHasWalls: in the root a server's file uses no unexported name of a client's file, nor the
// other way round; what both share uses neither, and knows the ends by interfaces; and what only
// one of them uses is declared there.
func TestRootHasWalls(t *testing.T) {
	for _, c := range overEndpoints(t) {
		if c.dir == "" {
			crossings, misplaced := c.walls()
			for _, text := range append(crossings, misplaced...) {
				t.Error(text)
			}
			return
		}
	}
	t.Fatal("the root is not among the packages that see an endpoint")
}

// TestWallsAreSeen: what crosses a wall is found, and so is what is declared in the wrong room.
func TestWallsAreSeen(t *testing.T) {
	c := checked(t, map[string]string{
		"shared.go":     "package p\ntype Frame struct{ n int }\nfunc both() {}\nfunc misplaced() { both() }\nfunc wrong() { serve() }\n",
		"server_a.go":   "package p\nfunc serve() { both(); misplaced(); play() }\ntype joins struct{ x int }\n",
		"client_a.go":   "package p\nfunc play() { both(); wrong(); _ = joins{}.x }\n",
		"preview_it.go": "package p\nfunc show() { play(); serve(); both(); wrong() }\n",
	})
	crossings, misplaced := c.walls()
	require.Equal(t, []string{
		"client_a.go uses joins of server_a.go: declare it in a shared file, or ask for it through an interface",
		"client_a.go uses x of server_a.go: declare it in a shared file, or ask for it through an interface",
		"server_a.go uses play of client_a.go: declare it in a shared file, or ask for it through an interface",
		"shared.go uses serve of server_a.go: declare it in a shared file, or ask for it through an interface",
	}, crossings)
	require.Equal(t, []string{"misplaced is declared in shared.go and only a server uses it: declare it in a file of its own room"}, misplaced)
}

// walls returns what crosses the walls, and what is declared in the wrong room.
func (c *code) walls() (crossings, misplaced []string) {
	where := func(p token.Pos) string { return filepath.Base(c.set.Position(p).Filename) }
	users := map[types.Object]map[string]bool{}
	for id, o := range c.info.Uses {
		if o.Pkg() != c.pkg || o.Exported() || !topLevel(o) {
			continue
		}
		from, to := where(id.Pos()), where(o.Pos())
		if users[o] == nil {
			users[o] = map[string]bool{}
		}
		users[o][room(from)] = true
		if room(from) != room(to) && !slices.Contains(mayUse[room(from)], room(to)) {
			crossings = append(crossings, fmt.Sprintf("%s uses %s of %s: declare it in a shared file, or ask for it through an interface", from, o.Name(), to))
		}
	}
	for o, rooms := range users {
		if room(where(o.Pos())) != "shared" || len(rooms) != 1 || !ofOneRoom(o) {
			continue
		}
		for r := range rooms {
			if r != "shared" {
				misplaced = append(misplaced, fmt.Sprintf("%s is declared in %s and only a %s uses it: declare it in a file of its own room", o.Name(), where(o.Pos()), r))
			}
		}
	}
	slices.Sort(crossings)
	slices.Sort(misplaced)
	return slices.Compact(crossings), misplaced
}

// topLevel reports whether an object is declared at the top of a file, or in a type that is.
func topLevel(o types.Object) bool {
	switch o := o.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// ofOneRoom reports whether an object can lie in the room that uses it. The fields and methods
// of a shared type stay with it, but for methods of the protocol, which grow with each end's needs;
// so do the values of one enumeration.
func ofOneRoom(o types.Object) bool {
	switch o := o.(type) {
	case *types.TypeName:
		return true
	case *types.Func:
		recv := o.Signature().Recv()
		if recv == nil {
			return true
		}
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && named.Obj().Name() == "Protocol"
	}
	return false
}

// checked returns files that need nothing, as a package with its types.
func checked(t *testing.T, files map[string]string) *code {
	c := &code{set: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	for name, text := range files {
		c.files = append(c.files, parsed(t, c.set, name, text))
	}
	var err error
	c.pkg, err = new(types.Config).Check("p", c.set, c.files, c.info)
	require.NoError(t, err)
	return c
}

// parsed parses a file.
func parsed(t *testing.T, set *token.FileSet, name, text string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return f
}
