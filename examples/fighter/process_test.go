package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var seconds = flag.Int("seconds", 4, "for how long TestProcesses plays; with FORETICK_LONG=1 ten minutes")

// TestMain lets the test binary be the program, for tests of whole processes.
func TestMain(m *testing.M) {
	if os.Getenv("EXAMPLE_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is the program in a process of its own.
type process struct {
	*exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...)} // #nosec G204 -- this program itself
	p.Env = append(os.Environ(), "EXAMPLE_PROGRAM=1")
	p.Stdout, p.Stderr = p, p
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// finds waits until the process has written what a pattern matches, and returns the pattern's groups.
func (p *process) finds(t *testing.T, pattern string) []string {
	t.Helper()
	var found []string
	require.Eventually(t, func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(p.text())
		return found != nil
	}, time.Minute, 10*time.Millisecond, "%q", pattern)
	return found[1:]
}

// number returns the number before or after words that the process has written.
func (p *process) number(t *testing.T, pattern string) int {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(p.text())
	require.NotNil(t, found, "%q is not in:\n%s", pattern, p.text())
	n, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return n
}

// length returns how many seconds TestProcesses plays. Without -timeout, go test gives all of a package's tests
// ten minutes, so that it plays a little less.
func length(t *testing.T) int {
	n := *seconds
	if long := os.Getenv("FORETICK_LONG"); long != "" && long != "0" {
		n = 600
	}
	if end, ok := t.Deadline(); ok {
		n = min(n, int(time.Until(end).Seconds())-40)
	}
	return n
}

// TestProcesses: two processes play a match over UDP, and two over WebSocket, each through a relay that is a
// process too, with 100 ms between the players and 2 % loss. Both press and hit, both roll back, and their worlds
// stay equal. The replay that each keeps plays again.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("real time, which -short leaves out")
	}
	n := length(t)
	over := []string{"udp", "websocket"}
	bouts := make([]bout, len(over))
	for i := range over {
		bouts[i] = beginBout(t, i, n)
	}
	for i, name := range over {
		t.Run(name, func(t *testing.T) { bouts[i].check(t, n) })
	}
}

// bout is a match of processes.
type bout struct {
	relay   *process
	players [2]*process
	replays [2]string
}

// beginBout starts a match for so many seconds. address says which of those that the relay prints the players take.
func beginBout(t *testing.T, address, seconds int) (b bout) {
	t.Helper()
	dir := t.TempDir()
	b.relay = begin(t, "-relay", "127.0.0.1:0", "-rtt", "100ms", "-loss", "2")
	addr := b.relay.finds(t, `relay at (\S+), for browsers at (\S+)`)[address]
	for i := range b.players {
		b.replays[i] = filepath.Join(dir, strconv.Itoa(i))
		b.players[i] = begin(t, "-connect", addr, "-seconds", strconv.Itoa(seconds), "-seed", strconv.Itoa(7+i), "-save", b.replays[i])
	}
	return b
}

// check waits for the end of a match, and checks it.
func (b *bout) check(t *testing.T, seconds int) {
	for i, p := range b.players {
		require.NoError(t, p.Wait(), p.text())
		t.Log(strings.TrimSpace(p.text()))
		require.Positive(t, p.number(t, `(\d+) presses`))
		require.Positive(t, p.number(t, `the left began (\d+) attacks`))
		require.Positive(t, p.number(t, `the right (\d+) and`))
		require.Positive(t, p.number(t, `(\d+) attacks hit`)+p.number(t, `(\d+) were blocked`))
		require.Positive(t, p.number(t, `(\d+) rollbacks`))
		require.GreaterOrEqual(t, p.number(t, `(\d+) worlds summed`), seconds-1)
		require.Zero(t, p.number(t, `(\d+) desyncs`))
		if seconds >= 20 {
			require.Greater(t, p.number(t, `the left began \d+ attacks and hit (\d+)`), seconds/20)
			require.Greater(t, p.number(t, `the right \d+ and (\d+)`), seconds/20)
		}
		again := begin(t, "-replay", b.replays[i])
		require.NoError(t, again.Wait(), again.text())
		require.Contains(t, again.text(), "the world's hash after")
		require.True(t, strings.HasPrefix(p.text(), again.text()), "%s\n%s", p.text(), again.text())
	}
	require.NoError(t, b.relay.Process.Signal(syscall.SIGTERM))
	require.NoError(t, b.relay.Wait(), b.relay.text())
	t.Log(b.relay.finds(t, `(relay: .*)`)[0])
	require.GreaterOrEqual(t, b.relay.number(t, `compared (\d+)`), seconds-2)
	require.NotContains(t, b.relay.text(), "differed")
	require.GreaterOrEqual(t, b.relay.number(t, `joined (\d+)`), 2)
}
