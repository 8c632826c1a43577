package collector_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/stats/collector"
	"github.com/foretick/foretick/stats/metrics"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// A program serves the metrics of its host at /metrics.
func Example() {
	var h *host.Host // the program's host
	mux := http.NewServeMux()

	reg := prometheus.NewRegistry()
	reg.MustRegister(collector.New(h, collector.Config{}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
}

type position struct {
	X float32 `net:"min=-512,max=512,step=0.01"`
}

type move struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

// protocol returns the protocol of a small game.
func protocol() *foretick.Protocol {
	var pos ecs.Component[position]
	var cmd ecs.Component[move]
	var avatar ecs.Prefab
	p := foretick.NewProtocol("collected", 1)
	p.Component(&pos, foretick.Predicted())
	p.Command(&cmd)
	p.Prefab(&avatar, "avatar", &pos, &cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&avatar, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		at, by := pos.Slice(rows), cmd.Slice(rows)
		for i := range at {
			at[i].X += float32(by[i].X * f.DT)
		}
	}, ecs.Read(&cmd), ecs.Write(&pos))
	return p
}

// named is an endpoint whose peers have identities, by address.
type named struct {
	*sim.Endpoint
	names map[string]string
}

// AppendCounts implements transport.Counted: a simulated endpoint has no counters of its own.
func (n *named) AppendCounts(dst []transport.Count) []transport.Count {
	return append(dst, transport.Count{Layer: "sim", Name: "overrun", N: 3},
		transport.Count{Layer: "sim", Name: "forged", Refusal: "another key", N: 312}, transport.Count{Layer: "sim", Name: "forged", Refusal: "again", N: 1})
}

func (n *named) Info(p transport.PeerID, out *transport.Info) bool {
	ok := n.Endpoint.Info(p, out)
	out.Identity = []byte(n.names[out.Addr])
	return ok
}

// hall is a host in virtual time, with a page of metrics.
type hall struct {
	*testing.T
	net  *sim.Network
	end  *named
	host *host.Host
	bots []*bots.Light
	page *httptest.Server
}

// newHall makes a host. Its ticks take as many milliseconds as the kind of their match says.
func newHall(t *testing.T, cfg collector.Config) *hall {
	t.Helper()
	w := &hall{T: t, net: sim.NewNetwork(5)}
	w.end = &named{w.net.Listen(), map[string]string{}}
	var err error
	w.host, err = host.New(host.Config{
		Transport: w.end, OnDemand: true, MaxMatches: 200,
		Kind: func(name string) string { kind, _, _ := strings.Cut(name, "-"); return kind },
		NewMatch: func(name string, end transport.Endpoint) (host.Match, error) {
			each := 100 * time.Microsecond
			if strings.HasPrefix(name, "siege") {
				each = time.Millisecond
			}
			var clock atomic.Int64
			return server.New(server.Config{Protocol: protocol(), Transport: end, Clock: func() time.Duration { return time.Duration(clock.Add(int64(each))) }})
		}})
	require.NoError(t, err)
	reg := prometheus.NewPedanticRegistry() // it checks that the metrics are as described
	reg.MustRegister(collector.New(w.host, cfg))
	w.page = httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	t.Cleanup(w.page.Close)
	return w
}

func (w *hall) join(match, who string) {
	w.Helper()
	light, err := bots.New(protocol(), func(dst *move, _ int, _ uint32) { dst.X = 1 })
	require.NoError(w, err)
	e := w.net.Dial(w.end.Endpoint, sim.Link{}, sim.Link{})
	w.end.names[sim.Addr(e.ID())] = string(ticket.JoinIdentity(match, []byte(who)))
	b, err := light.Join(0, e)
	require.NoError(w, err)
	w.bots = append(w.bots, b)
}

func (w *hall) run(d time.Duration) {
	for end := w.net.Now() + d; w.net.Now() < end; {
		w.net.Run(w.net.Now() + 10*time.Millisecond)
		now := time.Unix(9000, 0).Add(w.net.Now())
		w.host.Step(now)
		for _, b := range w.bots {
			if !now.Before(b.Next()) {
				_ = b.Step(now)
			}
		}
	}
}

// scrape returns the page, and its values by name with labels.
func (w *hall) scrape() (page string, series map[string]float64) {
	w.Helper()
	r, err := http.Get(w.page.URL)
	require.NoError(w, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(w, err)
	require.Equal(w, http.StatusOK, r.StatusCode, string(b))
	series = map[string]float64{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && !strings.HasPrefix(line, "#") {
			series[name+"}"], err = strconv.ParseFloat(value, 64)
			require.NoError(w, err, line)
		}
	}
	return string(b), series
}

// TestScrape: a scrape has the median and the 99th percentile of the tick time by kind of match, and
// the figures of the servers.
func TestScrape(t *testing.T) {
	w := newHall(t, collector.Config{MatchLimit: 100})
	w.join("duel-1", "one")
	w.join("duel-1", "two")
	w.join("siege-1", "one")
	w.join("duel-\xff", "one") // a name need not be UTF-8
	w.run(3 * time.Second)
	page, series := w.scrape()
	var sum stats.Host
	w.host.Figures(&sum)
	for i, kind := range []string{"duel", "siege"} {
		k := &sum.Kinds[i].Sum
		of := fmt.Sprintf(`{kind="%s"}`, kind)
		require.Equal(t, float64(k.Ticks), series["foretick_ticks_total"+of])
		require.Equal(t, float64(k.TickTime.Count()), series["foretick_tick_seconds_count"+of])
		require.Equal(t, float64(k.TickTime.Count()), series[fmt.Sprintf(`foretick_tick_seconds_bucket{kind="%s",le="+Inf"}`, kind)])
		require.Equal(t, float64(k.BytesOut), series[fmt.Sprintf(`foretick_bytes_total{direction="out",kind="%s"}`, kind)])
		require.Equal(t, float64(k.Players), series[fmt.Sprintf(`foretick_players{kind="%s",state="playing"}`, kind)])
		for _, q := range []string{"0.5", "0.99"} {
			name := fmt.Sprintf(`foretick_tick_quantiles_seconds{kind="%s",quantile="%s"}`, kind, q)
			require.Positive(t, series[name], name)
			t.Logf("%s %v", name, series[name])
		}
	}
	p50 := func(kind string) float64 {
		return series[fmt.Sprintf(`foretick_tick_quantiles_seconds{kind="%s",quantile="0.5"}`, kind)]
	}
	require.InEpsilon(t, 10, p50("siege")/p50("duel"), 0.5, "their clocks differ by ten")
	require.Positive(t, series[`foretick_system_seconds_total{kind="duel",system="move"}`])
	require.Equal(t, 2.0, series[`foretick_match_players{kind="duel",match="duel-1"}`])
	require.Equal(t, 1.0, series[`foretick_match_players{kind="duel",match="\"duel-\\xff\""}`], page)
	require.Contains(t, page, "foretick_host_peers 4\n")
	require.Equal(t, 3.0, series[`foretick_endpoint_events_total{event="overrun",layer="sim",part=""}`])
	require.Equal(t, 313.0, series[`foretick_endpoint_refused_total{layer="sim",part="",reason="forged"}`])
}

// TestEndpoints: each counter of each endpoint over sockets is in a scrape, both of a host and of a
// single server.
func TestEndpoints(t *testing.T) {
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	join := func() transport.Endpoint {
		plain, err := udp.Listen("127.0.0.1:0", udp.Config{})
		require.NoError(t, err)
		sealed, err := dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: &cert})
		require.NoError(t, err)
		web, err := ws.Listen("127.0.0.1:0", ws.Config{})
		require.NoError(t, err)
		all, err := multi.New(plain, sealed, web)
		require.NoError(t, err)
		return all
	}
	h, err := host.New(host.Config{Transport: join(), NewMatch: func(string, transport.Endpoint) (host.Match, error) { return nil, nil }})
	require.NoError(t, err)
	h.Step(time.Unix(9000, 0))
	srv, err := server.New(server.Config{Protocol: protocol(), Transport: join()})
	require.NoError(t, err)
	for of, source := range map[string]collector.Source{"host": h, "server": collector.Of("arena", srv)} {
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(collector.New(source, collector.Config{}))
		families, err := reg.Gather()
		require.NoError(t, err)
		found := map[string]bool{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				key := f.GetName()
				for _, l := range m.GetLabel() {
					key += " " + l.GetValue()
				}
				found[key] = true
			}
		}
		for _, c := range []struct {
			part, layer string
			of          any
		}{{"udp", "udp", udp.Counters{}}, {"udp", "multi", multi.Counters{}}, {"dtls", "dtls", dtls.Counters{}}, {"dtls", "udp", udp.Counters{}}, {"ws", "ws", ws.Counters{}}} {
			for f := range reflect.TypeOf(c.of).Fields() {
				if f.Type.Kind() != reflect.Uint64 {
					continue // a name, or a number that is not a total
				}
				name := strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(f.Name, "${1}_$2"))
				require.True(t, found["foretick_endpoint_events_total "+name+" "+c.layer+" "+c.part] || found["foretick_endpoint_refused_total "+c.layer+" "+c.part+" "+name],
					"%s of %s in %s of a %s", f.Name, c.layer, c.part, of)
			}
		}
	}
	require.NoError(t, srv.Close(""))
	require.NoError(t, h.Close(""))
}

