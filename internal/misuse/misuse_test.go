package misuse_test

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bridge"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/input"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats/metrics"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

type press struct{ Fire bool }

// game has a body for the player, whose shared system makes a wrong call.
func game(t *testing.T, call func(f *foretick.Frame)) *preview.Preview {
	var cmd ecs.Component[press]
	var body ecs.Prefab
	p := foretick.NewProtocol("misuse", 1)
	p.Command(&cmd)
	p.Prefab(&body, "body", &cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
	p.Shared("call", func(f *foretick.Frame, _ ecs.Rows) { call(f) }, ecs.Read(&cmd))
	v, err := preview.New(server.Config{Protocol: p}, client.Config{Sample: client.Sample(&cmd, func(client.View) press { return press{} })})
	require.NoError(t, err)
	return v
}

// steps is a transport that calls the peer which reads from it.
type steps struct {
	transport.Endpoint
	step func()
}

func (s *steps) Recv([]transport.Event) int {
	s.step()
	return 0
}

// misuses has a wrong call of each package that panics for its caller.
var misuses = map[string]func(t *testing.T){
	"": func(*testing.T) { _ = new(foretick.Message[press]).Send(nil, 1, press{}) },
	"bridge": func(*testing.T) {
		bridge.New(func(string) int { return 0 }, func(int) {}).System(nil, "", nil)
	},
	"client": func(t *testing.T) { game(t, nil).SetTimeScale(0) },
	"ecs":    func(*testing.T) { ecs.NewWorld(nil, ecs.WorldConfig{}) },
	"stats/metrics": func(*testing.T) {
		metrics.Each(nil, metrics.Config{}, nil)
	},
	"input": func(t *testing.T) {
		m, err := input.New(nil)
		require.NoError(t, err)
		m.Pressed("fire")
	},
	"inspect":     func(*testing.T) { inspect.New(inspect.Config{Samples: 1}) },
	"inspect/web": func(*testing.T) { web.New(nil, web.Config{MaxStreams: -1}) },
	"internal/game": func(t *testing.T) {
		v := game(t, func(f *foretick.Frame) { f.Rewind(1) })
		for i := range 9 {
			v.Step(time.Unix(0, int64(i)*1e8))
		}
	},
	"lagcomp": func(t *testing.T) {
		h, err := lagcomp.NewHistory(lagcomp.Config{})
		require.NoError(t, err)
		h.End()
	},
	"netcode":  func(*testing.T) { netcode.NewConn(netcode.Config{MTU: 1}) },
	"server":   func(t *testing.T) { game(t, nil).Server().Step(time.Now()) },
	"snapshot": func(*testing.T) { snapshot.NewSource(schema.NewRegistry(), snapshot.SourceConfig{}).End() },
	"rollback": func(t *testing.T) {
		n := sim.NewNetwork(1)
		p := foretick.NewProtocol("misuse", 1)
		var cmd ecs.Component[press]
		var body ecs.Prefab
		p.Command(&cmd)
		p.Prefab(&body, "body", &cmd)
		end := &steps{Endpoint: n.Dial(n.Listen(), sim.LAN, sim.LAN)}
		peer, err := rollback.New(rollback.Config{Protocol: p, Transport: end, Observe: true})
		require.NoError(t, err)
		end.step = func() { peer.Step(time.Unix(1, 0)) }
		end.step()
	},
	"transport/impair": func(*testing.T) { impair.Wrap(transport.Endpoint(nil), sim.Link{}, sim.Link{}, 1) },
	"transport/sim": func(*testing.T) {
		n := sim.NewNetwork(1)
		n.Restart(n.Dial(n.Listen(), sim.LAN, sim.LAN))
	},
}

// recovered returns the error that a call panics with.
func recovered(t *testing.T, call func(t *testing.T)) (err error) {
	defer func() {
		var ok bool
		err, ok = recover().(error)
		require.True(t, ok, "it panics with an error")
	}()
	call(t)
	return nil
}

// TestOneType: whichever package is called wrongly, one errors.As finds the panic's type, as a value.
func TestOneType(t *testing.T) {
	for pkg, call := range misuses {
		err := recovered(t, call)
		var usage foretick.UsageError
		require.ErrorAs(t, err, &usage, pkg)
		require.Equal(t, err, usage, pkg)
		name := filepath.Base(pkg)
		if pkg == "" || pkg == "client" || pkg == "server" || name == "game" || name == "rollback" {
			name = "foretick"
		}
		require.Regexp(t, `^(inspect/)?`+name+`: \w`, usage.Text)
	}
}

// TestUsageErrorUnwraps: what caused a wrong call can be found too.
func TestUsageErrorUnwraps(t *testing.T) {
	var config *netcode.ConfigError
	require.ErrorAs(t, recovered(t, misuses["netcode"]), &config)
	var bad *lagcomp.ConfigError
	require.ErrorAs(t, recovered(t, func(*testing.T) { lagcomp.NewJudge(lagcomp.Config{TickRate: -1}) }), &bad)

	types := ecs.NewTypes()
	var c, other ecs.Component[press]
	var k ecs.Prefab
	require.NoError(t, types.Register(&c))
	require.NoError(t, types.Register(&other, ecs.Named("other")))
	require.NoError(t, types.RegisterPrefab(&k, "k", &c))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&k, 0)
	for _, gone := range []bool{false, true} {
		if gone {
			w.Destroy(e)
		}
		err := recovered(t, func(*testing.T) { other.Get(w, e) })
		var usage foretick.UsageError
		require.ErrorAs(t, err, &usage)
		require.EqualError(t, err, usage.Text)
		require.ErrorAs(t, err, new(ecs.AccessError))
		require.Equal(t, gone, errors.Is(err, ecs.ErrStale))
	}
}

// TestEveryPackageIsCalled: each package of the module that raises such panics is in the table.
func TestEveryPackageIsCalled(t *testing.T) {
	root := releasetest.Root(t)
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && name != root && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if strings.HasSuffix(i.Path.Value, `/internal/misuse"`) {
				dir, err := filepath.Rel(root, filepath.Dir(name))
				if err != nil {
					return err
				}
				found[strings.TrimPrefix(filepath.ToSlash(dir), ".")] = true
			}
		}
		return nil
	}))
	for pkg := range found {
		require.Contains(t, misuses, pkg)
	}
	require.Len(t, misuses, len(found))
}
