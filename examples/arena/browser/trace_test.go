package browser

import (
	"context"
	"encoding/json"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/transport/udp"
)

type glider struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01" name:"place" unit:"m"`
}

type stick struct {
	X int8 `net:"min=-1,max=1"`
}

type spark struct {
	Heat uint8
}

// gliders is a game with room for a fault in its system "planted".
type gliders struct {
	pos    ecs.Component[glider]
	heat   ecs.Component[spark]
	cmd    ecs.Component[stick]
	player ecs.Prefab
	flame  ecs.Prefab
}

func (g *gliders) protocol(fault func(g *gliders, f *foretick.Frame, rows ecs.Rows)) *foretick.Protocol {
	p := foretick.NewProtocol("gliders", 1)
	p.SetTickRate(60)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.heat, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.player, "glider", &g.pos, &g.cmd)
	p.Prefab(&g.flame, "flame", &g.heat)
	p.Spawns(&g.flame, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Shared("glide", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			if pos[i].X += float32(float32(cmd[i].X) * 3 * f.DT); pos[i].X > 50 {
				pos[i].X = -50
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		if fault != nil {
			fault(g, f, rows)
		}
	}, ecs.With(&g.cmd), ecs.Write(&g.pos), ecs.Create(&g.heat), ecs.After("glide"))
	return p
}

// glide plays matches over UDP, one for each fault, and returns a page of their servers and
// clients. A match's ends are its name with " server" and " client".
func glide(t *testing.T, faults map[string]func(g *gliders, f *foretick.Frame, rows ecs.Rows)) *httptest.Server {
	in := inspect.New(inspect.Config{})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for name, fault := range faults {
		listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
		require.NoError(t, err)
		srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: new(gliders).protocol(fault), Transport: listen})
		require.NoError(t, err)
		end, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		require.NoError(t, err)
		g := new(gliders)
		c, err := foretick.NewClient(foretick.ClientConfig{Protocol: g.protocol(fault), Transport: end, Sample: foretick.Sample(&g.cmd, func(v foretick.View) stick { return stick{X: int8(v.Tick/40%3) - 1} })})
		require.NoError(t, err)
		require.NoError(t, in.AddServer(name+" server", srv))
		require.NoError(t, in.AddClient(name+" client", c))
		done.Go(func() { _ = srv.Run(ctx) })
		done.Go(func() { _ = c.Run(ctx, time.Second/60, nil) })
	}
	h := web.New(in, web.Config{})
	mux := http.NewServeMux()
	mux.Handle("/inspect/", h)
	site := httptest.NewServer(mux)
	t.Cleanup(func() {
		h.Close()
		site.Close()
		stop()
		done.Wait()
	})
	return site
}

// traced is what the page says of its trace: see trace.js.
type traced struct {
	Of, State, Why, Says, View    string
	Tick, Ticks, Compared, Faults float64
	Following                     bool
	First                         *struct {
		System, Prefab, Component, Field, Excuse string
		Tick                                     float64
		Before, After                            struct{ Client, Server any }
	}
	Ordered, Alone, Table []string // lines of the tables
}

const traceState = `(() => {
	const lines = q => [...document.querySelectorAll(q)].filter(e => e.offsetParent).map(e => e.innerText);
	return JSON.stringify({ ...inspector.read().trace, ordered: lines("#trace-differences tbody tr"), alone: lines("#trace-alone-list li"), table: lines("#trace-table tbody tr") });
})()`

func (p *tab) traces(what string, want func(traced) bool) (s traced) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var text string
		err := chromedp.Run(p, chromedp.Evaluate(traceState, &text))
		if err == nil {
			s = traced{}
			require.NoError(p.t, json.Unmarshal([]byte(text), &s))
			if want(s) {
				return s
			}
		}
		require.True(p.t, time.Now().Before(end), "%s: not within %v: %+v, %v", what, patience, s, err)
	}
}

// of traces a player of another server, or another client.
func (p *tab) of(end string) {
	p.t.Helper()
	defer func() { p.traces("it traces "+end, func(s traced) bool { return strings.HasPrefix(s.Of, end+"\n") }) }()
	p.do(chromedp.SetValue("#end", end, chromedp.ByID), chromedp.Evaluate(`document.getElementById("end").dispatchEvent(new Event("change"))`, nil))
}

