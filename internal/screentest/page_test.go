package screentest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what takes a moment on an idle machine.
const patience = 40 * time.Second

var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "arena")
	if err == nil {
		program, err = Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// browse opens a browser. Where there is none it stops the test, loudly.
func browse(t *testing.T, display string, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	t.Attr("cost", "sockets") // a page waits for the clock
	dir, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	ctx, stop, err := Browser(dir, display, flags...)
	if errors.Is(err, ErrNoBrowser) && os.Getenv("REQUIRE_BROWSER") != "1" {
		fmt.Fprintln(os.Stderr, "\n*** NOT TESTED: "+err.Error()+" ***")
		t.SkipNow()
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		stop()
		_ = os.RemoveAll(dir)
	})
	return ctx
}

func arena(t *testing.T, flags ...string) *Arena {
	t.Helper()
	a, err := Start(program, flags...)
	require.NoError(t, err)
	t.Cleanup(a.Stop)
	return a
}

// tab is a page that says what goes wrong in it.
type tab struct {
	context.Context
	t      *testing.T
	mu     sync.Mutex
	faults []string
}

// open opens a tab. The scripts run in it before the page's own.
func open(t *testing.T, browser context.Context, url string, scripts ...string) *tab {
	t.Helper()
	// In a window of its own, so that no tab is behind another.
	var id target.ID
	require.NoError(t, chromedp.Run(browser, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		return err
	})))
	ctx, stop := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(stop)
	p := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.faults = append(p.faults, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				p.faults = append(p.faults, fmt.Sprint(string(ev.Type), ": ", texts(ev.Args)))
			}
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError {
				p.faults = append(p.faults, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	})
	for _, script := range scripts {
		require.NoError(t, chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
			return err
		})))
	}
	require.NoError(t, chromedp.Run(ctx, log.Enable(), chromedp.Navigate(url)))
	return p
}

func texts(of []*runtime.RemoteObject) string {
	var all []string
	for _, o := range of {
		all = append(all, string(o.Value)+o.Description)
	}
	return strings.Join(all, " ")
}

func (p *tab) until(what string, want func(State) bool) State {
	p.t.Helper()
	s, err := Until(p, patience, want)
	require.NoError(p.t, err, what)
	return s
}

func (p *tab) set(name string, value float64) {
	p.t.Helper()
	require.NoError(p.t, Set(p, name, value))
}

// key presses or lets go of a key.
func (p *tab) key(code string, down bool) {
	p.t.Helper()
	kind := input.KeyUp
	if down {
		kind = input.KeyDown
	}
	require.NoError(p.t, chromedp.Run(p, input.DispatchKeyEvent(kind).WithCode(code)))
}

// respond walks to and fro, and returns what the page says about its newest responses: the
// median, for a busy machine has slow frames.
func (p *tab) respond() (took, ticks float64) {
	p.t.Helper()
	var all, counted []float64
	for n := 0; len(all) < 5 && n < 9; n++ {
		before, err := Read(p)
		require.NoError(p.t, err)
		time.Sleep(900 * time.Millisecond) // it stands
		code := [...]string{"KeyD", "KeyA", "KeyW", "KeyS"}[n%4]
		p.key(code, true)
		s, err := Until(p, 3*time.Second, func(s State) bool { return s.Responses > before.Responses })
		p.key(code, false)
		if err != nil {
			continue // a wall
		}
		all, counted = append(all, s.ResponseMs), append(counted, s.ResponseTicks)
	}
	require.GreaterOrEqual(p.t, len(all), 4)
	return median(all), median(counted)
}

func median(of []float64) float64 {
	sorted := append([]float64(nil), of...)
	for i := range sorted {
		for k := i; k > 0 && sorted[k] < sorted[k-1]; k-- {
			sorted[k], sorted[k-1] = sorted[k-1], sorted[k]
		}
	}
	return sorted[len(sorted)/2]
}

// well ends a tab's test: no fault in the console, nothing received that the server did not
// have, and a reason for each correction.
func (p *tab) well() State {
	p.t.Helper()
	s, err := Read(p)
	require.NoError(p.t, err)
	require.Equal(p.t, "playing", s.State)
	require.Empty(p.t, s.Errors)
	require.Zero(p.t, s.Desyncs)
	require.Zero(p.t, s.Broken)
	require.Greater(p.t, s.Compared, 100.)
	require.Zero(p.t, s.Unexplained, "%v %q", s.Causes, s.Why)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.faults)
	return s
}

// screenshot keeps what a tab looks like.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	dir := os.Getenv("ARENA_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	require.NoError(p.t, chromedp.Run(p, chromedp.FullScreenshot(&png, 100)))
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

func playing(s State) bool { return s.State == "playing" && s.FirstPlaying > 0 }

