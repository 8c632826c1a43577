package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: a terminal has one line that is overwritten, and a file one line a second.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"terminal":   {true, "\r0s\x1b[K\r400ms\x1b[K\r800ms\x1b[K\r1.2s\x1b[K\r1.6s\x1b[K\r2s\x1b[K\r2.4s\x1b[K\n"},
		"file, pipe": {false, "0s\n1.2s\n2.4s\n"},
	} {
		var out bytes.Buffer
		p := newProgress(&out)
		p.terminal = c.terminal
		for at := time.Duration(0); at < 2500*time.Millisecond; at += 400 * time.Millisecond {
			p.print(at, at.String())
		}
		p.end()
		require.Equal(t, c.want, out.String(), name)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	require.False(t, newProgress(f).terminal)
	require.NoError(t, f.Close())
}

// TestProgressOfMatch: a match of two seconds that writes into a pipe prints three lines.
func TestProgressOfMatch(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"sim", "udp"} {
		var out bytes.Buffer
		require.NoError(t, run(context.Background(), []string{"-seconds", "2", "-clients", "2", "-transport", over}, &out))
		require.NotContains(t, out.String(), "\r")
		n := strings.Count(out.String(), "predictions corrected  ")
		require.GreaterOrEqual(t, n, 1)
		require.LessOrEqual(t, n, 3)
	}
}
