package screentest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// virtualPad gives the page a gamepad of the standard mapping. What reads it is the page's
// own. No protocol of a browser drives one.
const virtualPad = `(() => {
	let pad = null;
	navigator.getGamepads = () => [null, pad];
	const tell = name => dispatchEvent(Object.assign(new Event(name), {gamepad: pad}));
	window.virtualPad = {
		plug() {
			pad = {id: "virtual", index: 1, connected: true, mapping: "standard", timestamp: 0, axes: [0, 0, 0, 0],
				buttons: Array.from({length: 17}, () => ({pressed: false, touched: false, value: 0}))};
			tell("gamepadconnected");
		},
		unplug() { pad.connected = false; tell("gamepaddisconnected"); pad = null; },
		stick(x, y) { pad.axes[0] = x; pad.axes[1] = y; pad.timestamp++; },
		button(i, value) { pad.buttons[i] = {pressed: value > .5, touched: value > 0, value}; pad.timestamp++; },
	};
})()`

// A gamepad plays: the stick walks outside of its dead zone, and the trigger fires beyond
// half of its way. A pad that is unplugged leaves nothing held, and plays when it is back.
func TestPad(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-peaceful", "-clients", "1").URL, virtualPad)
	p.do(emulation.SetFocusEmulationEnabled(true))
	p.until("plays", playing)
	pad := func(call string, args ...any) {
		t.Helper()
		p.do(chromedp.Evaluate("virtualPad."+fmt.Sprintf(call, args...), nil))
	}
	const trigger = 7
	push := func(x, y float64) { pad("stick(%v, %v)", x, -y) }
	letGo := func() { pad("stick(0, 0)") }
	pad("plug()")
	p.walks(push, letGo)

	before := p.rests("stands")
	push(0.065, -0.065) // of 0.092 together: the zone is round
	p.idle(before, "the dead zone")
	letGo()

	pad("button(%d, 0.2)", trigger)
	before = p.quiet("a trigger that hardly moved")
	pad("button(%d, 1)", trigger)
	p.shoots(before, "the trigger fires")
	pad("button(%d, 0)", trigger)
	p.quiet("the trigger is let go")

	x, y := p.way(push, letGo)
	before = p.rests("stands")
	push(x, y)
	pad("button(%d, 1)", trigger)
	p.shoots(before, "fires")
	p.until("walks meanwhile", func(s State) bool { return (s.X-before.X)*x+(s.Y-before.Y)*y > 0.5 })
	pad("unplug()")
	before = p.quiet("an unplugged pad holds nothing")
	pad("plug()")
	push(-x, -y)
	p.until("walks with the pad that is back", func(s State) bool { return (before.X-s.X)*x+(before.Y-s.Y)*y > 0.5 })
	letGo()
	p.quiet("lets go")
	p.well()
}
