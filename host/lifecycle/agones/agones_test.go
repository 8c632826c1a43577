package agones_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/host/internal/hook"
	"github.com/foretick/foretick/host/lifecycle"
	"github.com/foretick/foretick/host/lifecycle/agones"
	"github.com/foretick/foretick/host/lifecycle/agones/agonestest"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/fieldtest"
)

const patience = 30 * time.Second

// fake is a host whose matches the test makes.
type fake struct {
	mu      sync.Mutex
	st      host.Stats
	reason  string
	sick    bool
	full    bool // the host is not ready
	changes chan struct{}
	hard    bool // the context of Run has ended
}

func newFake() *fake { return &fake{changes: make(chan struct{}, 64)} }

func (f *fake) set(fn func()) {
	f.mu.Lock()
	fn()
	f.mu.Unlock()
	f.changes <- struct{}{}
}

func (f *fake) Run(ctx context.Context) error {
	for {
		f.mu.Lock()
		over := f.hard || f.reason != "" && f.st.Matches == 0
		f.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			f.Drain("this server ends now")
			f.set(func() { f.hard = true })
		case <-f.changes:
		}
	}
}

func (f *fake) Drain(reason string) {
	f.set(func() {
		if f.reason == "" {
			f.reason = reason
		}
	})
}
func (f *fake) Draining() bool    { f.mu.Lock(); defer f.mu.Unlock(); return f.reason != "" }
func (f *fake) Live() bool        { f.mu.Lock(); defer f.mu.Unlock(); return !f.sick }
func (f *fake) Ready() bool       { f.mu.Lock(); defer f.mu.Unlock(); return f.reason == "" && !f.full }
func (f *fake) Free() (int, int)  { return 5 - f.Stats().Matches, -1 }
func (f *fake) Stats() host.Stats { f.mu.Lock(); defer f.mu.Unlock(); return f.st }

func (f *fake) Matches(dst []string) []string {
	for i := range f.Stats().Matches {
		dst = append(dst, fmt.Sprint("match ", i))
	}
	return dst
}

func (f *fake) Identities(dst []string) []string {
	for i := range f.Stats().Players {
		dst = append(dst, fmt.Sprint("player ", i))
	}
	return dst
}

func listen(t *testing.T, addr string) *agonestest.Sidecar {
	t.Helper()
	s, err := agonestest.Listen(addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func quick() lifecycle.Config {
	return lifecycle.Config{Every: 40 * time.Millisecond, Timeout: 500 * time.Millisecond, Failures: 3, Idle: -1}
}

// run is a call of lifecycle.Run that the test controls.
type run struct {
	*testing.T
	host    *fake
	sidecar *agonestest.Sidecar
	stop    context.CancelFunc
	done    chan error
}

func start(t *testing.T, sidecar *agonestest.Sidecar, port int, cfg lifecycle.Config) *run {
	t.Helper()
	if testing.Verbose() {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	m, err := agones.New(agones.Config{Port: port, FirstState: 200 * time.Millisecond})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	r := &run{T: t, host: newFake(), sidecar: sidecar, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- hook.RunLifecycle(ctx, r.host, m, cfg) }()
	t.Cleanup(stop)
	return r
}

func (r *run) wait(what string, is func() bool) {
	r.Helper()
	require.Eventually(r, is, patience, 2*time.Millisecond, "%s: %v", what, r.host)
}

func (r *run) called(name string) {
	r.Helper()
	r.wait(name, func() bool { return slices.Contains(r.sidecar.Calls(), name) })
}

func (r *run) matches(n int) {
	r.host.set(func() { r.host.st.Matches, r.host.st.Players = n, 2*n })
}

func (r *run) ends() error {
	r.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		require.Fail(r, "Run does not return", "%v", r.sidecar.Calls())
		return nil
	}
}

// inOrder requires the order of calls that every run has, whatever failed.
func inOrder(t *testing.T, calls []string) {
	t.Helper()
	taken := slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return strings.HasSuffix(c, "!") })
	require.Equal(t, "watch", taken[0], "the watch comes first: %v", calls)
	var steps []string
	for _, c := range taken {
		if slices.Contains([]string{"ready", "allocate", "label", "shutdown"}, c) {
			steps = append(steps, c)
		}
	}
	require.Equal(t, []string{"ready", "allocate", "label", "shutdown"}, steps, "%v", calls)
	require.Equal(t, "shutdown", calls[len(calls)-1], "nothing comes after Shutdown: %v", calls)
	first := func(name string) int {
		return slices.IndexFunc(calls, func(c string) bool { return strings.TrimSuffix(c, "!") == name })
	}
	require.Less(t, first("counters"), first("ready"), "Ready comes after the counts: %v", calls)
	require.Contains(t, taken[:slices.Index(taken, "shutdown")], "health")
}