// In release builds over UDP the page names the system and the field of a fault, and both
// values before and after it, on the client's page and on the server's. It shows what exists
// on one end only, and names nothing in a match without a fault.
func TestTrace(t *testing.T) {
	type fault = func(g *gliders, f *foretick.Frame, rows ecs.Rows)
	push := func(by func(f *foretick.Frame) float32) fault {
		return func(g *gliders, f *foretick.Frame, rows ecs.Rows) {
			for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
				if pos[i].Y += by(f); pos[i].Y > 50 {
					pos[i].Y = -50
				}
			}
		}
	}
	site := glide(t, map[string]fault{
		"sound":  nil,
		"chance": push(func(*foretick.Frame) float32 { return rand.Float32() }),
		"rule": push(func(f *foretick.Frame) float32 {
			if f.IsServer() && f.Tick%3 == 0 {
				return 0.25
			}
			return 0
		}),
		"flames": func(g *gliders, f *foretick.Frame, rows ecs.Rows) {
			if f.IsServer() || f.Tick%8 != 0 {
				return
			}
			for i := range g.pos.Slice(rows) {
				g.heat.Get(f.World, f.SpawnBy(rows.Entity(i), &g.flame)).Heat = 5
			}
		},
	})
	p := open(t, browse(t, ""), site.URL+"/inspect/")
	p.do(emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(1600, 1000, 1, false))
	p.inspects("connects", func(s inspected) bool { return s.Connected })
	p.do(chromedp.Click("#tab-trace", chromedp.ByID))
	for _, name := range []string{"chance", "rule"} {
		for _, end := range []string{"client", "server"} {
			p.of(name + " " + end)
			s := p.traces(name+" is named on the "+end+"'s page", func(s traced) bool { return s.First != nil && s.First.Excuse == "" })
			f := s.First
			require.Equal(t, []string{"planted", "glider", "glider", "Y"}, []string{f.System, f.Prefab, f.Component, f.Field})
			require.Equal(t, f.Before.Client, f.Before.Server)
			require.NotEqual(t, f.After.Client, f.After.Server)
			require.Contains(t, s.Says, "System “planted” differed first, in glider.Y (place)")
			require.Contains(t, s.Ordered[0], "≠ first here")
			require.False(t, s.Following, "it stops at a fault")
			require.GreaterOrEqual(t, s.Faults, 1.)
		}
	}
	p.views("trace", "light", "dark")
	p.steps()
	p.compares()

	p.of("flames client")
	p.do(chromedp.Click("#trace-stop", chromedp.ByID))
	s := p.traces("an entity of one end", func(s traced) bool { return len(s.Alone) > 0 })
	require.Contains(t, s.Alone[0], "flame")
	require.Contains(t, s.Alone[0], "on the client only")
	require.Equal(t, "planted", s.First.System)
	require.Equal(t, "(entity)", s.First.Field)
	p.views("trace-alone", "light")

	p.of("sound client")
	s = p.traces("both ends compute the same", func(s traced) bool { return s.Compared > 120 })
	require.Zero(t, s.Faults)
	require.Nil(t, s.First)
	require.Empty(t, s.Ordered)
	require.Contains(t, s.Says, "✓ Both ends computed the same.")
	p.views("trace-sound", "dark")
	require.Empty(t, p.inspects("is well", func(s inspected) bool { return s.Connected }).Errors)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.faults)
}

// A client's page arms the trace of its player, also where nobody opens the tab. A server's
// page arms none.
func TestPageOfAClientArmsItsTrace(t *testing.T) {
	site := glide(t, map[string]func(g *gliders, f *foretick.Frame, rows ecs.Rows){"one": nil, "other": nil})
	p := open(t, browse(t, ""), site.URL+"/inspect/")
	p.do(emulation.SetFocusEmulationEnabled(true))
	p.inspects("connects", func(s inspected) bool { return s.Connected })
	recorded := func(end string) int { // trace.export arms nothing
		answer, err := http.Get(site.URL + "/inspect/trace.export?end=" + url.QueryEscape(end))
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		b, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s", b)
		return len(b)
	}
	none := recorded("other client")
	for _, end := range []string{"one server", "one client"} {
		p.of(end)
		p.inspects(end+" is shown", func(s inspected) bool { return s.End == end && s.Samples > 0 })
		if strings.HasSuffix(end, "server") {
			time.Sleep(time.Second)
			require.Equal(t, none, recorded("one client"), "a server's page arms nobody's")
		}
	}
	require.Eventually(t, func() bool { return recorded("one client") > none+500 }, patience, 100*time.Millisecond)
	require.Equal(t, none, recorded("other client"), "nobody opened its page")
	require.Empty(t, p.inspects("is well", func(s inspected) bool { return s.Connected }).Errors)
}

