package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/udp"
)

type health struct {
	Points uint8 `net:"min=0,max=100"`
}

// serve runs a match of one entity, with a page. The prefix is any.
func serve(t *testing.T, cfg web.Config) (site *httptest.Server, srv *server.Server, e ecs.Entity, h *web.Handler) {
	t.Helper()
	var hp ecs.Component[health]
	var prop ecs.Prefab
	p := foretick.NewProtocol("props", 1)
	p.Component(&hp)
	p.Prefab(&prop, "prop", &hp)
	endpoint, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	srv, err = server.New(server.Config{Protocol: p, Transport: endpoint})
	require.NoError(t, err)
	e = srv.Frame().Spawn(&prop, ecs.Nobody)
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = srv.Run(ctx) })
	cfg.Logger = slog.New(slog.DiscardHandler)
	h = web.Server(srv, cfg)
	mux := http.NewServeMux()
	mux.Handle("/some/where/", h)
	site = httptest.NewServer(mux)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	if site.Client().Jar = jar; cfg.Authorize == nil {
		status, _ := do(t, site, "GET", strings.TrimPrefix(h.URL(""), "/"), "")
		require.Equal(t, 200, status, "the key opens the page")
	}
	t.Cleanup(func() {
		h.Close()
		site.Close()
		stop()
		done.Wait()
	})
	return site, srv, e, h
}

// Numbers out of their bounds are refused, by a panic that says which fit.
func TestConfig(t *testing.T) {
	fieldtest.Config[web.Config](t, fieldtest.Rules{Off: []string{"Linger"}}, func(c web.Config) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		web.New(inspect.New(inspect.Config{}), c).Close()
		return nil
	})
}

type change func(r *http.Request)

func header(name, value string) change { return func(r *http.Request) { r.Header.Set(name, value) } }
func host(name string) change          { return func(r *http.Request) { r.Host = name } }

func do(t *testing.T, site *httptest.Server, method, path, body string, changes ...change) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, site.URL+"/some/where/"+path, strings.NewReader(body))
	require.NoError(t, err)
	for _, c := range changes {
		c(r)
	}
	res, err := site.Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func get(t *testing.T, site *httptest.Server, path string, into any, changes ...change) {
	t.Helper()
	status, body := do(t, site, "GET", path, "", changes...)
	require.Equal(t, 200, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), into), body)
}

// Every endpoint answers, under any path.
func TestEndpoints(t *testing.T) {
	site, srv, e, _ := serve(t, web.Config{})
	for _, name := range []string{"", "page.css", "page.js", "charts.js", "tables.js", "trace.js"} {
		status, body := do(t, site, "GET", name, "")
		require.Equal(t, 200, status, name)
		require.NotEmpty(t, body)
		require.NotContains(t, body, "https://", "nothing is loaded from elsewhere")
	}
	var ends struct {
		Ends  []inspect.End
		Edit  bool
		Token string
	}
	get(t, site, "ends.json", &ends)
	require.Equal(t, "props", ends.Ends[0].Game)
	require.Empty(t, ends.Token)
	var series []inspect.Series
	get(t, site, "series.json?end=server", &series)
	require.Equal(t, "tick_ms", series[0].Key)
	require.Eventually(t, func() bool {
		var s inspect.Samples
		get(t, site, "samples.json", &s)
		return len(s.Ticks) > 3 && s.Values[2][0] > 0
	}, 10*time.Second, 50*time.Millisecond, "the time of a tick is measured")
	var all inspect.Entities
	get(t, site, "entities.json?q=prop", &all)
	require.Equal(t, inspect.EntityID(e), all.List[0].ID)
	var v inspect.Values
	get(t, site, "values.json?entity="+all.List[0].ID.String(), &v)
	require.Contains(t, v.Components, "health")
	for _, name := range []string{"players.json", "events.json", "logs.json", "prefabs.json", "systems.json"} {
		var some []map[string]any
		get(t, site, name, &some)
	}
	for name, want := range map[string]string{"graph.dot": "digraph", "export.jsonl": `"kind":"end"`, "chrome.json": "traceEvents"} {
		status, body := do(t, site, "GET", name, "")
		require.Equal(t, 200, status)
		require.Contains(t, body, want)
	}
	for path, want := range map[string]int{
		"nothing": 404, "values.json?entity=99999": 404, "values.json?entity=x": 400, "sight.json?player=x": 400, "sights.json?player=x": 400, "sights.json?player=1": 400, "sights.json?player=1&most=x": 400, "samples.json?end=nobody": 404, "stream?end=nobody": 404, "sight.json?player=1&entity=1": 404, "events.json?after=-1": 400,
	} {
		status, body := do(t, site, "GET", path, "")
		require.Equal(t, want, status, "%s: %s", path, body)
	}
	require.NotNil(t, probe.OfServer(srv).Tap(), "it lingers")
}

