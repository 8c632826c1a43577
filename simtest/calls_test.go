package simtest_test

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
)

var allCalls = flag.Bool("calls.all", false, "TestEveryCallFromEveryFunction makes each call, not only the decisive ones and some of the others")

// decisive are the methods that change how a match continues.
var decisive = []string{"Client.Close", "Client.Step", "Frame.Destroy", "ServerFrame.Kick", "Server.Close", "Server.Draw", "Server.NextLevel", "Server.Shutdown", "Server.Step"}

// played are the functions of a game that run in a match of callMatch.
var played = []string{
	"CheckCommand", "client.Config.OnMisprediction", "client.Config.OnRefused", "client.Config.OnSession", "client.Config.OnSnapshot",
	"client.Config.Redial", "Decay", "Event.OnConfirmed", "Event.OnFinal", "Event.OnPredicted", "Event.OnServer",
	"Hitbox", "Hitboxes", "Interest", "Interpolate", "LifeID", "Message.OnClient", "PredictRemote",
	"Protocol.OnAppear", "Protocol.OnDisconnect", "Protocol.OnJoin", "Protocol.OnLeave", "Protocol.OnLevel", "Protocol.OnReconnect",
	"Protocol.OnVanish", "Protocol.Relevant", "Protocol.Render", "Protocol.Server", "Protocol.Shared", "Request.Handle", "client.Sample",
	"Server.Do", "Server.DoFor", "Server.NextLevel", "server.Config.Observe", "server.Config.OnDrain", "server.Config.OnPanic", "server.Config.OnTick",
	"SpawnConfig.OnCancelled", "SpawnConfig.OnConfirmed", "SpawnConfig.OnPredicted",
}

// unplayed are the functions of a game that do not run in it, with the reason.
var unplayed = map[string]string{
	"Client.Run":               "draw is called between Steps",
	"client.Config.Verify":     "runs in client.New, before there is a client",
	"server.Config.Verify":     "runs in server.New, before there is a server",
	"server.Config.Clock":      "is read by any goroutine and is given nothing of the match",
	"server.Config.AllowTrace": "runs where server.Config.Observe does",
	"Event.OnCancelled":        "runs where SpawnConfig.OnCancelled does",
	"SpawnConfig.OnRestored":   "runs where SpawnConfig.OnCancelled does",
}

// betweenTicks are the hooks that NextLevel runs between Steps too.
var betweenTicks = []string{"Protocol.OnJoin", "Protocol.OnLeave", "Protocol.OnDisconnect", "Protocol.OnReconnect"}

// The tables have every function that a game can pass, and every method of a server, client and
// frame. So a new one must be added to them.
func TestTableOfCallsIsComplete(t *testing.T) {
	var hooks []string
	for _, of := range []string{"", "server", "client"} {
		names, err := releasetest.Glob(filepath.Join("..", of, "*.go"))
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			for _, d := range file.Decls {
				for _, hook := range functionsGiven(d) {
					if end, _, _ := strings.Cut(hook, "."); of != "" && !strings.EqualFold(end, of) {
						hook = of + "." + hook // the names of methods of Server and Client have it already
					}
					hooks = append(hooks, hook)
				}
			}
		}
	}
	require.Greater(t, len(hooks), 40)
	require.ElementsMatch(t, hooks, append(slices.Collect(maps.Keys(unplayed)), played...))
	var methods []string
	frame := reflect.TypeFor[*foretick.Frame]()
	for _, of := range []reflect.Type{reflect.TypeFor[*server.Server](), reflect.TypeFor[*client.Client](), frame, reflect.TypeFor[*foretick.ServerFrame]()} {
		for i := range of.NumMethod() {
			name := of.Method(i).Name
			_, inner := frame.MethodByName(name)
			if name != "QueueRequest" && (of == frame || !inner) { // Request.Send calls it; a ServerFrame has a Frame's
				methods = append(methods, of.Elem().Name()+"."+name)
			}
		}
	}
	require.ElementsMatch(t, methods, slices.Collect(maps.Keys(callable)))
}

