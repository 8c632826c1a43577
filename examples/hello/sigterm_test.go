package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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

// says waits for a text in what the process writes from now on.
func (p *process) says(t *testing.T, what string) {
	t.Helper()
	heard := len(p.text())
	require.Eventually(t, func() bool { return strings.Contains(p.text()[heard:], what) }, time.Minute, 10*time.Millisecond, "%q", what)
}

// A server that gets SIGTERM keeps its players, refuses newcomers, and ends with its last player.
func TestSigterm(t *testing.T) {
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.LocalAddr().String()
	require.NoError(t, free.Close())
	server := begin(t, "-serve", "-addr", addr)
	require.Eventually(t, func() bool { // the server has taken the port
		l, err := net.ListenPacket("udp", addr)
		if err == nil {
			_ = l.Close()
		}
		return err != nil
	}, time.Minute, 20*time.Millisecond)
	player := begin(t, "-addr", addr)
	player.says(t, "player 1")
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	late := begin(t, "-addr", addr)
	require.Error(t, late.Wait())
	require.Contains(t, late.text(), "this server closes")
	player.says(t, "player 1")
	require.NoError(t, player.Process.Signal(syscall.SIGTERM))
	require.NoError(t, player.Wait(), player.text())
	require.NoError(t, server.Wait(), server.text())
}
