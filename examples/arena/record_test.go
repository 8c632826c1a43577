package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lockedText is a buffer that two goroutines use.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A match over sockets is recorded, and replays to the same hashes.
func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var served lockedText
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-serve", "127.0.0.1:0", "-record", dir}, &served) }()
	at := regexp.MustCompile(`serving on (\S+)`)
	require.Eventually(t, func() bool { return at.MatchString(served.String()) }, 10*time.Second, 10*time.Millisecond)
	addr := at.FindStringSubmatch(served.String())[1]
	require.NoError(t, run(t.Context(), []string{"-join", addr, "-clients", "3", "-seconds", "2"}, &lockedText{}))
	stop()
	require.NoError(t, <-done)
	files, err := filepath.Glob(filepath.Join(dir, "arena-*.tape"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, served.String(), "replay it with -replay "+files[0])
	out := func(args ...string) string {
		var b strings.Builder
		require.NoError(t, run(t.Context(), append([]string{"-replay", files[0]}, args...), &b))
		return b.String()
	}
	require.Contains(t, out(), "ticks with the recorded hashes")
	list := out("-tick", "45")
	require.Contains(t, list, "after tick 45")
	first := regexp.MustCompile(`(?m)^ *(\d+) avatar `).FindStringSubmatch(list)
	require.NotNil(t, first, list)
	require.Contains(t, out("-tick", "45", "-entity", first[1]), "tick 45, entity")
	for _, args := range [][]string{{"-record", dir}, {"-tick", "5"}, {"-replay", "x", "-clients", "5"}} {
		require.ErrorIs(t, run(t.Context(), args, &strings.Builder{}), errUsage)
	}
	require.Error(t, run(t.Context(), []string{"-replay", filepath.Join(dir, "none")}, &strings.Builder{}))
}