// functionsGiven lists the functions that a declaration takes from a game.
func functionsGiven(d ast.Decl) (out []string) {
	if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
		of := ""
		if f.Recv != nil {
			named := f.Recv.List[0].Type
			if p, ok := named.(*ast.StarExpr); ok {
				named = p.X
			}
			if g, ok := named.(*ast.IndexExpr); ok {
				named = g.X
			}
			if of = named.(*ast.Ident).Name + "."; !ast.IsExported(of) {
				return nil
			}
		}
		for _, p := range f.Type.Params.List {
			if _, ok := p.Type.(*ast.FuncType); ok {
				out = append(out, of+f.Name.Name)
			}
		}
		return out
	}
	decl, ok := d.(*ast.GenDecl)
	for i := 0; ok && i < len(decl.Specs); i++ {
		spec, _ := decl.Specs[i].(*ast.TypeSpec)
		if spec == nil || !spec.Name.IsExported() {
			continue
		}
		fields, _ := spec.Type.(*ast.StructType)
		for j := 0; fields != nil && j < len(fields.Fields.List); j++ {
			if f := fields.Fields.List[j]; len(f.Names) > 0 && f.Names[0].IsExported() {
				if _, ok := f.Type.(*ast.FuncType); ok {
					out = append(out, spec.Name.Name+"."+f.Names[0].Name)
				}
			}
		}
	}
	return out
}

// callOutcome is the result of a call in a function of a game.
type callOutcome struct {
	ran bool
	err error // an error, or a panic of the library's own
	bad any   // any other panic
}

// callMatch plays a match in which every function of a game runs. It makes the call in the first
// run of the function hook after one second.
func callMatch(t *testing.T, hook string, between bool, call func(k *callSite) error) (out callOutcome, k *callSite, bystander *client.Client) {
	m := simtest.New(3)
	k = &callSite{m: m}
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("hook %s, between ticks %v, frame of a server %v: the match ends with panic %v", hook, between, k.frame != nil && k.frame.IsServer(), v)
		}
	}()
	armed, changing := false, false
	runs := func(g *caller) func(string, *foretick.Frame) {
		return func(name string, f *foretick.Frame) {
			if name != hook || !armed || out.ran || between && !changing {
				return
			}
			out.ran, k.g = true, g
			if k.frame = f; f == nil {
				k.frame = k.srv.Frame().Frame
			}
			defer func() {
				if v := recover(); v != nil {
					err, _ := v.(error)
					if out.err = err; !errors.As(err, new(foretick.UsageError)) {
						out.bad = v
					}
				}
			}()
			out.err = call(k)
		}
	}
	g := &caller{deny: strings.HasSuffix(hook, "Cancelled")}
	g.runs = runs(g)
	var err error
	k.srv, err = m.Serve(server.Config{
		Protocol: g.protocol(), Tags: []string{foretick.TagRender}, Timeout: 600 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		Observe: func(server.Observer) (server.Grant, error) {
			g.runs("server.Config.Observe", nil)
			return server.Everything(), nil
		},
		OnPanic: func(server.Panic) { g.runs("server.Config.OnPanic", nil) },
		OnDrain: func(f *foretick.ServerFrame, _ string) { g.runs("server.Config.OnDrain", f.Frame) },
		OnTick:  func(f *foretick.ServerFrame) { g.runs("server.Config.OnTick", f.Frame) },
	})
	require.NoError(t, err)
	join := func(observe *client.Observe) *client.Client {
		cg := &caller{}
		cg.runs = runs(cg)
		cfg := client.Config{
			Protocol: cg.protocol(), Timeout: 600 * time.Millisecond, Observe: observe, Logger: slog.New(slog.DiscardHandler),
			OnMisprediction: func(prediction.Misprediction) { cg.runs("client.Config.OnMisprediction", nil) },
			OnRefused:       func(foretick.Tick, string) { cg.runs("client.Config.OnRefused", nil) },
			OnSession:       func(client.Session) { cg.runs("client.Config.OnSession", nil) },
			OnSnapshot:      func(foretick.Tick) { cg.runs("client.Config.OnSnapshot", nil) },
			Redial: func() (transport.Endpoint, error) {
				cg.runs("client.Config.Redial", nil)
				return m.Dial(callLink, callLink), nil
			},
		}
		if observe == nil {
			cfg.Sample = client.Sample(&cg.cmd, func(v client.View) callerMove {
				cg.runs("client.Sample", nil)
				return callerMove{X: []float32{0.5, -1, 0.25}[v.Tick/8%3], Fire: v.Tick%8 == 0}
			})
		}
		c, err := m.Join(cfg, simtest.Seat{Up: callLink, Down: callLink})
		require.NoError(t, err)
		if k.client == nil {
			k.client = c
		}
		return c
	}
	actor := join(nil)
	bystander = join(nil)
	leaver := join(nil)
	m.RunFor(time.Second)
	k.player, armed = actor.View().Player, true
	level := func(changed func() bool) { // right after a Step in which a player joined or left
		for i := 0; between && i < 1500 && !changed(); i++ {
			m.RunFor(time.Millisecond)
			k.srv.Step(m.Now())
		}
		changing = true
		defer func() { changing = false }()
		_ = k.srv.NextLevel([]byte("level"), func(f *foretick.ServerFrame) {
			for _, player := range k.srv.Players(nil) {
				f.Spawn(&g.body, player.ID)
			}
			g.runs("Server.NextLevel", f.Frame)
		})
	}
	_ = k.srv.Do("hook", func(f *foretick.ServerFrame) { g.runs("Server.Do", f.Frame) })
	_ = k.srv.DoFor(k.srv.Player(k.player), "hook", func(f *foretick.ServerFrame) { g.runs("Server.DoFor", f.Frame) })
	_ = g.ask.Send(actor, callerWord{})
	m.RunFor(200 * time.Millisecond)
	join(&client.Observe{})
	m.RunFor(200 * time.Millisecond)
	if hook == "server.Config.OnPanic" {
		_ = k.srv.Do("fails", func(*foretick.ServerFrame) { panic("planned") })
	}
	players := len(k.srv.Players(nil))
	require.NoError(t, m.Leave(leaver))
	level(func() bool { return len(k.srv.Players(nil)) < players })
	m.RunFor(100 * time.Millisecond)
	players = len(k.srv.Players(nil))
	join(nil)
	level(func() bool { return len(k.srv.Players(nil)) > players })
	m.Freeze(actor, true)
	away := func() bool { st, _ := k.srv.PlayerStats(k.srv.Player(k.player)); return st.RTT == 0 }
	if between {
		level(away)
	} else {
		m.RunFor(900 * time.Millisecond)
	}
	m.Freeze(actor, false)
	if between {
		resumed := k.srv.Stats().Resumed
		level(func() bool { return k.srv.Stats().Resumed > resumed })
	}
	k.srv.Drain("over")
	m.RunFor(1500 * time.Millisecond)
	return out, k, bystander
}

