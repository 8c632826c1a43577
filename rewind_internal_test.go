package foretick

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
)

// The keyframes of a claim are the delivered snapshots around it, as far as the
// server knew of them when the command came.
func TestDeliveriesAround(t *testing.T) {
	var d deliveries
	_, _, ok := d.around(10, 3, 1<<40, 0, 0)
	require.False(t, ok, "no connection yet")
	d.begin(30)
	_, _, ok = d.around(10, 3, 1<<40, 0, 0)
	require.False(t, ok, "nothing delivered yet")
	for _, tick := range []Tick{9, 12, 18, 21} {
		*d.slot(tick, 3) = delivery{tick: tick, at: int64(tick)*256 + 100}
	}
	*d.slot(15, 3) = delivery{tick: 15, at: 30 * 256} // overtaken by the one after it
	const late = 40 * 256
	for _, row := range []struct {
		at   Tick
		by   int64
		a, b Tick
		ok   bool
	}{
		{9, late, 9, 12, true},
		{11, late, 9, 12, true},
		{13, late, 12, 15, true},
		{13, 22 * 256, 12, 18, true}, // its client had not got 15 when it drew
		{16, 22 * 256, 12, 18, true},
		{16, late, 15, 18, true},
		{19, late, 18, 21, true},
		{22, late, 21, 21, true}, // nothing newer: the picture stood still
		{200, late, 21, 21, true},
		{500, late, 0, 0, false}, // longer ago than is remembered
		{8, late, 0, 0, false},
		{0, late, 0, 0, false},
		{11, 9 * 256, 0, 0, false},
	} {
		a, b, ok := d.around(row.at, 3, row.by, 0, 0)
		require.Equal(t, row.ok, ok, row)
		if ok {
			require.Equal(t, [2]Tick{row.a, row.b}, [2]Tick{a, b}, row)
		}
	}
	d.begin(30)
	_, _, ok = d.around(13, 3, late, 0, 0)
	require.False(t, ok, "a new connection begins with nothing")
}

// A command that came late once, or waited longer once, changes little; one
// that waited for quite another time is taken at its word, alone.
func TestDrawingWaited(t *testing.T) {
	s := &Server{p: &Protocol{tickRate: 30}, interval: time.Second / 30}
	var d drawing
	for range 30 {
		require.Equal(t, 20*time.Millisecond, d.waited(20*time.Millisecond, 0, s))
	}
	require.InDelta(t, 20, d.waited(0, 0, s).Milliseconds(), 2)
	require.InDelta(t, 20, d.waited(40*time.Millisecond, 0, s).Milliseconds(), 2)
	require.Equal(t, 300*time.Millisecond, d.waited(300*time.Millisecond, 0, s))
	for range 4 {
		require.Less(t, d.waited(10*time.Millisecond, 0, s), 30*time.Millisecond)
	}
	require.Equal(t, 10*time.Millisecond, d.waited(10*time.Millisecond, 0, s), "they come later now")
}

// Who sends everything early but what it shoots with is not taken to have looked
// at the past for all that time.
func TestDrawingWaitedEarly(t *testing.T) {
	s := &Server{p: &Protocol{tickRate: 30}, interval: time.Second / 30}
	var d drawing
	for range 60 {
		d.waited(300*time.Millisecond, 0, s)
	}
	require.Equal(t, 20*time.Millisecond+2*s.interval, d.waited(20*time.Millisecond, 0, s))
}

// settled is a player who drew so many ticks behind its newest snapshot while that
// was learned, but for the third second, an unlucky one.
func settled(t *testing.T, every uint32, jitter time.Duration, lost int) (*player, *Server) {
	t.Helper()
	s := &Server{p: &Protocol{tickRate: 30}, interval: time.Second / 30}
	p := &player{conn: netcode.NewConn(netcode.Config{}), judge: lagcomp.NewJudge(lagcomp.Config{}), every: every, lost: lost, decided: 100}
	d := &p.drawing
	d.jitter = jitter
	for range 5 * s.p.tickRate {
		s.frame.Tick++
		behind := 2 * s.interval
		if s.frame.Tick > 90 && s.frame.Tick <= 120 {
			behind = 4 * s.interval // two losses in a row
		}
		require.False(t, d.settled)
		require.Equal(t, 4*time.Duration(every)*s.interval, d.bound(behind, p, s))
		d.observe(behind, p, s)
	}
	require.True(t, d.settled)
	return p, s
}

// What a client draws behind is learned once. A claim that bad luck may explain is
// lent most of a tick more; one further back is left with what was learned, and so
// is every claim but for half a tick where nothing jitters or is lost.
func TestDrawingBound(t *testing.T) {
	for _, row := range []struct {
		every  uint32
		jitter time.Duration
		lost   int     // of 100
		luck   float64 // ticks
	}{
		{1, 0, 0, 0.4},
		{1, 20 * time.Millisecond, 0, 0.4},
		{1, 100 * time.Millisecond, 0, 0.9},
		{1, 0, 3, 0.4},
		{1, 0, 5, 0.6},
		{3, 0, 1, 2.9},
		{3, 0, 0, 0.4},
	} {
		p, s := settled(t, row.every, row.jitter, row.lost)
		at := func(ticks float64) float64 {
			return p.drawing.bound(time.Duration(ticks*float64(s.interval)), p, s).Seconds() * 30
		}
		lent := 1.5 + row.luck
		require.InDelta(t, lent, at(0), 1e-6)
		require.InDelta(t, lent, at(lent+1+float64(row.every)-0.01), 1e-6, row)
		require.InDelta(t, 1.5, at(lent+1+float64(row.every)+0.01), 1e-6, row)
		for range 100 { // and nothing that comes later changes it
			p.drawing.observe(5*s.interval, p, s)
			p.lost = 50
		}
		require.InDelta(t, lent, at(0), 1e-6)
	}
}
