package screentest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/internal/plantedtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/udp"
)

type spark struct {
	Heat uint8
}

// flames is a fault of which the table has none: the client alone spawns.
func flames(g *plantedtest.Game, p *foretick.Protocol) {
	var heat ecs.Component[spark]
	var flame ecs.Prefab
	p.Component(&heat, foretick.Predicted())
	p.Prefab(&flame, "flame", &heat)
	p.Spawns(&flame, foretick.SpawnConfig{})
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		if f.IsServer() || f.Tick%8 != 0 {
			return
		}
		for i := range g.Pos.Slice(rows) {
			heat.Get(f.World, f.SpawnBy(rows.Entity(i), &flame)).Heat = 5
		}
	}, ecs.With(&g.Cmd), ecs.Read(&g.Pos), ecs.Create(&heat), ecs.After("move"))
}

// played is a match over UDP of two players, as some faults need.
type played struct {
	server  *plantedtest.Record
	clients [2]*plantedtest.Record
}

// play plays matches over UDP, one for each fault, and returns a page of their servers and of
// each match's second client. These ends are the match's name with " server" and " client".
func play(t *testing.T, faults map[string]plantedtest.Plant) (*httptest.Server, map[string]played) {
	in := inspect.New(inspect.Config{})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	matches := map[string]played{}
	for name, fault := range faults {
		m := played{server: &plantedtest.Record{}}
		end := func(r *plantedtest.Record) simtest.Player {
			return (&plantedtest.Game{Ran: r}).End(func(g *plantedtest.Game, p *foretick.Protocol) {
				p.SetTickRate(60)
				if fault != nil {
					fault(g, p)
				}
			})
		}
		listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
		require.NoError(t, err)
		srv, err := server.New(server.Config{Protocol: end(m.server).Protocol, Transport: listen})
		require.NoError(t, err)
		require.NoError(t, in.AddServer(name+" server", srv))
		done.Go(func() { _ = srv.Run(ctx) })
		for i := range m.clients {
			m.clients[i] = &plantedtest.Record{}
			dialed, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
			require.NoError(t, err)
			player := end(m.clients[i])
			c, err := client.New(client.Config{Protocol: player.Protocol, Transport: dialed, Sample: player.Sample})
			require.NoError(t, err)
			if i == 1 {
				require.NoError(t, in.AddClient(name+" client", c))
			}
			done.Go(func() { _ = c.Run(ctx, time.Second/60, nil) })
		}
		matches[name] = m
	}
	h := web.New(in, web.Config{Authorize: func(*http.Request) bool { return true }})
	mux := http.NewServeMux()
	mux.Handle("/inspect/", h)
	site := httptest.NewServer(mux)
	t.Cleanup(func() {
		h.Close()
		site.Close()
		stop()
		done.Wait()
	})
	return site, matches
}

// traced is what the page says of its trace: see trace.js.
type traced struct {
	Of, State, Why, Says, View    string
	Tick, Ticks, Compared, Faults float64
	Following                     bool
	First                         *struct {
		System, Prefab, Component, Field, Excuse string
		Tick, Entity                             float64
		Before, After                            struct{ Client, Server any }
	}
	Ordered, Alone, Table, Found []string // lines of the tables
}

// rounded is more than half a step of a position: see plantedtest.Position.
const rounded = 0.0051

