package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

const patience = 30 * time.Second

// match is a match that ticks until it has been drained and is over.
type match struct {
	end  transport.Endpoint
	next time.Time

	mu            sync.Mutex
	drained, over bool
}

func (m *match) Step(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = now.Add(20 * time.Millisecond)
	if m.over {
		_ = m.end.Close(transport.Closed, "")
	}
}
func (m *match) Next() time.Time { return m.next }
func (m *match) Drain(string)    { m.mu.Lock(); defer m.mu.Unlock(); m.drained = true }
func (m *match) Shutdown(string, time.Duration) error {
	m.finish()
	return nil
}
func (m *match) Figures(*stats.Server) {}
func (m *match) Close(string) error    { return m.end.Close(transport.Closed, "") }
func (m *match) finish()               { m.mu.Lock(); defer m.mu.Unlock(); m.over = true }

func newHost(t *testing.T) (h *host.Host, made chan *match) {
	t.Helper()
	made = make(chan *match, 9)
	h, err := host.New(host.Config{Transport: sim.NewNetwork(1).Listen(), MaxMatches: 4, NewMatch: func(_ string, end transport.Endpoint) (host.Match, error) {
		m := &match{end: end}
		made <- m
		return m, nil
	}})
	require.NoError(t, err)
	return h, made
}

// A host with files: the files show each phase, and a drain file makes it drain.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &Files{ReadyFile: filepath.Join(dir, "ready"), HealthFile: filepath.Join(dir, "health"), DrainFile: filepath.Join(dir, "drain"),
		StatusFile: filepath.Join(dir, "status"), Poll: 10 * time.Millisecond, Mode: 0o644}
	h, made := newHost(t)
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), h, f, Config{Every: 40 * time.Millisecond, Idle: 50 * time.Millisecond})
	}()
	status := func() (s FileStatus) {
		b, err := os.ReadFile(f.StatusFile)
		if err == nil {
			require.NoError(t, json.Unmarshal(b, &s), "it is always whole")
		}
		return s
	}
	shows := func(want FileStatus) {
		t.Helper()
		require.Eventually(t, func() bool { return status() == want }, patience, time.Millisecond, "%+v", want)
	}
	exists := func(name string) func() bool { // the files are written one after another
		return func() bool { _, err := os.Stat(name); return err == nil }
	}
	shows(FileStatus{"ready", 0, 0, 4, true})
	if runtime.GOOS != "windows" { // Windows has no such permissions
		info, err := os.Stat(f.StatusFile)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	}
	require.Eventually(t, exists(f.ReadyFile), patience, time.Millisecond)
	require.Eventually(t, exists(f.HealthFile), patience, time.Millisecond)
	require.NoError(t, h.Allocate("a"))
	shows(FileStatus{"allocated", 1, 0, 3, true})
	require.FileExists(t, f.ReadyFile, "there is room for more")
	(<-made).finish()
	shows(FileStatus{"ready", 0, 0, 4, true})
	require.NoError(t, h.Allocate("b"))
	shows(FileStatus{"allocated", 1, 0, 3, true})
	require.NoError(t, os.WriteFile(f.DrainFile, nil, 0o600))
	shows(FileStatus{"draining", 1, 0, 0, false})
	require.Eventually(t, func() bool { return !exists(f.ReadyFile)() }, patience, time.Millisecond)
	require.True(t, h.Draining())
	m := <-made
	require.Eventually(t, func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.drained }, patience, time.Millisecond)
	m.finish()
	require.NoError(t, <-done)
	require.Equal(t, FileStatus{Phase: "shutdown"}, status(), "nothing runs any more")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "drain and status: %v", left)
}

// moody is a host that is unready while a test wants it.
type moody struct {
	*host.Host
	unready atomic.Bool
}

func (m *moody) Ready() bool { return !m.unready.Load() && m.Host.Ready() }

