package screentest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The window of a new game, as cmd/new writes it, builds and stays open: on a server of the same game, and with
// -rollback on a relay. Ebitengine builds with the headers of a display and of sound.
func TestNewWindow(t *testing.T) {
	display := xvfb(t)
	for host, flags := range map[string][]string{"server": {"-ebiten"}, "relay": {"-ebiten", "-rollback"}} {
		t.Run(host, func(t *testing.T) { openNewWindow(t, display, host, flags...) })
	}
}

func openNewWindow(t *testing.T, display, host string, flags ...string) {
	dir := filepath.Join(t.TempDir(), "mygame")
	run := func(in, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, out)
	}
	run("../..", "go", append(append([]string{"run", "./cmd/new"}, flags...), dir)...)
	run(dir, "go", "vet", "./cmd/window")
	run(dir, "go", "build", "-o", dir, "./cmd/"+host, "./cmd/window")
	hosting := exec.Command(filepath.Join(dir, host), "-addr", "127.0.0.1:0")
	log, err := hosting.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, hosting.Start())
	t.Cleanup(func() { _ = hosting.Process.Kill(); _ = hosting.Wait() })
	line, err := bufio.NewReader(log).ReadString('\n')
	require.NoError(t, err)
	_, addr, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	window := exec.Command(filepath.Join(dir, "window"), "-addr", addr)
	window.Env = append(os.Environ(), "DISPLAY="+display)
	require.NoError(t, window.Start())
	ended := make(chan error, 1)
	go func() { ended <- window.Wait() }()
	select {
	case err := <-ended:
		t.Errorf("the window closed: %v", err)
	case <-time.After(3 * time.Second):
		_ = window.Process.Kill()
		<-ended
	}
}