// Whatever fails, the calls are made in the same order, each once, and Shutdown is the last.
func TestOrder(t *testing.T) {
	ways := map[string]http.HandlerFunc{"refused": agonestest.Refuse, "hangs": agonestest.Hang, "breaks": agonestest.Break, "garbage": agonestest.Garbage, "endless": agonestest.Endless}
	rows := map[string]func(s *agonestest.Sidecar){"nothing fails": func(*agonestest.Sidecar) {}}
	for how, fail := range ways {
		for _, name := range []string{"watch", "line", "ready", "allocate", "label", "shutdown", "counters", "lists", "health"} {
			if name == "line" && how == "refused" {
				continue // a line of a watch cannot be refused
			}
			times := 2
			if how == "hangs" { // each call takes Timeout
				times = 1
			}
			rows[name+" "+how] = func(s *agonestest.Sidecar) { s.Fail(name, times, fail) }
		}
	}
	rows["the stream says an error"] = func(s *agonestest.Sidecar) {
		s.Fail("line", 1, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"error":{"code":14,"message":"transport is closing"}}` + "\n"))
		})
	}
	for name, fail := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, "127.0.0.1:0")
			fail(s)
			play(start(t, s, s.Port(), quick()))
			for _, c := range strings.Fields(name)[:1] {
				if name != "nothing fails" && c != "the" {
					require.Contains(t, s.Calls(), c+"!", "the failure was met")
				}
			}
		})
	}
}

// play makes a host go through all its phases.
func play(r *run) {
	r.Helper()
	r.called("ready")
	r.wait("ready", func() bool { return r.sidecar.GameServer().State == "Ready" })
	r.called("health")
	r.matches(2)
	r.called("allocate")
	r.wait("counts", func() bool {
		gs := r.sidecar.GameServer()
		return gs.Counters["rooms"] == agonestest.Counter{Count: 2, Capacity: 5} && slices.Equal(gs.Lists["players"].Values, []string{"player 0", "player 1", "player 2", "player 3"})
	})
	r.stop()
	r.called("label")
	r.wait("the label", func() bool { return r.sidecar.GameServer().Labels["agones.dev/sdk-draining"] == "true" })
	r.wait("no room", func() bool { return r.sidecar.GameServer().Counters["rooms"].Capacity == 2 })
	require.NotContains(r, r.sidecar.Calls(), "shutdown", "matches run")
	r.matches(0)
	require.NoError(r, r.ends())
	require.Equal(r, "Shutdown", r.sidecar.GameServer().State)
	time.Sleep(60 * time.Millisecond)
	inOrder(r.T, r.sidecar.Calls())
}

// The sidecar may start after the game. No call is lost.
func TestSidecarComesLater(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	port := s.Port()
	require.NoError(t, s.Close())
	r := start(t, nil, port, quick())
	time.Sleep(250 * time.Millisecond)
	require.False(t, r.host.Draining(), "a sidecar that is not there yet is no reason to escalate")
	r.sidecar = listen(t, "127.0.0.1:"+strconv.Itoa(port))
	play(r)
}

// A process whose sidecar never starts drains and ends, and its error names what failed.
func TestNoSidecar(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	require.NoError(t, s.Close())
	r := start(t, s, s.Port(), quick())
	r.stop()
	require.ErrorContains(t, r.ends(), "did not take Shutdown")
	require.Empty(t, s.Calls())
}

// A Shutdown that is refused is tried three times, and Run returns the error.
func TestShutdownRefused(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	s.Fail("shutdown", 99, agonestest.Refuse)
	r := start(t, s, s.Port(), quick())
	r.called("ready")
	r.stop()
	require.ErrorContains(t, r.ends(), "500: the API server is not there")
	calls := s.Calls()
	require.Equal(t, []string{"shutdown!", "shutdown!", "shutdown!"}, calls[slices.Index(calls, "shutdown!"):])
}

// Three failed calls of Health in a row are escalated, once. Two are not.
func TestEscalation(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	cfg := quick()
	told := make(chan error, 9)
	cfg.Escalate = func(err error) { told <- err }
	s.Fail("health", 2, agonestest.Refuse)
	r := start(t, s, s.Port(), cfg)
	r.called("health")
	require.Empty(t, told)
	s.Fail("health", 6, agonestest.Refuse)
	r.wait("escalation", func() bool { return len(told) == 1 })
	count := func() (n int) {
		for _, c := range s.Calls() {
			if c == "health!" {
				n++
			}
		}
		return n
	}
	r.wait("the others", func() bool { return count() == 8 })
	require.Len(t, told, 1)
	require.False(t, r.host.Draining(), "the game decides")
	r.stop()
	require.NoError(t, r.ends())

	s = listen(t, "127.0.0.1:0")
	s.Fail("health", 3, agonestest.Hang)
	r = start(t, s, s.Port(), quick())
	require.NoError(t, r.ends(), "without a function the host drains")
	require.Equal(t, "this server lost its fleet", r.host.reason)
	require.Equal(t, 1, strings.Count(strings.Join(s.Calls(), " "), "shutdown"))
}

// The capacities of an unready host are what runs now, so that new matches are allocated on other
// hosts.
func TestCountersOfUnreadyHost(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	s.Change(func(g *agonestest.GameServer) {
		g.Counters, g.Lists = map[string]agonestest.Counter{"rooms": {}}, nil
	})
	r := start(t, s, s.Port(), quick())
	r.matches(2)
	rooms := func(count, capacity int64) {
		t.Helper()
		r.wait(fmt.Sprint("rooms ", count, " of ", capacity), func() bool {
			return s.GameServer().Counters["rooms"] == agonestest.Counter{Count: count, Capacity: capacity}
		})
	}
	rooms(2, 5)
	r.host.set(func() { r.host.full = true })
	rooms(2, 2)
	r.host.set(func() { r.host.full = false })
	rooms(2, 5)
	require.False(t, r.host.Draining())
	r.host.Drain("over")
	rooms(2, 2)
	r.matches(0)
	require.NoError(t, r.ends())
}

// Health is not called while the host is not live, and the manager then removes the game server.
func TestWithheldHealth(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	r := start(t, s, s.Port(), quick())
	r.matches(1)
	r.called("allocate")
	signs := func() (n int) {
		for _, c := range s.Calls() {
			if c == "health" {
				n++
			}
		}
		return n
	}
	before := signs()
	r.wait("signs of life", func() bool { return signs() >= before+3 })
	r.host.set(func() { r.host.sick = true })
	r.wait("silence", func() bool { n := signs(); time.Sleep(250 * time.Millisecond); return signs() == n })
	require.Equal(t, "Allocated", s.GameServer().State)
	s.CheckHealth(100*time.Millisecond, 2)
	r.wait("unhealthy", func() bool { return s.GameServer().State == "Unhealthy" })
	r.wait("drain", r.host.Draining)
	require.Equal(t, "this server is removed", r.host.reason)
	r.matches(0)
	require.NoError(t, r.ends())
	require.Equal(t, "Unhealthy", s.GameServer().State, "no call leads out of it")
}

// An allocation reaches the game with its annotations. A process that has had no match for a while
// calls Ready again. One that the cluster deletes drains.
func TestAllocation(t *testing.T) {
	costtest.Allocations(t)
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	cfg := quick()
	cfg.Idle = 100 * time.Millisecond
	asked := make(chan string, 99)
	cfg.OnState = func(st lifecycle.State) {
		if m := st.Annotations["match"]; m != "" && st.Allocated {
			asked <- m
		}
	}
	r := start(t, s, s.Port(), cfg)
	r.wait("ready", func() bool { return s.GameServer().State == "Ready" })
	require.True(t, s.Allocate(map[string]string{"match": "m1"}))
	require.Equal(t, "m1", <-asked)
	r.matches(1)
	time.Sleep(200 * time.Millisecond)
	require.Equal(t, "Allocated", s.GameServer().State, "for as long as a match runs")
	require.NotContains(t, s.Calls(), "allocate", "the manager knows")
	r.matches(0)
	r.wait("ready again", func() bool { return s.GameServer().State == "Ready" })
	r.matches(1)
	r.called("allocate")
	s.Change(func(g *agonestest.GameServer) { g.Deleted = true })
	r.wait("drain", r.host.Draining)
	r.matches(0)
	require.NoError(t, r.ends())
}

// Matches that do not end in time are shut down.
func TestDrainFor(t *testing.T) {
	t.Parallel()
	s := listen(t, "127.0.0.1:0")
	cfg := quick()
	cfg.DrainFor = 100 * time.Millisecond
	r := start(t, s, s.Port(), cfg)
	r.matches(1)
	r.called("allocate")
	r.stop()
	require.NoError(t, r.ends())
	require.True(t, r.host.hard)
	inOrder(t, s.Calls())
}

// sdk returns the port of a real SDK server in local mode if the environment names one, and otherwise
// that of a substitute.
func sdk(t *testing.T) int {
	if text := os.Getenv(agones.PortVariable); text != "" {
		port, err := strconv.Atoi(text)
		require.NoError(t, err)
		return port
	}
	return listen(t, "127.0.0.1:0").Port()
}

// TestConformance plays with a real SDK server if there is one:
//
//	sdk-server --local &
//	AGONES_SDK_HTTP_PORT=9358 go test -run Conformance ./host/lifecycle/agones
func TestConformance(t *testing.T) {
	costtest.Sockets(t)
	m, err := agones.New(agones.Config{Port: sdk(t)})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	states := make(chan lifecycle.State, 99)
	watching, hangUp := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(watching, func(s lifecycle.State) { states <- s }) }()
	sees := func(what string, is func(s lifecycle.State) bool) {
		t.Helper()
		for {
			select {
			case s := <-states:
				if is(s) {
					return
				}
			case <-ctx.Done():
				require.Fail(t, "the watch does not show it", what)
			}
		}
	}
	first := <-states
	require.NotEmpty(t, first.Name)
	gs, err := m.GameServer(ctx)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", gs.Address)
	require.Equal(t, 7777, gs.Ports["default"])
	require.False(t, gs.Ending)
	names := func(all ...string) func() []string { return func() []string { return slices.Clone(all) } }
	require.NoError(t, m.Counts(ctx, lifecycle.Counts{Matches: 12, FreeMatches: 3, Players: 2, FreePlayers: -1, MatchNames: names(), PlayerNames: names("b", "a", "b\xff", "a")}))
	require.JSONEq(t, `{"name":"rooms","count":"12","capacity":"15"}`, get(t, m, "/v1beta1/counters/rooms"), "above the capacity of before")
	require.JSONEq(t, `{"name":"players","capacity":"100","values":["a","b","b?"]}`, get(t, m, "/v1beta1/lists/players"))
	require.NoError(t, m.Counts(ctx, lifecycle.Counts{Matches: 1, FreeMatches: -1, Players: 0, FreePlayers: 0, PlayerNames: names()}))
	require.JSONEq(t, `{"name":"rooms","count":"1","capacity":"15"}`, get(t, m, "/v1beta1/counters/rooms"))
	require.JSONEq(t, `{"name":"players","capacity":"0","values":[]}`, get(t, m, "/v1beta1/lists/players"))
	require.NoError(t, m.Counts(ctx, lifecycle.Counts{Matches: 40, FreeMatches: -1, FreePlayers: 5, PlayerNames: names()}))
	require.JSONEq(t, `{"name":"rooms","count":"15","capacity":"15"}`, get(t, m, "/v1beta1/counters/rooms"), "cut to the capacity")
	require.NoError(t, m.Health(ctx))
	require.NoError(t, m.Ready(ctx))
	sees("ready", func(s lifecycle.State) bool { return s.Phase == "Ready" && !s.Allocated })
	require.NoError(t, m.Allocated(ctx))
	sees("allocated", func(s lifecycle.State) bool { return s.Allocated })
	require.NoError(t, m.Ready(ctx))
	sees("ready again", func(s lifecycle.State) bool { return s.Phase == "Ready" })
	require.NoError(t, m.Draining(ctx))
	sees("the label", func(s lifecycle.State) bool { return s.Labels["agones.dev/sdk-draining"] == "true" })
	require.NoError(t, m.Health(ctx))
	require.NoError(t, m.Shutdown(ctx))
	sees("shutdown", func(s lifecycle.State) bool { return s.Phase == "Shutdown" && s.Ending })
	hangUp()
	require.ErrorIs(t, <-watched, context.Canceled)
}

func get(t *testing.T, m *agones.Manager, path string) string {
	t.Helper()
	resp, err := http.Get(agones.Base(m) + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	require.NoError(t, err)
	return b.String()
}

// flood sends endless JSON, and counts the bytes that the client reads.
func flood(head string, taken *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write([]byte(head))
		for b := bytes.Repeat([]byte("["), 64<<10); err == nil && r.Context().Err() == nil; {
			var n int
			n, err = w.Write(b)
			taken.Add(int64(n))
		}
	}
}

// An endless reply is read up to a bound.
func TestBounds(t *testing.T) {
	const bound = 256 << 20 // what is read, and the buffers of sockets
	s := listen(t, "127.0.0.1:0")
	m, err := agones.New(agones.Config{Port: s.Port(), FirstState: patience})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var taken atomic.Int64
	s.Fail("ready", 1, flood("", &taken))
	require.ErrorContains(t, m.Ready(ctx), "longer than 1048576 bytes")
	s.Fail("health", 1, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		flood(`{"message":"`, &taken)(w, r)
	})
	require.ErrorContains(t, m.Health(ctx), "500")
	s.Fail("watch", 1, flood(`{"result":`, &taken))
	require.ErrorContains(t, m.Watch(ctx, func(lifecycle.State) {}), "token too long")
	s.Fail("watch", 1, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		flood("", &taken)(w, r)
	})
	require.ErrorContains(t, m.Watch(ctx, func(lifecycle.State) {}), "503")
	s.Fail("ready", 1, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	require.ErrorContains(t, m.Ready(ctx), "307", "it follows nobody")
	require.Less(t, taken.Load(), int64(bound))
}