// TestText: package metrics writes the same page as Prometheus's client, byte for byte.
func TestText(t *testing.T) {
	w := newHall(t, collector.Config{MatchLimit: 100})
	w.join("duel-1", "one")
	w.join("siege-2", "two")
	w.join("duel-\xff \"\\\n", "one")
	w.run(15 * time.Second)
	page, _ := w.scrape()
	var own strings.Builder
	require.NoError(t, metrics.Write(&own, w.host, metrics.Config{MatchLimit: 100}))
	require.Contains(t, page, "foretick_rtt_seconds_count{kind=\"duel\"} 2\n")
	require.Equal(t, strings.Split(page, "\n"), strings.Split(own.String(), "\n"))
}

// TestMatchLimit: matches have series of their own only if the config asks for it, and only up to the
// limit.
func TestMatchLimit(t *testing.T) {
	for _, c := range []struct{ limit, matches, want int }{{0, 1, 0}, {100, 100, 100}, {3, 3, 3}, {3, 4, 0}} {
		w := newHall(t, collector.Config{MatchLimit: c.limit})
		for i := range c.matches {
			require.NoError(t, w.host.Allocate(fmt.Sprint("duel-", i)))
		}
		w.run(50 * time.Millisecond)
		page, _ := w.scrape()
		require.Equal(t, c.want, strings.Count(page, "\nforetick_match_players{"), "%+v", c)
		require.Contains(t, page, fmt.Sprintf("foretick_matches{kind=\"duel\"} %d\n", c.matches))
	}
}