// A host that is unready has no ready file and no free place, until it is ready again. Its matches go
// on, and its health is reported.
func TestFilesOfUnreadyHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &Files{ReadyFile: filepath.Join(dir, "ready"), HealthFile: filepath.Join(dir, "health"), StatusFile: filepath.Join(dir, "status")}
	of, made := newHost(t)
	h := &moody{Host: of}
	done := make(chan error, 1)
	go func() { done <- runHost(context.Background(), h, f, Config{Every: 40 * time.Millisecond, Idle: -1}) }()
	shows := func(want FileStatus, ready bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			var s FileStatus
			b, err := os.ReadFile(f.StatusFile)
			_, missing := os.Stat(f.ReadyFile)
			return err == nil && json.Unmarshal(b, &s) == nil && s == want && (missing == nil) == ready
		}, patience, time.Millisecond, "%+v", want)
	}
	shows(FileStatus{"ready", 0, 0, 4, true}, true)
	require.NoError(t, h.Allocate("a"))
	shows(FileStatus{"allocated", 1, 0, 3, true}, true)
	h.unready.Store(true)
	shows(FileStatus{"allocated", 1, 0, 0, false}, false)
	require.NoError(t, os.Remove(f.HealthFile))
	require.Eventually(t, func() bool { _, err := os.Stat(f.HealthFile); return err == nil }, patience, time.Millisecond, "it is live")
	h.unready.Store(false)
	shows(FileStatus{"allocated", 1, 0, 3, true}, true)
	h.Drain("over")
	shows(FileStatus{"draining", 1, 0, 0, false}, false)
	(<-made).finish()
	require.NoError(t, <-done)
}

// Without any file name Files does nothing, and the host runs and drains as always. A file that cannot
// be written is an error.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	h, made := newHost(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, h, &Files{}, Config{Every: 20 * time.Millisecond}) }()
	require.NoError(t, h.Allocate("a"))
	m := <-made
	stop()
	require.Eventually(t, h.Draining, patience, time.Millisecond)
	m.finish()
	require.NoError(t, <-done)

	missing := filepath.Join(t.TempDir(), "no", "such")
	f := &Files{ReadyFile: missing, HealthFile: missing, StatusFile: missing}
	for _, call := range []func(context.Context) error{f.Ready, f.Health, f.Allocated, f.Draining} {
		require.ErrorIs(t, call(context.Background()), os.ErrNotExist)
	}
	require.Error(t, f.Counts(context.Background(), Counts{Matches: 1}))
}

// The errors of wrong arguments name the fix.
func TestFaults(t *testing.T) {
	h, _ := newHost(t)
	var none *host.Host
	require.ErrorContains(t, Run(nil, h, &Files{}, Config{}), "nil context") //nolint:staticcheck // what it refuses
	for want, run := range map[string]func() error{
		"host is nil":      func() error { return Run(context.Background(), none, &Files{}, Config{}) },
		"the host is nil":  func() error { return Run(context.Background(), nil, &Files{}, Config{}) },
		"lifecycle is nil": func() error { return Run(context.Background(), h, nil, Config{}) },
		"Every is -1ns":    func() error { return Run(context.Background(), h, &Files{}, Config{Every: -1}) },
		"Timeout is 2h":    func() error { return Run(context.Background(), h, &Files{}, Config{Timeout: 2 * time.Hour}) },
		"Failures is -1":   func() error { return Run(context.Background(), h, &Files{}, Config{Failures: -1}) },
		"Idle is 25h":      func() error { return Run(context.Background(), h, &Files{}, Config{Idle: 25 * time.Hour}) },
		"DrainFor is 169h": func() error { return Run(context.Background(), h, &Files{}, Config{DrainFor: 169 * time.Hour}) },
	} {
		require.ErrorContains(t, run(), want)
	}
	_ = h.Close("")
	require.NoError(t, Run(context.Background(), h, &Files{}, Config{}), "it was closed before")
	err := runHost(context.Background(), broken{h}, deaf{}, Config{Failures: 1})
	require.ErrorContains(t, err, "did not take Shutdown: deaf")
	require.ErrorIs(t, err, errBroken, "and what ended the host")
}

// broken is a host whose endpoint cannot be closed.
type broken struct{ *host.Host }