// every returns n for a method: only one of n of its calls is made.
func every(method string) int {
	long := costtest.Count(0, 1) > 0
	switch is := slices.Contains(decisive, method); {
	case is && long:
		return 1
	case is:
		return 19
	case long:
		return 20
	}
	return 211
}

// Each call from each function of a game either works, or is refused with an error that names it.
// No call ends the process, hangs, or makes the match stop.
func TestEveryCallFromEveryFunction(t *testing.T) {
	refused := map[string]int{}
	n, at := 0, 0
	for _, method := range slices.Sorted(maps.Keys(callable)) {
		for i, hook := range append(slices.Clone(played), betweenTicks...) {
			if at++; !*allCalls && at%every(method) != 0 {
				continue
			}
			between := i >= len(played)
			name := fmt.Sprintf("%s in %s, between ticks %v", method, hook, between)
			out, k, bystander := callMatch(t, hook, between, callable[method])
			if !assert.True(t, out.ran, "%s: it was not called", name) {
				continue
			}
			assert.Nil(t, out.bad, name)
			assert.NoError(t, k.m.Err(), name)
			if n++; out.err != nil {
				assert.NotEmpty(t, out.err.Error(), name)
				refused[method]++
			}
			before := k.srv.Tick()
			k.m.RunFor(200 * time.Millisecond)
			ended := k.srv.Close("over") != nil
			switch method {
			case "Server.Run": // it returns the context's error in any case
			case "Server.Close", "Server.CloseForRestart", "Server.Shutdown":
				assert.Equal(t, out.err == nil, ended, "%s: what it reports is what happens", name)
			default:
				assert.False(t, ended, name)
			}
			if !ended {
				assert.Greater(t, k.srv.Tick(), before, "%s: the match goes on", name)
				if bystander != k.client {
					assert.Equal(t, client.Playing, bystander.View().State, name)
				}
			}
		}
	}
	t.Logf("%d calls, refused by method: %v", n, refused)
}
