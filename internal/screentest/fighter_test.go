package screentest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// fighterState is what the fighter's page says of its player: see publish in examples/ebiten/fighter.
type fighterState struct {
	State, Visibility              string
	Player, Tick, Settled, Delay   float64
	Rollbacks, Reruns, Stalls      float64
	StandIns, Sums, Desyncs        float64
	Worlds, Connections            float64
	Pressed, Hits, Frames, Between float64
}

// fighter is a page that plays the fighter.
type fighter struct{ *tab }

func (f fighter) read() (s fighterState, err error) {
	var text string
	if err := chromedp.Run(f, chromedp.Evaluate(`JSON.stringify(globalThis.fighter ? fighter.read() : {})`, &text)); err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(text), &s)
}

// until reads the page's state until it is as wanted. A program of 20 MB takes long to start on a busy machine.
func (f fighter) until(what string, want func(fighterState) bool) (s fighterState) {
	f.t.Helper()
	var err error
	for end := time.Now().Add(3 * patience); ; time.Sleep(50 * time.Millisecond) {
		if s, err = f.read(); err == nil && want(s) {
			return s
		}
		if time.Now().After(end) {
			require.Fail(f.t, what, "%+v, %v, %q", s, err, f.faults)
		}
	}
}

// fights lets two fighters walk to each other and punch for a time.
func fights(fighters []fighter, d time.Duration) {
	towards := [2]string{"KeyD", "KeyA"}
	for i, f := range fighters {
		f.key(towards[i], true)
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, f := range fighters {
			f.key("KeyU", true)
		}
		time.Sleep(80 * time.Millisecond)
		for _, f := range fighters {
			f.key("KeyU", false)
		}
		time.Sleep(80 * time.Millisecond)
	}
	for i, f := range fighters {
		f.key(towards[i], false)
	}
}

// match is a relay in a process of its own, which serves the fighter's page too.
type match struct {
	*exec.Cmd
	addr  string
	lines chan string
}

// figures returns a function that finds a number in a text, or 0: the relay writes no figure that is zero.
func figures(t *testing.T, text string) func(pattern string) int {
	t.Log(strings.TrimSpace(text))
	return func(pattern string) int {
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			return 0
		}
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return n
	}
}

// plays lets a bot in a process of its own play for a time, and returns the figures that it prints.
func (m *match) plays(t *testing.T, d time.Duration) func(pattern string) int {
	t.Helper()
	cmd := exec.Command(m.Path, "-connect", m.addr, "-seconds", strconv.Itoa(int(d.Seconds())))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return figures(t, string(out))
}

// end ends the relay, and returns its figures.
func (m *match) end(t *testing.T) func(pattern string) int {
	t.Helper()
	require.NoError(t, m.Process.Signal(syscall.SIGTERM))
	var text string
	for line := range m.lines {
		text += line
	}
	require.NoError(t, m.Wait())
	return figures(t, text)
}

// serveFighter builds the page and the relay, and starts it.
func serveFighter(t *testing.T) *match {
	t.Helper()
	dir := t.TempDir()
	page := filepath.Join(dir, "page")
	require.NoError(t, os.Mkdir(page, 0o755))
	module := filepath.Join("..", "..", "examples", "ebiten")
	build := func(in, to, pkg string, env ...string) {
		t.Helper()
		cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", to, pkg)
		cmd.Dir, cmd.Env = in, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	build(module, filepath.Join(page, "main.wasm"), "./fighter", "GOOS=js", "GOARCH=wasm")
	build(".", filepath.Join(dir, "fighter"), "github.com/foretick/foretick/examples/fighter")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	for name, from := range map[string]string{
		"wasm_exec.js": filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"),
		"index.html":   filepath.Join(module, "web", "index.html"),
	} {
		b, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(page, name), b, 0o600))
	}

	m := &match{Cmd: exec.Command(filepath.Join(dir, "fighter"), "-relay", "127.0.0.1:0", "-web", page, "-rtt", "100ms", "-loss", "2"), lines: make(chan string, 16)}
	m.Stderr = os.Stderr
	out, err := m.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, m.Start())
	t.Cleanup(func() { _ = m.Process.Kill() })
	go func() {
		defer close(m.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			m.lines <- in.Text()
		}
	}()
	found := regexp.MustCompile(`relay at (\S+),`).FindStringSubmatch(<-m.lines)
	require.NotNil(t, found)
	m.addr = found[1]
	return m
}