var errBroken = errors.New("the socket is broken")

func (broken) Run(context.Context) error { return errBroken }

// fickle is a manager whose Watch ends after each state. No two states in a row are the same, and every
// other call of Counts fails.
type fickle struct {
	Files
	states, calls atomic.Int64
}

func (f *fickle) Watch(_ context.Context, change func(State)) error {
	change(State{Phase: []string{"Ready", "Allocated"}[f.states.Add(1)%2]})
	return errDeaf
}

func (f *fickle) Counts(context.Context, Counts) error {
	if f.calls.Add(1)%2 == 0 {
		return errDeaf
	}
	return nil
}

// A manager that changes its state all the time causes at most one log line a second of each kind.
func TestLinesOfFickleManager(t *testing.T) {
	t.Parallel()
	var log strings.Builder // the host logs nothing, and Run writes its lines one after another
	var mu sync.Mutex
	h, made := newHost(t)
	f := &fickle{}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	begun := time.Now()
	go func() {
		done <- Run(ctx, h, f, Config{Every: 8 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))})
	}()
	require.NoError(t, h.Allocate("a"))
	require.Eventually(t, func() bool { return f.states.Load() > 300 && f.calls.Load() > 60 && time.Since(begun) > time.Second }, patience, time.Millisecond)
	stop()
	(<-made).finish()
	require.NoError(t, <-done)
	most := 1 + int(time.Since(begun)/lineEvery)
	for _, line := range []string{"the watch of the fleet manager ended", "the fleet manager says", "did not take a call"} {
		n := strings.Count(log.String(), line)
		require.Positive(t, n, line)
		require.LessOrEqual(t, n, most, line)
	}
	require.Contains(t, log.String(), "skipped=")
}

type locked struct {
	mu *sync.Mutex
	to *strings.Builder
}

func (l locked) Write(b []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.to.Write(b) }

// deaf is a manager whose calls all fail.
type deaf struct{}

var errDeaf = errors.New("deaf")

func (deaf) Watch(ctx context.Context, _ func(State)) error { <-ctx.Done(); return ctx.Err() }
func (deaf) Ready(context.Context) error                    { return errDeaf }
func (deaf) Health(context.Context) error                   { return errDeaf }
func (deaf) Allocated(context.Context) error                { return errDeaf }
func (deaf) Draining(context.Context) error                 { return errDeaf }
func (deaf) Shutdown(context.Context) error                 { return errDeaf }
func (deaf) Counts(context.Context, Counts) error           { return errDeaf }

// The number of waiting states is bounded, and the newest are kept.
func TestManyStates(t *testing.T) {
	k := &keeper{known: make(chan struct{}), news: make(chan struct{}, 1)}
	for i := range 2 * mostStates {
		k.putState(State{Ports: map[string]int{"n": i}})
	}
	require.Len(t, k.states, mostStates)
	require.Equal(t, 2*mostStates-1, k.states[mostStates-1].Ports["n"])
	require.Equal(t, mostStates, k.states[0].Ports["n"])
}

// TestHooksThatFail: the host goes on whatever the functions of Config do. A failure of each is logged
// with its stack once an hour.
func TestHooksThatFail(t *testing.T) {
	for way, fail := range map[string]func(){"panic": func() { panic("planted") }, "Goexit": runtime.Goexit} {
		var log strings.Builder
		calls := 0
		cfg := Config{Failures: 3, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			OnState: func(State) { calls++; fail() }, Escalate: func(error) { calls++; fail() }}
		k := &keeper{Config: cfg, lines: lines{log: cfg.Logger}, states: []State{{}, {}, {}}}
		k.takeStates()
		for range 2 {
			k.failed(cfg.Failures, errors.New("no answer"))
		}
		require.Equal(t, 5, calls, way)
		for _, name := range []string{"OnState", "Escalate"} {
			require.Equal(t, 1, strings.Count(log.String(), "function="+name), way)
		}
		require.Contains(t, log.String(), "lifecycle_test.go", way)
	}
}