// The player responds within a tick with prediction, and after a round trip without it. No
// shots fall, so that it stands where it wants.
func TestPrediction(t *testing.T) {
	p := open(t, browse(t, ""), arena(t, "-peaceful", "-clients", "4").URL)
	s := p.until("plays", playing)
	t.Logf("playing %.0f ms after the start of the page", s.FirstPlaying)
	p.set("rtt", 200)
	p.until("the round trip grows", func(s State) bool { return s.RTT > 180 })
	took, ticks := p.respond()
	t.Logf("with prediction: %.0f ms, %.2f ticks", took, ticks)
	// Commands are sampled for the next tick, which starts within a tick, and shown within a frame.
	require.LessOrEqual(t, ticks, 2.)
	require.Less(t, took, 150.)

	p.set("prediction", 0)
	p.until("prediction goes off", func(s State) bool { return s.Settings["11"] == 0 })
	without, _ := p.respond()
	t.Logf("without: %.0f ms", without)
	require.GreaterOrEqual(t, without, 200.)

	p.set("prediction", 1)
	p.until("prediction comes back", func(s State) bool { return s.Settings["11"] == 1 })
	again, ticks := p.respond()
	t.Logf("with prediction again: %.0f ms, %.2f ticks", again, ticks)
	require.LessOrEqual(t, ticks, 2.)
	require.Less(t, again, without)
	p.well()
}

// Two tabs see each other, among sixteen bots that shoot. Every correction has a reason.
func TestTwoTabs(t *testing.T) {
	browser := browse(t, "")
	a := arena(t, "-clients", "16")
	one, two := open(t, browser, a.URL), open(t, browser, a.URL)
	for _, p := range []*tab{one, two} {
		require.NoError(t, chromedp.Run(p, emulation.SetFocusEmulationEnabled(true)))
	}
	first, second := one.until("plays", playing), two.until("plays", playing)
	require.NotEqual(t, first.Player, second.Player)
	sees := func(p *tab, other State) {
		p.until("sees the other tab", func(s State) bool { return s.Others[fmt.Sprint(other.Player)] != nil && len(s.Others) == 17 })
	}
	sees(one, second)
	sees(two, first)
	for range 6 {
		for _, p := range []*tab{one, two} {
			p.key("KeyD", true)
			p.key("Space", true)
		}
		time.Sleep(500 * time.Millisecond)
		for _, p := range []*tab{one, two} {
			p.key("KeyD", false)
			p.key("Space", false)
		}
		time.Sleep(500 * time.Millisecond)
	}
	// Where one tab has itself, the other has it too, once it stands.
	require.Eventually(t, func() bool {
		a, err := Read(one)
		b, e := Read(two)
		at := b.Others[fmt.Sprint(a.Player)]
		return err == nil && e == nil && at != nil && math.Hypot(at[0]-a.X, at[1]-a.Y) < 0.05
	}, patience, 100*time.Millisecond)
	one.screenshot("two-tabs")
	for i, p := range []*tab{one, two} {
		s := p.well()
		t.Logf("tab %d: playing after %.0f ms, %.0f frames a second, %.1f ms of Go in a frame, %.0f corrections: %v", i+1, s.FirstPlaying, s.PageFPS, s.FrameMs, s.Mispredictions, s.Causes)
		require.Less(t, s.FirstPlaying, 10_000.)
		require.GreaterOrEqual(t, s.PageFPS, 10.)
		require.NotZero(t, s.Mispredictions, "stuns cannot be foreseen")
	}
}

// Every panel works: a link that loses, the presets, the sliders, the spike, the freeze, and
// each technique off and on. Then nothing is out of step.
func TestPanels(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-clients", "8").URL)
	p.do(emulation.SetFocusEmulationEnabled(true))
	p.until("plays", playing)
	p.click("#preset-train")
	s := p.until("a preset is the link's", func(s State) bool { return s.Settings["1"] > 0 && s.Settings["3"] > 0 })
	require.InDelta(t, 120, s.Settings["1"], 1)
	p.shows("the preset", s)
	require.NotZero(t, p.slider("loss"))
	p.until("the line is slow", func(s State) bool { return s.RTT > 100 })
	p.click("#preset-perfect")
	s = p.until("the line is good again", func(s State) bool { return s.RTT < 60 && s.Settings["1"] == 0 })
	p.shows("the other preset", s)
	require.Zero(t, p.slider("rtt"))
	for i, name := range []string{"rtt", "jitter", "loss", "burst", "duplicate", "reorder", "bandwidth"} {
		number := fmt.Sprint(1 + i)
		p.click("#" + name) // in the middle: the value is half of the most
		s = p.until(name+" follows its slider", func(s State) bool { return s.Settings[number] > 0 })
		require.InDelta(t, p.slider(name), s.Settings[number], 0.01, name)
		var most float64
		p.do(chromedp.Evaluate(`Number(document.getElementById("`+name+`").max)`, &most))
		require.InDelta(t, most/2, s.Settings[number], most/10, name)
		p.do(chromedp.Focus("#"+name, chromedp.ByID), chromedp.KeyEvent("\u0306")) // Home
		p.until(name+" goes back", func(s State) bool { return s.Settings[number] == 0 })
	}
	p.until("the line is good once more", func(s State) bool { return s.RTT < 60 })
	p.click("#spike")
	p.until("a spike", func(s State) bool { return s.RTT > 90 })
	p.until("the spike is over", func(s State) bool { return s.RTT < 60 })
	p.freezes()
	p.until("plays on", func(s State) bool { return playing(s) && s.ServerTick-s.RenderTick < 15 })
	for i, name := range []string{"prediction", "reconciliation", "smoothing", "interpolation", "lagCompensation", "lateInputs"} {
		for _, on := range []float64{0, 1} {
			p.click("#" + name)
			s = p.until(name+" follows its checkbox", func(s State) bool { return s.Settings[fmt.Sprint(11+i)] == on })
			for k := range 6 {
				if k != i {
					require.Equal(t, 1., s.Settings[fmt.Sprint(11+k)], "%s alone changes", name)
				}
			}
			time.Sleep(700 * time.Millisecond)
			require.Equal(t, on == 1, p.checked(name), name)
		}
	}
	s, err := Read(p)
	require.NoError(t, err)
	require.Equal(t, 1., s.Connections)
	p.until("at rest with the server", func(s State) bool { return math.Hypot(s.X-s.ServerX, s.Y-s.ServerY) < 0.05 })
	p.well()
}

