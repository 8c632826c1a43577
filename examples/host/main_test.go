package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/host/lifecycle/agones"
	"github.com/foretick/foretick/host/lifecycle/agones/agonestest"
	"github.com/foretick/foretick/transport/ticket"
)

const patience = time.Minute

// service is a run of the program.
type service struct {
	*testing.T
	stop context.CancelFunc
	done chan error
	url  string // of its pages

	tapes string // directory
	mu    sync.Mutex
	out   bytes.Buffer
}

func (s *service) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

// begin runs the program, and waits until it says where it is.
func begin(t *testing.T, args ...string) *service {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &service{T: t, stop: stop, done: make(chan error, 1), tapes: t.TempDir()}
	go func() {
		s.done <- run(ctx, append([]string{"-game", "127.0.0.1:0", "-web", "127.0.0.1:0", "-page", "127.0.0.1:0", "-tapes", s.tapes}, args...), s)
	}()
	t.Cleanup(stop)
	at := regexp.MustCompile(`figures"?[=:]"?(http://[0-9.:]+)/`)
	s.wait("it serves", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if m := at.FindStringSubmatch(s.out.String()); m != nil {
			s.url = m[1]
		}
		return s.url != ""
	})
	return s
}

func (s *service) wait(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.done:
			require.NoError(s, err)
			require.Fail(s, "the program ended", what)
		default:
		}
		require.True(s, time.Now().Before(end), what)
	}
}

// get returns a page.
func (s *service) get(path string) string {
	s.Helper()
	resp, err := http.Get(s.url + path)
	require.NoError(s, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s, err)
	require.Equal(s, http.StatusOK, resp.StatusCode, "%s: %s", path, b)
	return string(b)
}

func (s *service) figures() (f sheet) {
	s.Helper()
	require.NoError(s, json.Unmarshal([]byte(s.get("/figures")), &f))
	return f
}

func (s *service) ends() {
	s.Helper()
	select {
	case err := <-s.done:
		require.NoError(s, err)
	case <-time.After(patience):
		require.Fail(s, "the program does not end")
	}
}

func newPlayer(t *testing.T, url, name string, web bool) *player {
	t.Helper()
	game, err := bots.New(new(Game).Protocol(), func(dst *Command, _ int, tick uint32) { *dst = walk(tick) })
	require.NoError(t, err)
	return &player{ctx: context.Background(), game: game, url: url, name: name, web: web, say: func(err error) { t.Log(name, err) }}
}

// client is a full client that counts the avatars on its screen.
func newClient(t *testing.T, url, name string) (c *bots.Client, g *Game, sees func() int) {
	t.Helper()
	s, err := askFor(context.Background(), url, request{Name: name})
	require.NoError(t, err)
	e, err := s.dial(false)
	require.NoError(t, err)
	g = new(Game)
	p := g.Protocol()
	c, err = bots.NewClient(client.Config{Protocol: p, Transport: e, Sample: client.Sample(&g.Cmd, func(v client.View) Command { return walk(v.Tick) })}, 0)
	require.NoError(t, err)
	everyone := p.Query(ecs.With(&g.Pos))
	return c, g, func() (n int) {
		for _, rows := range everyone.All(c.View().World) {
			n += len(g.Pos.Slice(rows))
		}
		return n
	}
}

