package main

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

// command returns a command in a directory, without a network: the module cache of a
// machine that builds Foretick has everything that a game needs.
func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
	if costtest.Count(0, 1) == 0 {
		cmd.Env = append(cmd.Env, "SIMTEST_SEED=1") // the README's test command plays all seeds of a new game
	}
	return cmd
}

func runIn(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	out, err := command(dir, name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

// start runs a program until the test ends, and returns its lines.
func start(t *testing.T, cmd *exec.Cmd) <-chan string {
	t.Helper()
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = w.Close()
	})
	lines := make(chan string, 1024)
	go func() {
		for in := bufio.NewScanner(r); in.Scan(); {
			select {
			case lines <- in.Text():
			default: // the test no longer reads lines
			}
		}
	}()
	return lines
}

// await returns the groups of the first line that matches.
func await(t *testing.T, lines <-chan string, want string) []string {
	t.Helper()
	re, over, last := regexp.MustCompile(want), time.After(time.Minute), ""
	for {
		select {
		case line := <-lines:
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			}
			last = line
		case <-over:
			require.Fail(t, "no line matches "+want, "the last one is %q", last)
		}
	}
}

// A new game passes its own tests, and two players of it see each other walk: on a server, and with -rollback
// through a relay.
func TestNewGame(t *testing.T) {
	for host, flags := range map[string][]string{"server": nil, "relay": {"-rollback"}} {
		t.Run(host, func(t *testing.T) { playNewGame(t, host, flags...) })
	}
}

func playNewGame(t *testing.T, host string, flags ...string) {
	releasetest.Root(t) // the game builds with a checkout
	t.Setenv("GOPROXY", "off")
	dir := filepath.Join(t.TempDir(), "games", "mygame")
	var out bytes.Buffer
	require.NoError(t, run(append(flags, dir), &out))
	require.NotContains(t, out.String(), "failed")
	require.Contains(t, out.String(), "go run ./cmd/"+host)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "replace github.com/foretick/foretick => ")
	lines := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "go.sum" {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			lines += bytes.Count(b, []byte("\n"))
		}
		return err
	}))
	require.LessOrEqual(t, lines, 166, "a game to begin with is read in one go")

	unformatted, err := command(dir, "gofmt", "-l", ".").CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(unformatted))
	runIn(t, dir, "go", "vet", "./...")
	runIn(t, dir, "go", "test", "./...")
	runIn(t, dir, "go", "build", "-o", dir, "./...")
	hosting := start(t, command(dir, filepath.Join(dir, host), "-addr", "127.0.0.1:0"))
	addr := await(t, hosting, `listening on (\S+)`)[1]
	var screens [2]<-chan string
	for i, keys := range []string{"d\n", "a\n"} {
		client := command(dir, filepath.Join(dir, "client"), "-addr", addr)
		client.Stdin = strings.NewReader(keys)
		screens[i] = start(t, client)
		await(t, screens[i], "playing: you are player") // waits, so that the first is player 1
	}
	await(t, screens[0], `you are player 1;.* 2 at 2\d\.`)
	await(t, screens[1], `you are player 2;.* 1 at (3[1-9]|[45]\d|60)\.`)
}

// For invalid names and directories the error says what to write instead.
func TestBadNames(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o777))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"got 0 names", nil},
		{"got 2 names", []string{"my", "game"}},
		{"as in " + filepath.Join(dir, "mygame"), []string{filepath.Join(dir, "My-Game")}},
		{"as in mygame", []string{"2048"}},
		{"for example myfunc", []string{"func"}},
		{"for example mymain", []string{"main"}},
		{"for example mygame", []string{"game_test"}},
		{"package of Go's own", []string{filepath.Join(dir, "net")}},
		{"package of Go's own", []string{filepath.Join(dir, "std")}},
		{"use letters, digits, dots", []string{"-module", "../game", "game"}},
		{"exists: remove it", []string{filepath.Join(dir, "taken")}},
	} {
		err := run(c.args, io.Discard)
		require.ErrorContains(t, err, c.want, "%v", c.args)
	}
	for _, name := range []string{"game", "net"} {
		require.NoDirExists(t, name)
		require.NoDirExists(t, filepath.Join(dir, name))
	}
}

// Reserved names are found even if a go.work is there that the go command refuses.
func TestReservedNames(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26.0\n\nuse ./none\n"), 0o600))
	t.Chdir(dir)
	for name, want := range map[string]bool{"net": true, "os/exec": true, "std": true, "mygame": false} {
		require.Equal(t, want, reserved(name), name)
	}
}

// A game inside of the checkout is refused, because the checkout's go.work would apply to it.
func TestInsideOfCheckout(t *testing.T) {
	releasetest.Root(t)
	for _, name := range []string{"game", "deep/down/game"} {
		require.ErrorContains(t, run([]string{name}, io.Discard), "inside of the checkout")
		require.NoDirExists(t, name)
	}
	require.NoDirExists(t, "deep")
}

// A game with a module path of its own, and with a tagged version of the library.
func TestRelease(t *testing.T) {
	v, ok := released(&debug.Module{Version: "v0.1.0", Sum: "h1:x="})
	require.True(t, ok)
	_, ok = released(&debug.Module{Version: "v0.1.0"}) // a clean checkout of the tag
	require.False(t, ok)
	g, err := newGame(filepath.Join(t.TempDir(), "net"), "example.com/me/net")
	require.NoError(t, err)
	g.Version = v
	require.NoError(t, g.write())
	mod, err := os.ReadFile(filepath.Join(g.dir, "go.mod"))
	require.NoError(t, err)
	require.Equal(t, "module example.com/me/net\n\ngo 1.26.0\n\nrequire github.com/foretick/foretick v0.1.0\n", string(mod))
	client, err := os.ReadFile(filepath.Join(g.dir, "cmd", "client", "main.go"))
	require.NoError(t, err)
	require.Contains(t, string(client), `game "example.com/me/net"`)
}

// The window client is only written with -ebiten. Package screen of examples/ebiten builds and
// runs it.
func TestWindow(t *testing.T) {
	for _, ebiten := range []bool{false, true} {
		g, err := newGame(filepath.Join(t.TempDir(), "mygame"), "")
		require.NoError(t, err)
		g.Version, g.Ebiten = "v0.1.0", ebiten
		require.NoError(t, g.write())
		mod, err := os.ReadFile(filepath.Join(g.dir, "go.mod"))
		require.NoError(t, err)
		require.Equal(t, ebiten, strings.Contains(string(mod), "hajimehoshi/ebiten"))
		_, err = os.Stat(filepath.Join(g.dir, "cmd", "window", "main.go"))
		require.Equal(t, ebiten, err == nil, "%v", err)
	}
}