// shows waits until the sliders show the link's settings.
func (p *tab) shows(what string, s State) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		for i, name := range []string{"rtt", "jitter", "loss", "burst", "duplicate", "reorder", "bandwidth"} {
			var most, step float64
			p.do(
				chromedp.Evaluate(`Number(document.getElementById("`+name+`").max)`, &most),
				chromedp.Evaluate(`Number(document.getElementById("`+name+`").step)`, &step),
			)
			if math.Abs(p.slider(name)-min(s.Settings[fmt.Sprint(1+i)], most)) > step {
				return false
			}
		}
		return true
	}, patience, 100*time.Millisecond, "the sliders show %s", what)
}

// The page is readable on phones and wide screens, by day and by night, and Tab reaches
// every control.
func TestWidthsAndColours(t *testing.T) {
	t.Parallel()
	browser := browse(t, "")
	p := open(t, browser, arena(t, "-clients", "8").URL)
	require.NoError(t, chromedp.Run(p, emulation.SetFocusEmulationEnabled(true)))
	p.until("plays", playing)
	require.NoError(t, chromedp.Run(p, chromedp.Evaluate(`for (const l of ["ownNow", "ownTold", "raw", "othersNow"]) document.getElementById("layer-" + l).click()`, nil)))
	p.set("rtt", 200)
	for _, width := range []int64{400, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			var wide, clipped, controls float64
			var contrast []float64
			require.NoError(t, chromedp.Run(p,
				emulation.SetDeviceMetricsOverride(width, 1000, 1, width < 500),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.Sleep(1500*time.Millisecond),
				chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
				chromedp.Evaluate(`[...document.querySelectorAll("label span, button, dt, dd, legend")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline").length`, &clipped),
				chromedp.Evaluate(`document.querySelectorAll("input, button, canvas").length`, &controls),
				chromedp.Evaluate(contrasts, &contrast),
			))
			require.LessOrEqual(t, wide, float64(width), "nothing is wider than the screen")
			require.Zero(t, clipped)
			require.NotEmpty(t, contrast)
			for _, c := range contrast {
				require.GreaterOrEqual(t, c, 4.5, "%d, %s", width, scheme)
			}
			p.screenshot(fmt.Sprintf("page-%d-%s", width, scheme))
			require.Equal(t, controls, p.tabStops(int(controls)), "%d, %s", width, scheme)
		}
	}
	p.well()
}

// contrasts is the contrast of texts with what is behind them, as WCAG counts it.
const contrasts = `(() => {
	const light = c => {
		const [r, g, b] = c.match(/[\d.]+/g).map(Number).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255,255,255)"; };
	return ["#status", "#help", "dt", "dd", "legend", "#spike", "label span"].map(q => {
		const e = document.querySelector(q), a = light(getComputedStyle(e).color), b = light(behind(e));
		return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
	});
})()`

// tabStops presses Tab until it has seen each control, and counts them.
func (p *tab) tabStops(most int) float64 {
	p.t.Helper()
	seen := map[string]bool{}
	require.NoError(p.t, chromedp.Run(p, chromedp.Evaluate(`document.activeElement.blur()`, nil)))
	for range most + 3 {
		var id string
		require.NoError(p.t, chromedp.Run(p, chromedp.KeyEvent("\t"), chromedp.Evaluate(`document.activeElement.id`, &id)))
		if id != "" {
			seen[id] = true
		}
	}
	return float64(len(seen))
}