// steps goes from tick to tick, and from the client's tick to the server's and back, by keys.
func (p *tab) steps() {
	p.t.Helper()
	p.do(chromedp.Focus("#trace-strip", chromedp.ByID))
	was := p.traces("stands", func(s traced) bool { return !s.Following })
	p.do(chromedp.KeyEvent("\u0302")) // left
	s := p.traces("the tick before", func(s traced) bool { return s.Tick == was.Tick-1 })
	p.do(chromedp.KeyEvent("\u0303")) // right
	p.traces("the tick again", func(s traced) bool { return s.Tick == was.Tick })
	p.do(chromedp.KeyEvent("c"))
	s = p.traces("the client's tick", func(s traced) bool { return s.View == "client" })
	require.NotContains(p.t, strings.Join(s.Table, "\n"), "≠")
	client := s.Table
	p.do(chromedp.KeyEvent("s"))
	s = p.traces("the server's tick", func(s traced) bool { return s.View == "server" })
	require.NotEqual(p.t, client, s.Table)
	require.Equal(p.t, was.Tick, s.Tick)
	p.views("trace-server", "dark")
	p.do(chromedp.Focus("#trace-strip", chromedp.ByID), chromedp.KeyEvent("b"), chromedp.KeyEvent("\u001b"))
	p.traces("follows the newest", func(s traced) bool { return s.View == "both" && s.Following && s.Tick > was.Tick })
}

// awaits waits for a script's promise.
func awaits(r *runtime.EvaluateParams) *runtime.EvaluateParams { return r.WithAwaitPromise(true) }

// compares saves a trace, and opens a comparison of one with a tape.
func (p *tab) compares() {
	p.t.Helper()
	p.of("chance client")
	p.traces("chance again", func(s traced) bool { return s.First != nil })
	var saved, table string
	p.do(chromedp.Evaluate(`fetch(document.getElementById("trace-save").href).then(r => r.text()).then(t => t.slice(0, 16))`, &saved, awaits))
	require.Eventually(p.t, func() bool { // the rings hold 32 ticks, and both ends' need not be the same at any time
		p.do(chromedp.Evaluate(`fetch("trace.json?" + new URLSearchParams({ end: inspector.page.end, player: 0 })).then(r => r.text())`, &table, awaits))
		return strings.Contains(table, `"system":"planted","entity"`) && strings.Contains(table, `"first":`)
	}, patience, 100*time.Millisecond)
	require.Equal(p.t, "foretick trace 1", saved)
	dir := p.t.TempDir()
	good, bad := filepath.Join(dir, "beside.json"), filepath.Join(dir, "other.json")
	require.NoError(p.t, os.WriteFile(good, []byte(table), 0o600))
	require.NoError(p.t, os.WriteFile(bad, []byte("{}"), 0o600))
	p.do(chromedp.SetUploadFiles("#trace-open", []string{bad}, chromedp.ByID))
	p.says("is no comparison with a tape")
	p.do(chromedp.SetUploadFiles("#trace-open", []string{good}, chromedp.ByID))
	s := p.traces("a file", func(s traced) bool { return s.State == "file" && s.First != nil })
	require.Equal(p.t, "planted", s.First.System)
	p.says("beside the server's tape")
	time.Sleep(600 * time.Millisecond) // two questions to the running match would have come
	require.Equal(p.t, s.Ticks, p.traces("stays", func(traced) bool { return true }).Ticks)
	p.views("trace-beside", "light")
	p.do(chromedp.Click("#trace-live", chromedp.ByID))
	p.traces("goes on", func(s traced) bool { return s.State == "armed" })
}

// says waits for words of the trace's state.
func (p *tab) says(words string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		var text string
		return chromedp.Run(p, chromedp.Text("#trace-status", &text, chromedp.ByID)) == nil && strings.Contains(text, words)
	}, patience, 50*time.Millisecond, words)
}