// A player that asks the matchmaker plays soon, by either transport, in one match. On SIGTERM newcomers are
// refused, a player that loses its connection comes back, and the program ends with the last match.
func TestOneMachine(t *testing.T) {
	s := begin(t, "-bots", "0")
	began := time.Now()
	ann := newPlayer(t, s.url, "ann", true)
	bob, game, sees := newClient(t, s.url, "bob")
	step := func() bool {
		require.NoError(t, ann.Step(time.Now()))
		require.NoError(t, bob.Step(time.Now()))
		return ann.Playing() && bob.Playing()
	}
	s.wait("both play", step)
	took := time.Since(began)
	t.Logf("from asking the matchmaker to playing: %v", took)
	require.Less(t, took, 20*time.Second)
	s.wait("one sees the other", func() bool { return step() && sees() == 2 })
	s.wait("the match is on a tape", func() bool {
		all, err := filepath.Glob(filepath.Join(s.tapes, "*.tape"))
		return step() && err == nil && len(all) == 1
	})
	f := s.figures()
	require.True(t, f.Live && f.Ready)
	require.Equal(t, 99, f.Free)
	require.Len(t, f.Matches, 1)
	require.Equal(t, 2, f.Matches[0].Players)
	require.Equal(t, []int{1, 1}, []int{f.Endpoints[0].Peers, f.Endpoints[1].Peers}, "one by each transport")
	require.Contains(t, s.get("/"), "1 matches, 2 players")
	require.Equal(t, "walk", f.Sums[0].Name)
	require.Equal(t, 2, f.Sums[0].Players)
	require.NotZero(t, f.Sums[0].P99, "ticks are timed")
	require.Empty(t, s.get("/livez"))
	require.Empty(t, s.get("/readyz"))
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		step() // a place is held for as long as its player has played
	}

	require.Contains(t, s.get("/"), runtime.Version())
	require.Zero(t, game.Notice.Get(bob.View().World).Ends)

	s.stop()
	s.wait("it drains", func() bool { return step() && s.figures().Draining })
	s.wait("players are told", func() bool { return step() && game.Notice.Get(bob.View().World).Ends != 0 })
	left := time.Duration(game.Notice.Get(bob.View().World).Ends-bob.View().Tick) * time.Second / tickRate
	require.InDelta(t, 10*time.Minute, left, float64(20*time.Second), "as -drain says")
	require.Empty(t, s.get("/livez"), "a host that drains works")
	resp, err := http.Get(s.url + "/readyz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	carl := newPlayer(t, s.url, "carl", false)
	var told []string
	carl.say = func(err error) { told = append(told, err.Error()) }
	s.wait("carl is refused", func() bool { require.NoError(t, carl.Step(time.Now())); return step() && len(told) >= 2 })
	require.Contains(t, told[0], "refused: this server ends", "by the match")
	require.Contains(t, told[1], "no server takes new matches", "and then by the matchmaker")
	ann.light.Vanish()
	s.wait("ann is back", func() bool { return step() && ann.light.Stats().Resumed == 1 })
	require.Contains(t, s.get("/"), "2 players, draining")
	require.NoError(t, ann.Close())
	require.NoError(t, bob.Close())
	s.ends()
}

// With bots, all of it runs alone: matches fill up, end and begin again, until a supervisor's file
// drains the host.
func TestBots(t *testing.T) {
	dir := t.TempDir()
	s := begin(t, "-bots", "6", "-players", "3", "-length", "2s", "-files", dir)
	s.wait("six play in two matches", func() bool {
		f := s.figures()
		return len(f.Matches) == 2 && f.Matches[0].Players == 3 && f.Matches[1].Players == 3
	})
	s.wait("they play again", func() bool { f := s.figures(); return f.Host.Ended >= 2 && f.Host.Players > 0 })
	require.FileExists(t, filepath.Join(dir, "ready"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "drain"), nil, 0o600))
	s.ends()
	require.Regexp(t, `the bots end.* bots=6 played=6 seconds=[1-9]`, s.out.String())
	require.NoFileExists(t, filepath.Join(dir, "ready"))
	b, err := os.ReadFile(filepath.Join(dir, "status"))
	require.NoError(t, err)
	require.Contains(t, string(b), "shutdown")
}