// TestSingleServer: a server without a host has the same metrics.
func TestSingleServer(t *testing.T) {
	net := sim.NewNetwork(1)
	srv, err := server.New(server.Config{Protocol: protocol(), Transport: net.Listen()})
	require.NoError(t, err)
	for i := range 11 {
		srv.Step(time.Unix(0, 0).Add(time.Duration(i) * time.Second / 30))
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(collector.New(collector.Of("arena", srv), collector.Config{}))
	families, err := reg.Gather()
	require.NoError(t, err)
	found := false
	for _, f := range families {
		require.NotContains(t, f.GetName(), "foretick_host_")
		if f.GetName() == "foretick_ticks_total" {
			found = true
			require.Equal(t, 10.0, f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	require.True(t, found)
}

// TestConfig: zero is the default, and an absurd value names the field.
func TestConfig(t *testing.T) {
	var h *host.Host
	fieldtest.Config[collector.Config](t, fieldtest.Rules{}, func(c collector.Config) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%v", v)
			}
		}()
		collector.New(h, c)
		return nil
	})
	require.PanicsWithError(t, "collector: New: there is no source: pass a *host.Host, or Of a server", func() { collector.New(nil, collector.Config{}) })
}

// dashboard has the parts of the dashboard that the tests read.
type dashboard struct {
	Title      string `json:"title"`
	UID        string `json:"uid"`
	Templating struct {
		List []struct{ Name, Definition string }
	} `json:"templating"`
	Panels []struct {
		ID          int
		Type, Title string
		FieldConfig struct{ Defaults struct{ Unit string } }
		GridPos     struct{ H, W, X, Y int }
		Targets     []struct{ Expr, RefID string }
	} `json:"panels"`
}

// TestGuide: the guide's table has each metric of a scrape, with its type and labels.
func TestGuide(t *testing.T) {
	w := newHall(t, collector.Config{MatchLimit: 100})
	w.join("duel-1", "one")
	w.run(time.Second)
	page, _ := w.scrape()
	guide, err := os.ReadFile("../../docs/guide/hosting.md")
	require.NoError(t, err)
	types := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(foretick_\\w+)` \\| (\\w+), \\w+ \\| (.*?) \\|").FindAllStringSubmatch(string(guide), -1) {
		types[m[1]] = m[2]
		for l := range strings.SplitSeq(m[3], ", ") {
			if l != "–" {
				require.Regexp(t, m[1]+`\w*\{[^}]*\b`+l+`="`, page)
			}
		}
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`).FindAllStringSubmatch(page, -1) {
		found[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^# HELP (\w+) The counter \w+ of stats\.Counters\.$`).FindAllStringSubmatch(page, -1) {
		delete(found, m[1]) // the guide has one sentence for all of them
	}
	require.Equal(t, found, types)
}