// A page of another origin looks at nothing, also in a browser that has the key.
func TestRefused(t *testing.T) {
	site, srv, _, h := serve(t, web.Config{AllowEdit: true})
	for name, changes := range map[string][]change{
		"foreign origin": {header("Origin", "https://evil.example")},
		"null origin":    {header("Origin", "null")},
		"another port":   {header("Origin", "http://127.0.0.1:1")},
		"cross-site":     {header("Sec-Fetch-Site", "cross-site")},
		"same-site":      {header("Sec-Fetch-Site", "same-site")},
		"foreign frame":  {header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")},
	} {
		for _, path := range []string{"", "ends.json", "stream", "entities.json", "export.jsonl"} {
			status, body := do(t, site, "GET", path, "", changes...)
			require.Equal(t, 403, status, "%s of %s: %s", name, path, body)
			require.NotContains(t, body, "props")
		}
	}
	require.Nil(t, probe.OfServer(srv).Tap(), "none of them opened it")
	link := []change{header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}
	status, _ := do(t, site, "GET", "", "", link...)
	require.Equal(t, 200, status, "a link to the page")
	status, _ = do(t, site, "GET", "ends.json", "", link...)
	require.Equal(t, 403, status)
	// A proxy that passes another host on than the browser's, in front of a browser that says who asks.
	keeps := func(r *http.Request) { r.AddCookie(asked(h, "GET", h.URL("/i/")).cookies[0]) }
	got := asked(h, "GET", "http://upstream/i/ends.json", keeps, header("Origin", "https://game.example"), header("Sec-Fetch-Site", "same-origin"))
	require.Equal(t, 200, got.status)
}

// answer is what a handler answers.
type answer struct {
	status  int
	header  http.Header
	cookies []*http.Cookie
}

// asked is what a handler answers to one request of a client without cookies.
func asked(h *web.Handler, method, target string, changes ...change) answer {
	r := httptest.NewRequest(method, target, nil)
	for _, c := range changes {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	_ = res.Body.Close()
	return answer{res.StatusCode, res.Header, res.Cookies()}
}

// Who has no key sees nothing, from wherever and through whichever proxy: no file, no endpoint, no token.
func TestWithoutTheKey(t *testing.T) {
	_, srv, _, h := serve(t, web.Config{AllowEdit: true, Linger: -1})
	paths := []string{"", "index.html", "page.js", "ends.json", "stream", "entities.json", "export.jsonl", "edit", "nothing"}
	for name, changes := range map[string][]change{
		"this machine":    {host("127.0.0.1:8080"), func(r *http.Request) { r.RemoteAddr = "127.0.0.1:4000" }},
		"a proxy, silent": {host("upstream"), func(r *http.Request) { r.RemoteAddr = "127.0.0.1:4000" }},
		"a Unix socket":   {host("localhost"), func(r *http.Request) { r.RemoteAddr = "@" }},
		"from elsewhere":  {host("game.example"), func(r *http.Request) { r.RemoteAddr = "192.0.2.7:4000" }},
		"a foreign page":  {header("Origin", "https://evil.example")},
		"another cookie":  {header("Cookie", "foretick-000000000000="+strings.Repeat("0", 32))},
	} {
		for _, path := range paths {
			for _, query := range []string{"", "?key=", "?key=" + strings.Repeat("0", 32)} {
				for _, method := range []string{"GET", "POST", "HEAD"} {
					got := asked(h, method, "http://game.example/i/"+path+query, changes...)
					require.Equal(t, 403, got.status, "%s: %s %s", name, method, path+query)
					require.Empty(t, got.cookies)
				}
			}
		}
	}
	require.Nil(t, probe.OfServer(srv).Tap(), "none of them opened it")
}

// The key in a query becomes a cookie of one handler, and the address that follows has no key.
func TestKey(t *testing.T) {
	var lines strings.Builder
	logger := slog.New(slog.NewTextHandler(&lines, nil))
	h := web.New(inspect.New(inspect.Config{}), web.Config{Logger: logger})
	defer h.Close()
	open := h.URL("http://game.example/admin/inspect/")
	require.Regexp(t, `^http://game\.example/admin/inspect/\?key=[0-9a-f]{32}$`, open)
	_, query, _ := strings.Cut(open, "?")
	require.Contains(t, lines.String(), query)
	require.Equal(t, 1, strings.Count(lines.String(), "\n"))
	for target, to := range map[string]string{
		open: "./",
		"http://game.example/admin/inspect/events.json?kind=correction&" + query: "./events.json?kind=correction",
	} {
		got := asked(h, "GET", target)
		require.Equal(t, 303, got.status)
		require.Equal(t, to, got.header.Get("Location"))
		cookie := got.cookies[0]
		require.True(t, cookie.HttpOnly)
		require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
		require.Empty(t, cookie.Path, "a proxy may serve another path")
		require.False(t, cookie.Secure)
		require.Equal(t, 200, asked(h, "GET", "http://game.example/admin/inspect/", func(r *http.Request) { r.AddCookie(cookie) }).status)
		other := web.New(inspect.New(inspect.Config{}), web.Config{Logger: logger})
		require.NotEqual(t, cookie.Name, asked(other, "GET", other.URL("/")).cookies[0].Name, "handlers of one host keep both")
		require.Equal(t, 403, asked(other, "GET", "/", func(r *http.Request) { r.AddCookie(cookie) }).status)
		other.Close()
	}
	require.True(t, asked(h, "GET", open, header("X-Forwarded-Proto", "https")).cookies[0].Secure)
	// A strict cookie is not sent after another site's link was redirected.
	linked := asked(h, "GET", open, header("Sec-Fetch-Site", "cross-site"))
	require.Equal(t, 200, linked.status)
	require.Equal(t, "0; url=./", linked.header.Get("Refresh"))
	require.Len(t, linked.cookies, 1)
}

// Authorize decides in place of the key.
func TestAuthorize(t *testing.T) {
	var lines strings.Builder
	h := web.New(inspect.New(inspect.Config{}), web.Config{
		Authorize: func(r *http.Request) bool { return r.Header.Get("X-User") == "ann" },
		Logger:    slog.New(slog.NewTextHandler(&lines, nil)),
	})
	defer h.Close()
	const page = "http://game.example/i/"
	require.Equal(t, page, h.URL(page))
	require.Empty(t, lines.String())
	require.Equal(t, 403, asked(h, "GET", page+"ends.json").status, "nobody is let in for nothing")
	require.Equal(t, 200, asked(h, "GET", page+"ends.json", header("X-User", "ann")).status)
	require.Equal(t, 403, asked(h, "GET", page+"ends.json", header("X-User", "ann"), header("Origin", "https://evil.example")).status)
}

// An edit needs permission, method, origin, token and type, and a body of a bounded size.
func TestEdits(t *testing.T) {
	site, _, e, _ := serve(t, web.Config{AllowEdit: true})
	own := "http://" + site.Listener.Addr().String()
	var ends struct{ Token string }
	get(t, site, "ends.json", &ends)
	require.Len(t, ends.Token, 32)
	edit := `{"entity":"` + inspect.EntityID(e).String() + `","path":"health.Points","value":42}`
	good := []change{header("Origin", own), header("X-Foretick-Token", ends.Token), header("Content-Type", "application/json")}
	points := func() any {
		var v inspect.Values
		get(t, site, "values.json?entity="+inspect.EntityID(e).String(), &v)
		for _, c := range v.Has {
			if c.Name == "health" {
				return c.Fields[0].Value
			}
		}
		return nil
	}
	for i, name := range []string{"origin", "token", "type"} {
		bad := append(append([]change{}, good[:i]...), good[i+1:]...)
		status, body := do(t, site, "POST", "edit", edit, bad...)
		require.Equal(t, 403, status, "%s: %s", name, body)
	}
	for name, bad := range map[string]change{
		"a foreign origin": header("Origin", "https://evil.example"), "another token": header("X-Foretick-Token", strings.Repeat("0", 32)), "a form": header("Content-Type", "text/plain"),
	} {
		status, _ := do(t, site, "POST", "edit", edit, append(append([]change{}, good...), bad)...)
		require.Equal(t, 403, status, name)
	}
	status, _ := do(t, site, "GET", "edit", "", good...)
	require.Equal(t, 405, status)
	status, _ = do(t, site, "POST", "ends.json", edit, good...)
	require.Equal(t, 405, status)
	for body, want := range map[string]int{
		`{`: 400, edit + edit: 400, strings.Replace(edit, "42", "101", 1): 400, `{"unknown":1}`: 400, `{"path":"` + strings.Repeat("x", 5000) + `"}`: 413,
		strings.Replace(edit, "health.Points", "health.Nothing", 1): 400,
	} {
		status, text := do(t, site, "POST", "edit", body, good...)
		require.Equal(t, want, status, "%.80s: %s", body, text)
	}
	require.Equal(t, 0., points())
	status, body := do(t, site, "POST", "edit", edit, good...)
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"before":0}`, body)
	require.Equal(t, 42., points())

	off, _, _, _ := serve(t, web.Config{})
	status, body = do(t, off, "POST", "edit", edit, header("Origin", off.URL), header("X-Foretick-Token", ""), header("Content-Type", "application/json"))
	require.Equal(t, 403, status)
	require.Contains(t, body, "AllowEdit")
}

// Requests have bounds: their size, how many a second, and how many streams.
func TestFloods(t *testing.T) {
	site, _, _, _ := serve(t, web.Config{MaxStreams: 2})
	status, _ := do(t, site, "GET", "ends.json?x="+strings.Repeat("x", 3000), "")
	require.Equal(t, 414, status)
	status, _ = do(t, site, "GET", "ends.json", strings.Repeat("x", 100))
	require.Equal(t, 413, status)
	open := func() (*http.Response, error) {
		r, err := http.NewRequest(http.MethodGet, site.URL+"/some/where/stream", nil)
		require.NoError(t, err)
		return site.Client().Do(r)
	}
	for range 2 {
		res, err := open()
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		require.Equal(t, 200, res.StatusCode)
	}
	res, err := open()
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, 503, res.StatusCode)
	refused := 0
	for range 400 {
		if status, _ := do(t, site, "GET", "ends.json", ""); status == 429 {
			refused++
		}
	}
	require.Greater(t, refused, 100)
}

// A stream brings every tick, and its end takes the tap away.
func TestStream(t *testing.T) {
	site, srv, _, h := serve(t, web.Config{Linger: -1})
	res, err := site.Client().Get(site.URL + "/some/where/stream?end=server")
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	lines := bufio.NewScanner(res.Body)
	var last uint32
	n, ends := 0, false
	for n < 10 && lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var s inspect.Samples
		if json.Unmarshal([]byte(data), &s) != nil || len(s.Ticks) == 0 {
			ends = ends || strings.Contains(data, `"props"`)
			continue
		}
		for _, tick := range s.Ticks {
			require.True(t, last == 0 || tick == last+1)
			last = tick
			n++
		}
	}
	require.True(t, ends)
	require.NotNil(t, probe.OfServer(srv).Tap())
	res.Body.Close()
	require.Eventually(t, func() bool { return probe.OfServer(srv).Tap() == nil }, 10*time.Second, 10*time.Millisecond)

	res, err = site.Client().Get(site.URL + "/some/where/stream")
	require.NoError(t, err)
	h.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err, "the stream ends")
	res.Body.Close()
	status, _ := do(t, site, "GET", "ends.json", "")
	require.Equal(t, 503, status)
}

// stuck is a connection whose reader reads nothing: writes wait for their deadline.
type stuck struct {
	header   http.Header
	deadline chan time.Time
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Flush()              {}
func (s *stuck) SetWriteDeadline(t time.Time) error {
	s.deadline <- t
	return nil
}
func (s *stuck) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// A reader that reads nothing is dropped, and takes nobody's place afterwards.
func TestSlowReader(t *testing.T) {
	site, srv, _, h := serve(t, web.Config{Linger: -1, MaxStreams: 1})
	for range 3 {
		r := httptest.NewRequest(http.MethodGet, site.URL+"/i/stream", nil)
		for _, c := range asked(h, "GET", h.URL("/i/")).cookies {
			r.AddCookie(c)
		}
		s := &stuck{http.Header{}, make(chan time.Time, 1)}
		h.ServeHTTP(s, r) // it returns: the stream has ended
		require.WithinDuration(t, time.Now().Add(5*time.Second), <-s.deadline, 2*time.Second)
	}
	require.Eventually(t, func() bool { return probe.OfServer(srv).Tap() == nil }, 10*time.Second, 10*time.Millisecond)
	res, err := site.Client().Get(site.URL + "/some/where/stream")
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	res.Body.Close()
}

// The endpoint of traces says what is wrong with a question.
func TestTraceEndpoint(t *testing.T) {
	site, _, _, _ := serve(t, web.Config{})
	for query, want := range map[string]string{
		"":             "no player 0 to trace",
		"player=65535": "no player 65535 to trace: players.json lists those that play",
		"player=65536": "use a whole number",
		"player=x":     "use a whole number",
		"after=-1":     "use a whole number",
		"entity=x":     "use the id of entities.json",
		"entity=1&entity=2&entity=3&entity=4&entity=5&entity=6&entity=7&entity=8&entity=9": "a trace of 9 entities: use up to 8",
	} {
		status, body := do(t, site, "GET", "trace.json?"+query, "")
		require.Equal(t, 400, status, body)
		require.Contains(t, body, want)
	}
	status, _ := do(t, site, "GET", "trace.json?end=none", "")
	require.Equal(t, 404, status)
	status, _ = do(t, site, "POST", "trace.json", "{}")
	require.Equal(t, 405, status)
}
