package screentest

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// fingers are those on a tab's screen.
type fingers struct {
	*tab
	left, top, width, height float64 // of the field
	down                     []*input.TouchPoint
}

func (f *fingers) send(kind input.TouchType, points ...*input.TouchPoint) {
	f.t.Helper()
	if points == nil {
		points = []*input.TouchPoint{}
	}
	require.NoError(f.t, chromedp.Run(f, input.DispatchTouchEvent(kind, points)))
}

// touch puts a finger on the field: 0, 0 is the field's top left corner, and 1, 1 the other.
func (f *fingers) touch(id, x, y float64) {
	f.t.Helper()
	f.down = append(f.down, &input.TouchPoint{X: f.left + x*f.width, Y: f.top + y*f.height, ID: id})
	f.send(input.TouchStart, f.down...)
}

// drag moves a finger by pixels, in two steps as a hand does.
func (f *fingers) drag(id, dx, dy float64) {
	f.t.Helper()
	i := f.find(id)
	from := *f.down[i]
	for _, part := range []float64{0.5, 1} {
		to := from
		to.X, to.Y = from.X+part*dx, from.Y+part*dy
		f.down[i] = &to
		f.send(input.TouchMove, f.down...)
	}
}

func (f *fingers) find(id float64) int {
	return slices.IndexFunc(f.down, func(p *input.TouchPoint) bool { return p.ID == id })
}

// lift takes a finger away.
func (f *fingers) lift(id float64) {
	f.t.Helper()
	i := f.find(id)
	f.send(input.TouchEnd, f.down[i])
	f.down = slices.Delete(f.down, i, i+1)
}

// cancel takes all fingers away, as a system's gesture or a call does.
func (f *fingers) cancel() {
	f.t.Helper()
	f.down = nil
	f.send(input.TouchCancel)
}

// A touch screen plays: the left half walks, the right half aims and fires, both at once.
// A touch that ends or is cancelled leaves nothing held.
func TestTouch(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-peaceful", "-clients", "1").URL)
	var box []float64
	p.do(
		emulation.SetFocusEmulationEnabled(true),
		emulation.SetDeviceMetricsOverride(800, 900, 1, true), emulation.SetTouchEmulationEnabled(true).WithMaxTouchPoints(5),
		chromedp.Sleep(300*time.Millisecond),
		chromedp.Evaluate(`(b => [b.left, b.top, b.width, b.height])(document.getElementById("field").getBoundingClientRect())`, &box),
	)
	p.until("plays", playing)
	f := &fingers{tab: p, left: box[0], top: box[1], width: box[2], height: box[3]}
	const walker, shooter, third = 1, 2, 3
	push := func(x, y float64) {
		f.touch(walker, 0.25, 0.6)
		f.drag(walker, 60*x, -60*y)
	}
	f.walks(push, func() { f.lift(walker) })

	before := f.rests("stands")
	f.touch(shooter, 0.75, 0.6)
	f.lift(shooter)
	f.shoots(before, "a tap shoots")
	f.quiet("a tap ends")

	// A second finger on the same half does not disturb the first.
	x, y := f.way(push, func() { f.lift(walker) })
	push(x, y)
	f.touch(third, 0.2, 0.3)
	f.lift(third)
	before, err := Read(f)
	require.NoError(t, err)
	f.until("walks on", func(s State) bool { return math.Hypot(s.X-before.X, s.Y-before.Y) > 1.5 })
	f.lift(walker)

	// Two fingers, and each lets go by itself.
	x, y = -x, -y
	before = f.rests("stands")
	push(x, y)
	f.touch(shooter, 0.75, 0.6)
	f.drag(shooter, 0, -60)
	f.shoots(before, "fires")
	f.until("walks meanwhile", func(s State) bool { return (s.X-before.X)*x+(s.Y-before.Y)*y > 0.5 })
	f.lift(walker)
	before = f.stops("one finger lets go")
	f.shoots(before, "the other fires on")
	f.lift(shooter)
	f.quiet("both let go")

	before = f.rests("stands")
	push(-x, -y)
	f.touch(shooter, 0.75, 0.6)
	f.drag(shooter, 0, -60)
	f.shoots(before, "fires")
	f.until("walks back", func(s State) bool { return (before.X-s.X)*x+(before.Y-s.Y)*y > 0.5 })
	f.cancel()
	f.quiet("cancelled touches hold nothing")
	p.well()
}