// A counter or list that the fleet does not declare is logged once, and has no other effect.
func TestUndeclared(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	var log bytes.Buffer
	m, err := agones.New(agones.Config{Port: s.Port(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	counts := lifecycle.Counts{Matches: 3, FreeMatches: 1, PlayerNames: func() []string { return nil }}
	require.NoError(t, m.Counts(context.Background(), counts), "before the first state nothing is declared")
	require.Empty(t, s.Calls())
	ctx, cancel := context.WithCancel(context.Background())
	_ = m.Watch(ctx, func(lifecycle.State) { cancel() })
	s.Change(func(g *agonestest.GameServer) { delete(g.Counters, "rooms") })
	require.NoError(t, m.Counts(context.Background(), counts))
	counts.Matches++
	require.NoError(t, m.Counts(context.Background(), counts))
	require.Equal(t, []string{"watch", "counters", "lists"}, s.Calls())
	require.Equal(t, 1, strings.Count(log.String(), "declare it in the fleet"))
	s.Fail("lists", 1, agonestest.Refuse)
	counts.FreePlayers = 9
	require.ErrorContains(t, m.Counts(context.Background(), counts), "500")
	require.NoError(t, m.Counts(context.Background(), counts), "a call that failed is repeated")
	require.EqualValues(t, 9, s.GameServer().Lists["players"].Capacity)
}

// The errors of a wrong configuration name the fix.
func TestConfig(t *testing.T) {
	for _, c := range []struct {
		env  string
		cfg  agones.Config
		want string
	}{
		{"", agones.Config{}, ""},
		{"9000", agones.Config{}, ""},
		{"x", agones.Config{}, "must be a port"},
		{"70000", agones.Config{}, "must be a port"},
		{"x", agones.Config{Port: 1}, ""},
		{"", agones.Config{Port: -1}, "Config.Port is -1"},
		{"", agones.Config{FirstState: -1}, "FirstState"},
		{"", agones.Config{Players: "rooms"}, "its own counter"},
	} {
		t.Setenv(agones.PortVariable, c.env)
		_, err := agones.New(c.cfg)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
	fieldtest.Config[agones.Config](t, fieldtest.Rules{}, func(c agones.Config) error {
		_, err := agones.New(c)
		return err
	})
	closed := listen(t, "127.0.0.1:0")
	require.NoError(t, closed.Close())
	m, err := agones.New(agones.Config{Port: closed.Port()})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = m.GameServer(ctx)
	require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
}
