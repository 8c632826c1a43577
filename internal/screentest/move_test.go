package screentest

import (
	"math"
	"time"

	"github.com/stretchr/testify/require"
)

// The four ways to walk, on the field, where y points upwards.
var ways = [...]struct{ x, y float64 }{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}

// rests waits until the own body stands, on the screen and on the server, and stays there.
func (p *tab) rests(why string) State {
	p.t.Helper()
	var last State
	since := time.Now()
	return p.until(why, func(s State) bool {
		if s.X != last.X || s.Y != last.Y || math.Hypot(s.X-s.ServerX, s.Y-s.ServerY) > 0.05 {
			since = time.Now()
		}
		last = s
		return time.Since(since) > 300*time.Millisecond
	})
}

// walks pushes a control each way and lets it go, and checks where the own body goes. A wall
// may be in one way.
func (p *tab) walks(push func(x, y float64), letGo func()) {
	p.t.Helper()
	clear := 0
	for _, w := range ways {
		from := p.rests("stands")
		push(w.x, w.y)
		at, err := Until(p, 1500*time.Millisecond, func(s State) bool { return math.Hypot(s.X-from.X, s.Y-from.Y) > 1 })
		letGo()
		p.stops("letting go stops")
		if err != nil {
			continue
		}
		clear++
		along := (at.X-from.X)*w.x + (at.Y-from.Y)*w.y
		require.Greater(p.t, along, 0.9*math.Hypot(at.X-from.X, at.Y-from.Y), "pushed by %v, it went from %v, %v to %v, %v", w, from.X, from.Y, at.X, at.Y)
	}
	require.GreaterOrEqual(p.t, clear, 3, "ways without a wall")
}

// way returns a way without a wall. It walks a step.
func (p *tab) way(push func(x, y float64), letGo func()) (x, y float64) {
	p.t.Helper()
	for _, w := range ways {
		from := p.rests("stands")
		push(w.x, w.y)
		_, err := Until(p, 2*time.Second, func(s State) bool { return math.Hypot(s.X-from.X, s.Y-from.Y) > 3 })
		letGo()
		if err == nil {
			p.rests("stands again")
			return -w.x, -w.y // back
		}
	}
	require.Fail(p.t, "there are walls all around")
	return 0, 0
}

// shoots waits until the server has judged a shot that is newer than before, and the gun has
// fewer rounds or was loaded again.
func (p *tab) shoots(before State, why string) State {
	p.t.Helper()
	return p.until(why, func(s State) bool { return s.ShotTick > before.ShotTick && s.Ammo != before.Ammo })
}

// stops waits until the own body stands, which takes less than two metres and no wall.
func (p *tab) stops(why string) State {
	p.t.Helper()
	before, err := Read(p)
	require.NoError(p.t, err, why)
	after := p.rests(why)
	require.Less(p.t, math.Hypot(after.X-before.X, after.Y-before.Y), 2., why)
	return after
}

// quiet checks that the own body stops, and neither walks nor shoots for a while.
func (p *tab) quiet(why string) State {
	p.t.Helper()
	return p.idle(p.stops(why), why)
}

// idle checks that the own body neither walks nor shoots for a while.
func (p *tab) idle(before State, why string) State {
	p.t.Helper()
	time.Sleep(400 * time.Millisecond)
	after, err := Read(p)
	require.NoError(p.t, err)
	require.Equal(p.t, before.ShotTick, after.ShotTick, why)
	require.InDelta(p.t, 0, math.Hypot(after.X-before.X, after.Y-before.Y), 0.01, why)
	return after
}
