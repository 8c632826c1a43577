package archtest_test

import (
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asking are the packages that call functions of a game or a host for what comes over a network.
var asking = []string{"", "server", "client", "host", "host/lifecycle", "host/lifecycle/agones", "inspect/web", "transport/udp", "transport/dtls", "transport/ws", "transport/multi", "transport/local", "transport/ticket"}

// callers are the functions that those packages take and the guide's table leaves out, with the reason.
var callers = map[string]string{
	"client.Config":       "a client's: a panic is that of Step, which the game calls",
	"Client.Run":          "a client's",
	"Event.OnCancelled":   "a client's",
	"Event.OnConfirmed":   "a client's",
	"Event.OnPredicted":   "a client's",
	"Message.OnClient":    "a client's",
	"Protocol.OnAppear":   "a client's",
	"Protocol.OnVanish":   "a client's",
	"Protocol.OnLevel":    "a client's",
	"Protocol.Render":     "a client's",
	"Interpolate":         "a client's",
	"Decay":               "a client's",
	"PredictRemote":       "a client's",
	"client.Sample":       "a client's",
	"SpawnConfig":         "a client's",
	"server.Config.Clock": "the program's own clock",

	"server.Config.Verify":  "called by server.New, whose caller has the panic",
	"host.Host.EachMatch":   "called in the call that is given it",
	"lifecycle.Counts":      "the package's own",
	"lifecycle.Files.Watch": "the package's own",
	"agones.Manager.Watch":  "the package's own",
	"ticket.NewGate":        "the program's own clock",
	"ws.Request.GetBody":    "of package net/http",
}

// isFunction reports whether a parameter or a field is a function.
func isFunction(v *types.Var) bool {
	_, is := v.Type().Underlying().(*types.Signature)
	return is
}

// functions returns the names of the functions that a package can be given: fields of exported
// structs, and of exported functions and methods the ones that take them.
func functions(c *code) (names []string) {
	prefix := c.pkg.Name() + "."
	if c.dir == "" {
		prefix = ""
	}
	takes := func(name string, f *types.Func) {
		for v := range f.Signature().Params().Variables() {
			if isFunction(v) {
				if !slices.Contains(ends, c.dir) || f.Signature().Recv() == nil { // Server.Do says its package
					name = prefix + name
				}
				names = append(names, name)
				return
			}
		}
	}
	scope := c.pkg.Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				takes(name, o)
			}
		case *types.TypeName:
			if !o.Exported() {
				continue
			}
			if s, ok := o.Type().Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Exported() && isFunction(f) {
						names = append(names, prefix+name+"."+f.Name())
					}
				}
			}
			if n, ok := o.Type().(*types.Named); ok {
				for m := range n.Methods() {
					if m.Exported() {
						takes(name+"."+m.Name(), m)
					}
				}
			}
		}
	}
	return names
}

// TestWhatAPanicEnds: the guide's table says what a panic ends in each function that a server, a
// host or a transport can be given.
func TestWhatAPanicEnds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(t), "docs", "guide", "hosting.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "# What a panic ends\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n#")
	told := map[string]bool{}
	for row := range strings.Lines(section) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(row, "|"), "|"); ok && strings.HasPrefix(row, "| `") {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
				require.False(t, told[name[1]], "%s is there twice", name[1])
				told[name[1]] = true
			}
		}
	}
	unused := map[string]bool{}
	for name := range callers {
		unused[name] = true
	}
	for _, c := range overEndpoints(t) {
		for _, dir := range asking {
			if c.dir != dir {
				continue
			}
			for _, name := range functions(c) {
				kind, _, _ := strings.Cut(name, ".")
				if i := strings.LastIndex(name, "."); i > 0 {
					kind = name[:i]
				}
				switch {
				case told[name]:
					delete(told, name)
				case callers[name] != "":
					delete(unused, name)
				case callers[kind] != "":
					delete(unused, kind)
				default:
					t.Errorf("%s is a function that can be given to %s: say in docs/guide/hosting.md what a panic in it ends", name, c.pkg.Path())
				}
			}
		}
	}
	require.Empty(t, told, "no such functions")
	require.Empty(t, unused, "no such functions")
}
