package optiontest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
)

// noOption has the names in the source that are no options, with the reason.
var noOption = map[string]string{
	"server.Config.Late": "its fields are options",
	"Protocol.Assets":    "reads", "Protocol.Describe": "reads", "Protocol.Document": "reads", "Protocol.Err": "reads",
	"Protocol.Graph": "reads", "Protocol.Hash": "reads", "Protocol.Schema": "reads", "Protocol.TickRate": "reads",
	"Protocol.Types": "reads", "Protocol.Fail": "makes the protocol fail",
	"Event.Raise": "acts in a tick", "Message.Send": "acts in a tick", "Message.Broadcast": "acts in a tick",
	"Request.Send":         "acts in a frame",
	"foretick.ComponentAt": "reads",
	"ecs.NewTypes":         "a Protocol has them", "ecs.NewWorld": "a Server has it",
	"ecs.RowOf": "reads", "ecs.MakeEntity": "a value", "ecs.Managed": "for libraries that spawn by Control.Manager; a Server has its own",
	"ecs.Coder": "for a world as bytes, which no end sends", "ecs.CopierAt": "Copier with unsafe pointers", "ecs.NewSchedule": "a Protocol has one",
	"ecs.SetDefault": "foretick.Default calls it",
}

// found lists the options in the source.
func found(t *testing.T) (names []string) {
	add := func(of string, name string) {
		if token.IsExported(name) && noOption[of+"."+name] == "" {
			names = append(names, of+"."+name)
		}
	}
	for of, v := range map[string]reflect.Type{
		"server.Config": reflect.TypeFor[server.Config](), "server.Config.Late": reflect.TypeFor[server.Late](), "client.Config": reflect.TypeFor[client.Config](),
		"SpawnConfig": reflect.TypeFor[foretick.SpawnConfig](), "RemoteConfig": reflect.TypeFor[foretick.RemoteConfig](),
		"AreaConfig": reflect.TypeFor[snapshot.AreaConfig](), "Channel": reflect.TypeFor[netcode.Channel](),
		"Message": reflect.TypeFor[foretick.Message[word]](),
	} {
		for i := range v.NumField() {
			add(of, v.Field(i).Name)
		}
	}
	for of, v := range map[string]reflect.Type{
		"Protocol": reflect.TypeFor[*foretick.Protocol](), "Event": reflect.TypeFor[*foretick.Event[word]](),
		"Message": reflect.TypeFor[*foretick.Message[word]](), "Request": reflect.TypeFor[*foretick.Request[word]](),
	} {
		for i := range v.NumMethod() {
			add(of, v.Method(i).Name)
		}
	}
	for of, dir := range map[string]string{"foretick": ".", "ecs": "ecs"} {
		for _, name := range functions(t, dir) {
			add(of, name)
		}
	}
	for _, item := range tagItems(t) {
		names = append(names, "tag "+item)
	}
	return names
}

// functions lists the functions of a package for declarations: those that take a Protocol, and
// those that return an option or an access.
func functions(t *testing.T, dir string) (names []string) {
	files, err := releasetest.Glob(filepath.Join(releasetest.Root(t), dir, "*.go"))
	require.NoError(t, err)
	declares := regexp.MustCompile(`^(Protocol|ComponentOption|TypeOption|Access|Term|Types)$`)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() {
				continue
			}
			ast.Inspect(fn.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && declares.MatchString(id.Name) && fn.Name.Name != "New"+id.Name {
					names = append(names, fn.Name.Name)
					return false
				}
				return true
			})
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n string) bool { return n == "NewQuery" || n == "NewWatch" })
}

// tagItems lists the items of a net tag, as the error about an unknown one does.
func tagItems(t *testing.T) []string {
	var c ecs.Component[struct {
		A int8 `net:"unheard"`
	}]
	p := foretick.NewProtocol("tags", 1)
	p.Component(&c)
	_, list, ok := strings.Cut(p.Err().Error(), "use ")
	require.True(t, ok, p.Err())
	items := regexp.MustCompile(`[a-z]+`).FindAllString(strings.SplitN(list, " or -", 2)[0], -1)
	require.Greater(t, len(items), 15)
	return items
}

// TestEveryOptionIsPlayed: the catalogue has exactly the options of the source. Each is declared
// by the game or set in a configuration.
func TestEveryOptionIsPlayed(t *testing.T) {
	names := found(t)
	require.Greater(t, len(names), 120)
	for _, name := range names {
		require.Contains(t, catalogue, name, "a new option: play it in catalogue, or give a reason in noOption")
	}
	for name := range catalogue {
		if !strings.HasPrefix(name, "use ") {
			require.Contains(t, names, name, "the source has no such option")
		}
	}
	g := &game{on: func(string) bool { return true }, asked: map[string]bool{}}
	g.protocol()
	for name, o := range catalogue {
		require.True(t, o.always || o.server != nil || o.client != nil || g.asked[name], "nothing plays %s", name)
	}
}