// TestDashboard: the dashboard is valid, and all metrics and labels that it names are in a scrape.
func TestDashboard(t *testing.T) {
	w := newHall(t, collector.Config{MatchLimit: 100})
	w.join("duel-1", "one")
	w.run(time.Second)
	page, _ := w.scrape()
	have, labels := map[string]bool{}, map[string]bool{"le": true}
	for _, m := range regexp.MustCompile(`(?m)^(foretick_\w+)(\{.*\})? `).FindAllStringSubmatch(page, -1) {
		have[m[1]] = true
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = true
		}
	}
	var d dashboard
	require.NoError(t, json.Unmarshal(collector.Dashboard, &d))
	require.NotEmpty(t, d.Title)
	require.NotEmpty(t, d.UID)
	check := func(expr string) {
		t.Helper()
		names := regexp.MustCompile(`foretick_\w+`).FindAllString(expr, -1)
		require.NotEmpty(t, names, expr)
		for _, name := range names {
			require.True(t, have[name], "%s of %s is in no scrape", name, expr)
		}
		for _, m := range regexp.MustCompile(`(?:by|ignoring) \(([^)]*)\)|[{,] ?(\w+)=`).FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(m[1]+m[2], ", ") {
				require.True(t, labels[l], "label %q of %s is in no scrape", l, expr)
			}
		}
		require.Equal(t, strings.Count(expr, "("), strings.Count(expr, ")"), expr)
	}
	require.Len(t, d.Templating.List, 2)
	check(d.Templating.List[1].Definition)
	taken, ids := map[[2]int]int{}, map[int]bool{}
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "two panels %d", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Zero(t, taken[at], "%s lies on panel %d", p.Title, taken[at])
				taken[at] = p.ID
			}
		}
		for _, target := range p.Targets {
			check(target.Expr)
		}
	}
	require.Greater(t, len(d.Panels), 10)
}