// TestFighter: two browsers with profiles of their own play the fighter against each other by their keyboards, over
// WebSocket and a relay, with 100 ms between them and 2 % loss. Then one leaves, and a bot joins in its place. The
// tab of the other is hidden. It plays on with what comes over the network, so the bot waits at most once; shown
// again, it is the same player on the same connection. No two worlds ever differ.
func TestFighter(t *testing.T) {
	t.Parallel()
	display := xvfb(t)
	m := serveFighter(t)
	var fighters []fighter
	var browsers []context.Context
	for i := range 2 {
		browser := browse(t, display, chromedp.WindowSize(560, 420), chromedp.Flag("window-position", fmt.Sprintf("%d,0", 600*i)),
			chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
		f := fighter{open(t, browser, "http://"+m.addr)}
		require.NoError(t, chromedp.Run(f, emulation.SetFocusEmulationEnabled(true)))
		s := f.until("plays", func(s fighterState) bool { return s.State == "playing" })
		require.Equal(t, float64(i+1), s.Player)
		require.Equal(t, "visible", s.Visibility)
		fighters, browsers = append(fighters, f), append(browsers, browser)
	}
	f := fighters[1]
	fights(fighters, 10*time.Second)
	for i, f := range fighters {
		s, err := f.read()
		require.NoError(t, err)
		t.Logf("tab %d: %+v", i+1, s)
		require.Greater(t, s.Pressed, 5.)
		require.Greater(t, s.Hits, 2.)
		require.Positive(t, s.Rollbacks)
		require.Greater(t, s.Sums, 5.)
		require.Zero(t, s.Desyncs)
		f.screenshot(fmt.Sprintf("fighter-%d", i+1))
	}
	require.NoError(t, chromedp.Cancel(fighters[0]))

	// Only a browser with a display hides tabs, and only without the emulation of focus.
	require.NoError(t, chromedp.Run(f, emulation.SetFocusEmulationEnabled(false)))
	other, stop := chromedp.NewContext(browsers[1])
	defer stop()
	require.NoError(t, chromedp.Run(other, chromedp.Navigate("about:blank")))
	for try := 1; ; try++ {
		require.NoError(t, chromedp.Run(other, target.ActivateTarget(chromedp.FromContext(other).Target.TargetID)))
		before := f.until("is hidden", func(s fighterState) bool { return s.Visibility == "hidden" })
		bot := m.plays(t, *hidden)
		after, err := f.read()
		require.NoError(t, err)
		require.Equal(t, "hidden", after.Visibility)
		require.LessOrEqual(t, after.Frames, before.Frames+2, "a hidden tab draws nothing")
		require.NoError(t, chromedp.Run(f, target.ActivateTarget(chromedp.FromContext(f).Target.TargetID)))
		shown := f.until("is shown", func(s fighterState) bool {
			return s.Visibility == "visible" && s.State == "playing" && s.Frames > after.Frames+5
		})
		t.Logf("hidden for %v: %.1f steps a second, %.0f ticks, %.0f sums, %.0f of its inputs came late", *hidden, (after.Between-before.Between)/hidden.Seconds(),
			after.Tick-before.Tick, after.Sums-before.Sums, after.StandIns-before.StandIns)
		require.Zero(t, bot(`(\d+) desyncs`))
		require.Greater(t, bot(`(\d+) worlds summed`), int(hidden.Seconds())-5)
		require.Greater(t, bot(`(\d+) presses`), int(hidden.Seconds()/2))
		require.Greater(t, bot(`(\d+) attacks hit`), int(hidden.Seconds()/10))
		require.Greater(t, after.Between-before.Between, 10*hidden.Seconds())
		require.Greater(t, after.Sums-before.Sums, hidden.Seconds()-5)
		require.Greater(t, after.Hits-before.Hits, hidden.Seconds()/10)
		require.Equal(t, before.Player, shown.Player)
		require.Zero(t, shown.Desyncs)
		if n := bot(`waited (\d+) times`); n > 1 && try < 3 {
			t.Logf("try %d: the bot waited %d times, as where a machine gives a browser no time", try, n)
			continue
		} else {
			require.LessOrEqual(t, n, 1)
		}
		require.Equal(t, before.Connections, shown.Connections, "it was never lost")
		break
	}
	require.NoError(t, chromedp.Run(f, chromedp.Navigate("about:blank")))
	figure := m.end(t)
	require.Greater(t, figure(`compared (\d+)`), 20)
	require.Zero(t, figure(`differed (\d+)`))
	require.GreaterOrEqual(t, figure(`joined (\d+)`), 3)
}