const traceState = `(() => {
	const lines = q => [...document.querySelectorAll(q)].filter(e => e.offsetParent).map(e => e.innerText);
	return JSON.stringify({ ...inspector.read().trace, ordered: lines("#trace-differences tbody tr"), alone: lines("#trace-alone-list li"), table: lines("#trace-table tbody tr"), found: lines("#trace-found li") });
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

// names fails unless the page names the fault, and shows the values that the ends' systems
// wrote. It is to read and to see the same.
func (p *tab) names(m played, want plantedtest.Place, what string) traced {
	p.t.Helper()
	s := p.traces(what, func(s traced) bool { return s.First != nil && s.First.Excuse == "" && len(s.Ordered) > 0 })
	f := s.First
	require.Equal(p.t, want, plantedtest.Place{System: f.System, Prefab: f.Prefab, Component: f.Component, Field: f.Field}, what)
	require.Equal(p.t, s.Tick, f.Tick, what)
	require.False(p.t, s.Following, "%s: it stops at a fault", what)
	require.GreaterOrEqual(p.t, s.Faults, 1., what)
	var values []float64
	for _, v := range []any{f.Before.Client, f.Before.Server, f.After.Client, f.After.Server} {
		require.IsType(p.t, 0., v, what)
		values = append(values, v.(float64))
	}
	require.Equal(p.t, values[0], values[1], "%s: before", what)
	require.NotEqual(p.t, values[2], values[3], "%s: after", what)
	require.True(p.t, m.wrote(f.Tick, values), "%s: tick %v: nobody's system wrote %v", what, f.Tick, values)

	shown := make([]string, len(values)) // with the unit, in 10 digits as the page has them
	for i, v := range values {
		shown[i] = strconv.FormatFloat(v, 'f', -1, 64) + " m"
	}
	who, name := fmt.Sprintf("%s %v", want.Prefab, f.Entity), want.Component+"."+want.Field+" (place)"
	require.Equal(p.t, fmt.Sprintf("System “%s” differed first, in %s of %s. Before it the client had %s and the server %s. After it the client has %s and the server %s.",
		want.System, name, who, shown[0], shown[1], shown[2], shown[3]), s.Says, what)
	require.Equal(p.t, append([]string{"≠ first here", want.System, who, name}, shown...), strings.Split(s.Ordered[0], "\t"), what)
	return s
}

// wrote reports whether both ends' systems wrote these values in a tick: before on the client
// and the server, and after. A predicted value is rounded where it is stored.
func (m played) wrote(tick float64, values []float64) bool {
	same := func(r *plantedtest.Record, player foretick.PlayerID, before, after float64) bool {
		return slices.ContainsFunc(r.Of(foretick.Tick(tick), player), func(w plantedtest.Write) bool {
			return math.Abs(float64(w.Before)-before) <= rounded && math.Abs(float64(w.After)-after) <= rounded
		})
	}
	for player := foretick.PlayerID(1); int(player) <= len(m.clients); player++ {
		for _, cl := range m.clients {
			if same(cl, player, values[0], values[2]) && same(m.server, player, values[1], values[3]) {
				return true
			}
		}
	}
	return false
}

// In release builds over UDP the page names the system and the field of each sort of fault
// that recurs, and both ends' values before and after it, on the client's page and on the
// server's. It shows what exists on one end only, and names nothing in a match without a fault.
func TestTrace(t *testing.T) {
	t.Parallel()
	plants, want := map[string]plantedtest.Plant{"sound": nil, "flames": flames}, map[string]plantedtest.Place{}
	for name, fault := range plantedtest.Faults() {
		if fault.Recurs() {
			plants[name], want[name] = fault.Plant, fault.Traced
		}
	}
	require.Len(t, want, 12)
	site, matches := play(t, plants)
	p := open(t, browse(t, ""), site.URL+"/inspect/")
	p.do(emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(1600, 1000, 1, false))
	p.inspects("connects", func(s inspected) bool { return s.Connected })
	p.do(chromedp.Click("#tab-trace", chromedp.ByID))
	named := map[string]int{}
	for name, place := range want {
		for _, end := range []string{"client", "server"} {
			p.of(name + " " + end)
			s := p.names(matches[name], place, name+" on the "+end+"'s page")
			t.Logf("%s, on the %s's page: %s", name, end, s.Says)
			named[end]++
		}
	}
	t.Logf("%d of 12 named on the client's page, %d on the server's", named["client"], named["server"])
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

	for _, end := range []string{"server", "client"} {
		p.of("sound " + end)
		s = p.traces("both ends compute the same, on the "+end+"'s page", func(s traced) bool { return s.Compared > 120 })
		require.Zero(t, s.Faults)
		require.Nil(t, s.First)
		require.Empty(t, s.Ordered)
		require.Empty(t, s.Found)
		require.Contains(t, s.Says, "✓ Both ends computed the same.")
	}
	p.views("trace-sound", "dark")
	require.Empty(t, p.inspects("is well", func(s inspected) bool { return s.Connected }).Errors)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.faults)
}

// A client's page arms the trace of its player, also where nobody opens the tab. A server's
// page arms none.
func TestPageOfAClientArmsItsTrace(t *testing.T) {
	t.Parallel()
	site, _ := play(t, map[string]plantedtest.Plant{"one": nil, "other": nil})
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

// steps goes from tick to tick, and from the client's tick to the server's and back, by keys,
// around a tick that is older than the newest that the page keeps.
func (p *tab) steps() {
	p.t.Helper()
	const newest = 256
	p.do(chromedp.Focus("#trace-strip", chromedp.ByID))
	was := p.traces("stands", func(s traced) bool { return !s.Following && s.Ticks > newest })
	p.do(chromedp.KeyEvent("\u0302")) // left
	s := p.traces("the tick before", func(s traced) bool { return s.Tick == was.Tick-1 })
	p.do(chromedp.KeyEvent("\u0303")) // right
	p.traces("the tick again", func(s traced) bool { return s.Tick == was.Tick })
	p.do(chromedp.KeyEvent("c"))
	s = p.traces("the client's tick", func(s traced) bool { return s.View == "client" })
	require.NotContains(p.t, strings.Join(s.Table, "\n"), "≠")
	cl := s.Table
	p.do(chromedp.KeyEvent("s"))
	s = p.traces("the server's tick", func(s traced) bool { return s.View == "server" })
	require.NotEqual(p.t, cl, s.Table)
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
	p.of("global chance client")
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
