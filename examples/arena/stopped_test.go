//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that was stopped for a while, as by a sleeping laptop, then continues with its own body. No
// other player leaves or has a clock as wrong, though on a busy machine another clock may be reset too.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	const silent = 5 * time.Second // the server drops clients that are silent for this time
	server := start(t, "-serve", "127.0.0.1:0")
	addr := server.address(t)
	bot := start(t, "-join", addr, "-clients", "1")
	server.says(t, "player=1")
	other := start(t, "-join", addr, "-clients", "1")
	server.says(t, "player=2")
	bot.says(t, "playing")
	other.says(t, "playing")
	for _, asleep := range []time.Duration{800 * time.Millisecond, 3 * time.Second, 7 * time.Second} {
		if asleep > silent {
			time.Sleep(asleep) // its place is held only as long as it has played
		}
		require.NoError(t, bot.Process.Signal(syscall.SIGSTOP))
		stopped, heard := time.Now(), len(bot.text())
		time.Sleep(asleep)
		require.NoError(t, bot.Process.Signal(syscall.SIGCONT))
		if asleep > silent {
			server.says(t, "msg=lost player=1")
			server.says(t, "came back")
		}
		// The first line may have been written before the process noticed.
		require.Eventually(t, func() bool { return strings.Count(bot.text()[heard:], "playing") > 1 }, patience, 20*time.Millisecond, asleep)
		if time.Since(stopped) < silent {
			require.NotContains(t, server.text(), "msg=lost", "%v", asleep)
			require.NotContains(t, server.text(), "came back", "%v", asleep)
		}
	}
	require.NotContains(t, server.text(), "msg=left")
	require.NotContains(t, server.text(), "msg=lost player=2")
	require.Less(t, other.resets(t), bot.resets(t))
}

// resets returns how many hard resets the bots reported last.
func (w *watched) resets(t *testing.T) (n int) {
	t.Helper()
	text := w.text()
	at := strings.LastIndex(text, " hard resets\n")
	require.Positive(t, at, text)
	_, err := fmt.Sscan(text[strings.LastIndexByte(text[:at], ' ')+1:at], &n)
	require.NoError(t, err, text)
	return n
}
