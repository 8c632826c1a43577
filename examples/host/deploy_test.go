package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/ws"
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

// Behind a proxy, a browser's address is what the proxy wrote last. Whatever else is in the header is
// the browser's own.
func TestProxyHeader(t *testing.T) {
	require.Nil(t, (&options{}).clientAddr())
	at := (&options{proxyHeader: "X-Forwarded-For"}).clientAddr()
	for header, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "10.0.0.1, 192.0.2.7": "192.0.2.7", "2001:db8::1": "2001:db8::1", "192.0.2.7, nonsense": "", "": "",
	} {
		addr := at(&ws.Request{Header: http.Header{"X-Forwarded-For": {header}}}).Addr()
		if want == "" {
			require.False(t, addr.IsValid(), header)
		} else {
			require.Equal(t, netip.MustParseAddr(want), addr, header)
		}
	}
}
