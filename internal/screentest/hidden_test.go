package screentest

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var hidden = flag.Duration("hidden", 20*time.Second, "how long a tab is hidden")

// xvfb starts a display without a screen, and returns its name. Where there is none it stops
// the test, loudly.
func xvfb(t *testing.T) string {
	path, err := exec.LookPath("Xvfb")
	if err != nil && os.Getenv("REQUIRE_BROWSER") != "1" {
		_, _ = os.Stderr.WriteString("\n*** NOT TESTED: there is no Xvfb: apt-get install -y xvfb ***\n")
		t.SkipNow()
	}
	require.NoError(t, err)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	x := exec.Command(path, "-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{write}
	require.NoError(t, x.Start())
	t.Cleanup(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	require.NoError(t, read.SetReadDeadline(time.Now().Add(patience)))
	name, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	return ":" + strings.TrimSpace(name)
}

// A hidden tab draws no frames and its timers are slow, but it plays on with what comes over
// the network. When it is shown again it is in step within two seconds (on a busy machine ten times
// that), on the connection that it had. Only a browser with a display hides tabs.
func TestHidden(t *testing.T) {
	t.Parallel()
	display := xvfb(t)
	browser := browse(t, display, chromedp.WindowSize(1200, 850))
	p := open(t, browser, arena(t, "-clients", "4").URL)
	s := p.until("plays", func(s State) bool { return playing(s) && s.Frames > 30 })
	require.Equal(t, "visible", s.Visibility)
	other, stop := chromedp.NewContext(browser)
	defer stop()
	require.NoError(t, chromedp.Run(other, chromedp.Navigate("about:blank")))
	for try := 1; ; try++ {
		require.NoError(t, chromedp.Run(other, target.ActivateTarget(chromedp.FromContext(other).Target.TargetID)))
		before := p.until("is hidden", func(s State) bool { return s.Visibility == "hidden" && playing(s) })
		time.Sleep(*hidden)
		after, err := Read(p)
		require.NoError(t, err)
		require.Equal(t, "hidden", after.Visibility)
		require.LessOrEqual(t, after.Frames, before.Frames+2, "a hidden tab draws nothing")
		steps := (after.HiddenSteps - before.HiddenSteps) / hidden.Seconds()
		t.Logf("hidden for %v: %.1f steps a second, %.0f ticks on", *hidden, steps, after.ServerTick-before.ServerTick)

		require.NoError(t, chromedp.Run(p, target.ActivateTarget(chromedp.FromContext(p).Target.TargetID)))
		shown := time.Now()
		s, err = Until(p, 10*2*time.Second, func(s State) bool {
			return s.Visibility == "visible" && s.Frames > after.Frames && playing(s) && !s.Stalled && s.ServerTick-s.RenderTick < 12 && s.Tick > s.ServerTick
		})
		require.NoError(t, err)
		t.Logf("in step %v after it is shown", time.Since(shown).Round(time.Millisecond))
		require.Equal(t, before.Player, s.Player)
		if s.Connections != before.Connections && try < 3 {
			t.Logf("try %d: the connection was lost, as it is where a machine gives a program no time for seconds", try)
			continue
		}
		require.Greater(t, steps, 10.)
		require.Equal(t, "playing", after.State)
		require.Equal(t, before.Connections, s.Connections, "it was never lost")
		// A tab that only its timers wake jumps with each of them, once a second. So do, at times,
		// a server and a client on a machine that stood still.
		require.LessOrEqual(t, s.HardResets-before.HardResets, hidden.Seconds()/4)
		break
	}
	p.well()
}
