package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/transport/ticket"
)

// collectTo is where the command that collects tapes puts them: see TestCollector.
const collectTo = "FORETICK_TEST_COLLECT_TO"

// TestCollector is the command that TestDeployed collects tapes with.
func TestCollector(t *testing.T) {
	to := os.Getenv(collectTo)
	if to == "" {
		return // it is no command now
	}
	tape := flag.Arg(flag.NArg() - 1)
	require.NotContains(t, tape, "stubborn")
	b, err := os.ReadFile(tape) // #nosec G304 G703 -- the test's own
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(tape)), append(b, os.Getenv("FORETICK_VERSION")...), 0o600)) // #nosec G703
}

// As an operator runs it: logs are JSON, browsers are told the public address, tapes that are left are
// collected, and the keys of tickets change while it runs.
func TestDeployed(t *testing.T) {
	t.Setenv(collectTo, t.TempDir())
	dir := t.TempDir()
	file, tapes := filepath.Join(dir, "keys"), filepath.Join(dir, "tapes")
	require.NoError(t, os.Mkdir(tapes, 0o700))
	for name, text := range map[string]string{"left.tape": "of a match", "stubborn.tape": "of another"} {
		require.NoError(t, os.WriteFile(filepath.Join(tapes, name), []byte(text), 0o600))
	}
	put := func(keys ...[]byte) {
		text := ""
		for _, k := range keys {
			text += fmt.Sprintf("%x\n", k)
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	old, next := ticket.NewKey(), ticket.NewKey()
	put(old)
	lookEvery = 20 * time.Millisecond
	defer func() { lookEvery = 5 * time.Second }()
	s := begin(t, "-bots", "0", "-log", "json", "-public-web", "wss://play.example.com/game", "-proxy-header", "X-Forwarded-For", "-keys", file,
		"-tapes", tapes, "-collect", os.Args[0]+" -test.run=^TestCollector$")
	said := func(what string) func() bool {
		return func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return strings.Contains(s.out.String(), what)
		}
	}
	s.wait("one is collected", said(`"msg":"a tape was collected"`))
	s.wait("one is not", said(`"msg":"a tape was not collected, and stays"`))
	require.NoFileExists(t, filepath.Join(tapes, "left.tape"))
	require.FileExists(t, filepath.Join(tapes, "stubborn.tape"))
	b, err := os.ReadFile(filepath.Join(os.Getenv(collectTo), "left.tape")) // #nosec G304 G703
	require.NoError(t, err)
	require.Regexp(t, `^of a match.+`, string(b), "with the version of the program")

	play := func(name string) *player {
		p := newPlayer(t, s.url, name, false)
		s.wait(name+" plays", func() bool { require.NoError(t, p.Step(time.Now())); return p.Playing() })
		return p
	}
	for i, keys := range [][][]byte{{old, next}, {next, old}, {next}} {
		require.NoError(t, play(fmt.Sprint("player ", i)).Close())
		put(keys...)
		s.wait("the keys change", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return strings.Count(s.out.String(), `"msg":"the ticket keys changed"`) == i+1
		})
	}
	defer func() { require.NoError(t, play("player 4").Close()) }()
	put()
	s.wait("a bad file is told", said("has no key"))
	require.NoError(t, os.Remove(file))
	s.wait("a file that is gone is told", said("the ticket keys stay as they are"))

	seat, err := askFor(t.Context(), s.url, request{Name: "browser"})
	require.NoError(t, err)
	require.Equal(t, "wss://play.example.com/game", seat.Web)
	page := s.get("/metrics")
	for _, want := range []string{`host_tapes_collected_total\{result="collected"\} 1`, `host_tapes_collected_total\{result="failed"\} 1`, `foretick_matches\{kind="walk"\} \d`, `foretick_build_info\{.*go="go1\.`, `go_goroutines \d+`} {
		require.Regexp(t, "(?m)^"+want, page)
	}
	if _, ok := readProcess(); ok {
		require.Regexp(t, `(?m)^process_open_fds \d\d?$`, page)
		require.Regexp(t, `(?m)^process_max_fds \d{3,}`, page)
		require.Regexp(t, `(?m)^process_resident_memory_bytes \d`, page)
		require.Regexp(t, `(?m)^process_cpu_seconds_total \d`, page)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.out.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Regexp(t, `"msg":"build","version":".+","commit":".*","go":"go1\.`, s.out.String())
}

// A match that panicked hands on its tape, and one that ended well has none.
func TestTapesOfPanics(t *testing.T) {
	s := &service{T: t}
	o, err := parse([]string{"-tapes", t.TempDir()}, s)
	require.NoError(t, err)
	o.collect = os.Args[0] + " -test.run=^TestCollector$"
	t.Setenv(collectTo, t.TempDir())
	all, err := newTapes(o)
	require.NoError(t, err)
	path := filepath.Join(o.tapes, "panic.tape")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	all.add(host.End{Match: "well"})
	all.add(host.End{Match: "ill", Panic: "oh", Tape: path})
	all.close()
	require.EqualValues(t, 1, all.collected.Load())
	require.FileExists(t, filepath.Join(os.Getenv(collectTo), "panic.tape"))
	require.NoFileExists(t, path)
	all.add(host.End{Match: "late", Panic: "oh", Tape: path})
}

// The tape of a match replays with the program that recorded it, also one of a match that was drained.
func TestReplay(t *testing.T) {
	s := begin(t, "-bots", "2", "-players", "2", "-drain", "7m")
	s.wait("they play", func() bool { return s.figures().Host.Players == 2 })
	ann := newPlayer(t, s.url, "ann", false) // plays on when the bots leave
	step := func() bool { require.NoError(t, ann.Step(time.Now())); return ann.Playing() }
	s.wait("she plays", step)
	s.stop()
	var b []byte
	copied := filepath.Join(t.TempDir(), "match.tape")
	s.wait("a tape replays to after the notice", func() bool {
		step()
		all, err := filepath.Glob(filepath.Join(s.tapes, "*.tape"))
		require.NoError(t, err)
		for _, path := range all {
			if b, err = os.ReadFile(path); err != nil || os.WriteFile(copied, b, 0o600) != nil { // #nosec G304 -- the test's own
				continue // the match has just ended
			}
			var out strings.Builder
			if err = run(t.Context(), []string{"-replay", copied, "-drain", "7m"}, &out); err != nil {
				continue // of a file that is being written
			}
			err = run(t.Context(), []string{"-replay", copied, "-drain", "3m"}, io.Discard)
			if err != nil {
				require.ErrorAs(t, err, new(*flight.DifferenceError))
				t.Log(out.String())
				return true
			}
		}
		return false
	})
	require.NoError(t, ann.Close())
	s.ends()
}

// If a matchmaker gives no reason, the error has the HTTP status, and bots report that none played.
func TestNoMatchmaker(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer down.Close()
	ctx, stop := context.WithCancel(t.Context())
	s := &service{T: t, stop: stop, done: make(chan error, 1)}
	go func() { s.done <- run(ctx, []string{"-role", "bots", "-ask", down.URL, "-bots", "3"}, s) }()
	s.wait("it says why", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.out.String(), "the matchmaker says 502 Bad Gateway: no reason")
	})
	stop()
	s.ends()
	require.Regexp(t, `the bots end.* bots=3 played=0 seconds=\d`, s.out.String())
}
