// Package screentest plays the arena's page in a real browser, and opens the window of a new
// game on a display without a screen. It is a separate module, so
// that nobody else downloads the browser's driver. Its go.work uses the repository.
//
//	go test ./...                       # needs Chromium, and Xvfb for the hidden tab
//	go test -run TestHidden -hidden 2m  # the long form
//	go run ./pictures                   # makes docs/pictures
//
// Without a browser the tests say so and stop, unless REQUIRE_BROWSER is 1.
// ARENA_SCREENSHOTS names a directory that keeps screenshots of the page.
package screentest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/foretick/foretick" // the module that the arena is built from

	"github.com/chromedp/chromedp"
)

// ErrNoBrowser is returned where there is no Chromium.
var ErrNoBrowser = errors.New("there is no Chromium: apt-get install -y chromium xvfb")

// Arena is a running arena -web.
type Arena struct {
	URL     string
	Inspect string // The inspector's address, with its key.
	cmd     *exec.Cmd
}

// Build builds the arena into a directory, and returns the program.
func Build(dir string) (string, error) {
	name := filepath.Join(dir, "arena")
	out, err := exec.Command("go", "build", "-o", name, "github.com/foretick/foretick/examples/arena").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
}

// Start starts the program with -web and more flags, and waits for its address.
func Start(program string, flags ...string) (*Arena, error) {
	a := &Arena{cmd: exec.Command(program, append([]string{"-web", "127.0.0.1:0"}, flags...)...)}
	a.cmd.Stderr = os.Stderr
	pipe, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "play at "); ok {
			a.URL, _, _ = strings.Cut(rest, " ")
		}
		if _, rest, ok := strings.Cut(lines.Text(), "inspect at "); ok {
			a.Inspect, _, _ = strings.Cut(rest, " ")
			go func() {
				for lines.Scan() {
				}
			}()
			return a, nil
		}
	}
	return nil, fmt.Errorf("the arena ended: %w", a.cmd.Wait())
}

// Stop ends the arena.
func (a *Arena) Stop() {
	_ = a.cmd.Process.Signal(syscall.SIGTERM)
	_ = a.cmd.Wait()
}

// Browser starts a browser with a new profile in dir, and returns a context for its tabs.
// Without a display it is headless. A browser that ends at its start is started again.
func Browser(dir, display string, flags ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil && path == "" {
			path = at
		}
	}
	if path == "" {
		return nil, nil, ErrNoBrowser
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WSURLReadTimeout(2 * time.Minute),
	}
	if display == "" {
		options = append(options, chromedp.Headless)
	} else {
		options = append(options, chromedp.Env("DISPLAY="+display))
	}
	options = append(options, flags...)
	for try := 1; ; try++ {
		profile := chromedp.UserDataDir(filepath.Join(dir, fmt.Sprintf("profile%d", try)))
		ctx, stop := chromedp.NewExecAllocator(context.Background(), append(options[:len(options):len(options)], profile)...)
		browser, end := chromedp.NewContext(ctx)
		err := chromedp.Run(browser)
		if err == nil {
			return browser, func() { end(); stop() }, nil
		}
		end()
		stop()
		if try == starts {
			return nil, nil, err
		}
	}
}

// starts is how often a browser is started: on a busy machine it at times ends at once.
const starts = 3

// State is what the page says of itself: see web.Session.State and page.js.
type State struct {
	State, Error, Visibility           string
	Player, Tick                       float64
	X, Y, ServerX, ServerY             float64
	RTT, ResponseMs, ResponseTicks     float64
	Responses, Predicted               float64
	Mispredictions, Unexplained        float64
	HardResets, Connections            float64
	Compared, Desyncs, Broken          float64
	ServerTick, RenderTick             float64
	FirstPlaying, PageFPS, HiddenSteps float64
	FrameMs, Frames                    float64
	Ammo, ShotTick                     float64
	Dead, Stunned, Stalled             bool
	Why, Errors                        []string
	Causes                             map[string]float64
	Others                             map[string][]float64
	Settings                           map[string]float64
}

// Read returns a tab's state.
func Read(tab context.Context) (s State, err error) {
	var text string
	if err := chromedp.Run(tab, chromedp.Evaluate(`JSON.stringify(arena.read())`, &text)); err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(text), &s)
}

// Until reads a tab's state until it is as wanted.
func Until(tab context.Context, patience time.Duration, want func(State) bool) (s State, err error) {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if s, err = Read(tab); err == nil && want(s) {
			return s, nil
		}
		if time.Now().After(end) {
			return s, fmt.Errorf("not within %v: %+v, %w", patience, s, err)
		}
	}
}

// Set sets a panel's setting, such as rtt or prediction.
func Set(tab context.Context, name string, value float64) error {
	return chromedp.Run(tab, chromedp.Evaluate(fmt.Sprintf(`arena.set(%q, %v)`, name, value), nil))
}