// free returns a port that nobody listens on.
func free(t *testing.T) int {
	t.Helper()
	for range 1000 {
		at := fmt.Sprint(":", 26000+rand.IntN(6000)) // systems give others to whoever asks for any
		l, err := net.Listen("tcp", at)
		if err != nil {
			continue
		}
		c, err := net.ListenPacket("udp", at)
		_ = l.Close()
		if err == nil {
			_ = c.Close()
			return l.Addr().(*net.TCPAddr).Port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// cluster is a stand-in for the API of Kubernetes: it allocates the game server of a sidecar.
func cluster(t *testing.T, sidecar *agonestest.Sidecar) *fleet {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		var ask struct {
			Spec struct {
				Metadata struct{ Annotations map[string]string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		gs := sidecar.GameServer()
		rooms := gs.Counters["rooms"]
		state := "UnAllocated"
		if gs.Labels["agones.dev/sdk-draining"] == "" && rooms.Capacity > rooms.Count && sidecar.Allocate(ask.Spec.Metadata.Annotations) {
			state = "Allocated"
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(object{"status": object{"state": state, "address": gs.Address, "ports": []object{{"name": gamePort, "port": gs.Ports[gamePort]}, {"name": webPort, "port": gs.Ports[webPort]}}}})
	}))
	t.Cleanup(api.Close)
	return &fleet{name: "hosts", url: api.URL, client: api.Client(), token: func() (string, error) { return "secret", nil }}
}

// On a fleet the matchmaker allocates a host, which makes the match before its players come. The
// sidecar gets each call in order. A host that drains is not allocated again.
func TestFleet(t *testing.T) {
	sidecar, err := agonestest.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer sidecar.Close()
	game, web := free(t), free(t)
	sidecar.Change(func(g *agonestest.GameServer) {
		g.Ports = map[string]int{gamePort: game, webPort: web}
		g.Counters = map[string]agonestest.Counter{"rooms": {}, "players": {Capacity: 100}}
		g.Lists = nil
	})
	key := ticket.NewKey()
	t.Setenv(agones.PortVariable, fmt.Sprint(sidecar.Port()))
	t.Setenv(keyVariable, fmt.Sprintf("%x", key))
	s := begin(t, "-role", "host", "-agones", "-game", fmt.Sprint("127.0.0.1:", game), "-web", fmt.Sprint("127.0.0.1:", web), "-matches", "2", "-players", "2")
	o, err := parse([]string{"-players", "2"}, io.Discard)
	require.NoError(t, err)
	f := cluster(t, sidecar)
	m := &matchmaker{o: o, place: f.allocate}
	page := httptest.NewServer(m)
	defer page.Close()

	s.wait("ready", func() bool { return sidecar.GameServer().State == "Ready" })
	seat, err := m.seat(context.Background(), request{Name: "ann"}, time.Now())
	require.NoError(t, err)
	s.wait("the match is there", func() bool { f := s.figures(); return len(f.Matches) == 1 && f.Matches[0].Name == seat.Match })
	ann, bob := newPlayer(t, page.URL, "ann", false), newPlayer(t, page.URL, "bob", true)
	step := func() bool {
		require.NoError(t, ann.Step(time.Now()))
		require.NoError(t, bob.Step(time.Now()))
		return ann.Playing() && bob.Playing()
	}
	s.wait("both play", step)
	require.EqualValues(t, 1, s.figures().Host.Made, "in the match that was allocated")
	s.wait("counts", func() bool {
		c := sidecar.GameServer().Counters
		return step() && c["rooms"] == agonestest.Counter{Count: 1, Capacity: 2} && c["players"].Count == 2
	})
	_, err = m.seat(context.Background(), request{Name: "carl"}, time.Now())
	require.NoError(t, err, "one more match fits")
	s.wait("full", func() bool { return step() && sidecar.GameServer().Counters["rooms"].Count == 2 })
	for range 2 { // carl's match has room for one more
		_, err = m.seat(context.Background(), request{Name: fmt.Sprint("d", m.open.players)}, time.Now())
	}
	require.ErrorIs(t, err, errNoServer, "the fleet is full")
	s.stop()
	s.wait("drains", func() bool { return step() && sidecar.GameServer().Labels["agones.dev/sdk-draining"] == "true" })
	require.Equal(t, "Allocated", sidecar.GameServer().State, "for as long as players play")
	require.NoError(t, ann.Close())
	require.NoError(t, bob.Close())
	s.ends()
	calls := slices.DeleteFunc(sidecar.Calls(), func(c string) bool { return c == "health" || strings.HasPrefix(c, "counter") })
	require.Equal(t, []string{"gameserver", "watch", "ready", "label", "shutdown"}, calls)

	f.token = func() (string, error) { return "wrong", nil }
	_, err = f.allocate(context.Background(), "x")
	require.ErrorContains(t, err, "who are you?")
}

// Seats are given so that players gather, and a player that asks again returns to its match.
func TestSeats(t *testing.T) {
	o, err := parse([]string{"-players", "2", "-length", "1m"}, io.Discard)
	require.NoError(t, err)
	asked := 0
	m := &matchmaker{o: o, place: func(context.Context, string) (gameServer, error) {
		asked++
		return gameServer{Game: netip.MustParseAddrPort("192.0.2.1:7777")}, nil
	}}
	now := time.Now()
	match := func(name string, after time.Duration) string {
		s, err := m.seat(context.Background(), request{Name: name}, now.Add(after))
		require.NoError(t, err)
		return s.Match
	}
	first := match("a", 0)
	require.Equal(t, first, match("b", time.Second))
	second := match("c", time.Second)
	require.NotEqual(t, first, second, "the first is full")
	require.Equal(t, first, match("a", 30*time.Second), "back to its match")
	require.NotEqual(t, second, match("d", 20*time.Second), "the second has begun long ago")
	require.NotEqual(t, first, match("a", 2*time.Minute), "the first is over")
	require.Equal(t, 4, asked)
	for i := range mostSeats {
		m.seats[fmt.Sprint("old ", i)] = &gathering{begun: now}
	}
	match("new", 2*time.Minute)
	require.Less(t, len(m.seats), 10, "what is over is forgotten")

	page := httptest.NewServer(m)
	defer page.Close()
	for _, body := range []string{"", "{}", `{"Name":5}`, `{"Name":"` + strings.Repeat("x", 65) + `"}`, strings.Repeat("[", 1<<20)} {
		resp, err := http.Post(page.URL, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	}
}

// Faults of the command line name their fix.
func TestFlags(t *testing.T) {
	t.Setenv(keyVariable, "")
	for want, args := range map[string][]string{
		"unexpected argument":   {"x"},
		"either -agones or":     {"-agones", "-files", "x"},
		"-players is":           {"-players", "0"},
		"needs -ask":            {"-role", "bots"},
		"either -fleet or -to":  {"-role", "matchmaker"},
		"set FORETICK_TICKET":   {"-role", "host"},
		"use all, host":         {"-role", "king"},
		"use text or json":      {"-log", "xml"},
		"-collect needs":        {"-tapes", "", "-collect", "cat"},
		"need -replay":          {"-tick", "5"},
		"are at most":           {"-replay", "x", "-entity", "4294967296"},
		"no such file":          {"-replay", "none/such"},
		"use a URL such as":     {"-public-web", "play.example.com"},
		"-keys":                 {"-keys", "none/such"},
		"say with -public":      {"-game", ":0", "-page", "127.0.0.1:0", "-web", "127.0.0.1:0"},
		"use an address such":   nil,
		"in a pod with a servi": nil,
	} {
		if args == nil {
			t.Setenv(keyVariable, strings.Repeat("ab", ticket.KeySize))
			args = []string{"-role", "matchmaker", "-to", "nowhere"}
			if strings.HasPrefix(want, "in a pod") {
				args = []string{"-role", "matchmaker", "-fleet", "hosts"}
			}
		}
		require.ErrorContains(t, run(context.Background(), args, io.Discard), want)
		t.Setenv(keyVariable, "")
	}
	t.Setenv(keyVariable, "abc")
	require.ErrorContains(t, run(context.Background(), nil, io.Discard), "must be 64 hexadecimal digits for each key")
}
