package screentest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// middle returns where the middle of an element is on the screen, and rolls it into view.
func (p *tab) middle(selector string) (x, y float64) {
	p.t.Helper()
	var at []float64
	p.do(chromedp.Evaluate(fmt.Sprintf(`(e => { e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })(document.querySelector(%q))`, selector), &at))
	require.Len(p.t, at, 2)
	return at[0], at[1]
}

// mouse sends what a mouse does.
func (p *tab) mouse(kind input.MouseType, x, y float64, button input.MouseButton) {
	p.t.Helper()
	event := input.DispatchMouseEvent(kind, x, y).WithButton(button)
	if kind != input.MouseMoved {
		event = event.WithClickCount(1)
	}
	p.do(event)
}

// click clicks into the middle of an element with the mouse.
func (p *tab) click(selector string) {
	p.t.Helper()
	x, y := p.middle(selector)
	p.mouse(input.MousePressed, x, y, input.Left)
	p.mouse(input.MouseReleased, x, y, input.Left)
}

// focused returns the id of what has the focus.
func (p *tab) focused() (id string) {
	p.t.Helper()
	p.do(chromedp.Evaluate(`document.activeElement.id`, &id))
	return id
}

// checked reports whether a checkbox has its mark.
func (p *tab) checked(id string) (on bool) {
	p.t.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`document.getElementById(%q).checked`, id), &on))
	return on
}

// slider returns where a slider stands.
func (p *tab) slider(id string) (v float64) {
	p.t.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`Number(document.getElementById(%q).value)`, id), &v))
	return v
}

// walksByKey walks a step by a key. A wall may be in one way.
func (p *tab) walksByKey(why string) {
	p.t.Helper()
	for _, key := range []string{"KeyD", "KeyA", "KeyW", "KeyS"} {
		from := p.rests(why)
		p.key(key, true)
		_, err := Until(p, 1500*time.Millisecond, func(s State) bool { return math.Hypot(s.X-from.X, s.Y-from.Y) > 1 })
		p.key(key, false)
		if err == nil {
			return
		}
	}
	require.Fail(p.t, "no key walks", why)
}

// After a click in the panels the keys still play, also those that fire. Who came to a
// control by keys works it by keys, and walks at the same time.
func TestKeysPlayAfterAClick(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-peaceful", "-clients", "1").URL)
	p.do(emulation.SetFocusEmulationEnabled(true))
	p.until("plays", playing)
	space := func(down bool) {
		kind := input.KeyUp
		if down {
			kind = input.KeyDown
		}
		p.do(input.DispatchKeyEvent(kind).WithCode("Space").WithKey(" ").WithText(" ").WithWindowsVirtualKeyCode(32))
	}
	for _, of := range []string{"#smoothing", "label:has(#smoothing) span", "#layer-raw", "#preset-perfect", "#spike", "#loss"} {
		p.click(of)
		p.walksByKey("after a click on " + of)
		on := p.checked("smoothing")
		before := p.rests("stands")
		space(true)
		p.shoots(before, "fires after a click on "+of)
		space(false)
		require.Equal(t, on, p.checked("smoothing"), "Space is the game's after a click on %s", of)
	}
	require.True(t, p.checked("smoothing"), "two clicks")
	require.True(t, p.checked("layer-raw"))

	// By keys.
	p.do(chromedp.Focus("#prediction", chromedp.ByID))
	p.walksByKey("at a checkbox")
	before := p.rests("stands")
	space(true)
	space(false)
	p.until("Space works the checkbox", func(s State) bool { return s.Settings["11"] == 0 })
	p.idle(before, "and does not fire")
	space(true)
	space(false)
	p.until("and works it again", func(s State) bool { return s.Settings["11"] == 1 })
	require.Equal(t, "prediction", p.focused())
	p.do(chromedp.Focus("#rtt", chromedp.ByID), chromedp.KeyEvent("\u0303"), chromedp.KeyEvent("\u0303")) // right
	p.until("arrows work the slider", func(s State) bool { return s.Settings["1"] == 20 })
	p.walksByKey("at a slider")
	require.Equal(t, "rtt", p.focused())
	require.Equal(t, 20., p.slider("rtt"))
	p.well()
}

// The mouse aims where it points, and its button fires.
func TestMouse(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-peaceful", "-clients", "1").URL)
	p.do(emulation.SetFocusEmulationEnabled(true))
	// The own body's record in the draw list has its angle.
	p.do(chromedp.Evaluate(`(() => {
		const old = draw;
		draw = l => { for (let at = 16, n = l[0]; n > 0; n--, at += 8) if (l[at] === 2 && l[at + 6] & 4) page.angle = l[at + 3]; old(l); };
	})()`, nil))
	s := p.until("plays", playing)
	var box []float64
	p.do(chromedp.Evaluate(`(b => [b.left, b.top, b.width, b.height])(document.getElementById("field").getBoundingClientRect())`, &box))
	size, ms := math.Min(box[2], box[3]), 100*time.Millisecond
	for _, way := range ways {
		s = p.rests("stands")
		// Five metres from the body, within the field.
		x, y := s.X+5*way.x, s.Y+5*way.y
		if math.Abs(x) > 19 || math.Abs(y) > 19 {
			continue
		}
		px, py := box[0]+(box[2]-size)/2+(x+20)/40*size, box[1]+(box[3]-size)/2+(20-y)/40*size
		p.mouse(input.MouseMoved, px, py, input.None)
		want := math.Atan2(way.y, way.x)
		require.Eventually(t, func() bool {
			var angle float64
			err := chromedp.Run(p, chromedp.Evaluate(`page.angle`, &angle))
			return err == nil && math.Abs(math.Remainder(angle-want, 2*math.Pi)) < 0.1
		}, patience, ms, "aims at %v, %v", x, y)
		p.idle(s, "a move does not fire")
		p.mouse(input.MousePressed, px, py, input.Left)
		p.shoots(s, "its button fires")
		require.Equal(t, "field", p.focused())
		p.mouse(input.MouseReleased, px, py, input.Left)
		p.quiet("and letting go ends it")
	}
	p.well()
}

// freezes clicks on the freeze, and checks that steps stand still for about two seconds, and then go on.
func (p *tab) freezes() {
	p.t.Helper()
	// The page counts for itself, as a busy machine is slow to ask.
	const steps = `new Promise(done => {
		const begun = performance.now();
		let last = arena.read().tick, since = begun, longest = 0;
		const look = () => {
			const now = performance.now(), tick = arena.read().tick;
			if (tick !== last) { longest = Math.max(longest, now - since); last = tick; since = now; }
			if (now - begun < 6000) setTimeout(look, 10); else done([longest, now - since]);
		};
		look();
		document.getElementById("freeze").click();
	})`
	var stood []float64
	p.do(chromedp.Evaluate(steps, &stood, awaits))
	require.Len(p.t, stood, 2)
	require.InDelta(p.t, 2000, stood[0], 600, "it stands for two seconds")
	require.Less(p.t, stood[1], 1000., "and goes on")
}
