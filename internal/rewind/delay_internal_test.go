package rewind

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A command that came late once, or waited longer once, changes little; one
// that waited for quite another time is taken at its word, alone.
func TestDelayWaited(t *testing.T) {
	var d delay
	for range 30 {
		require.Equal(t, 20*time.Millisecond, d.waited(20*time.Millisecond, 0, at30))
	}
	require.InDelta(t, 20, d.waited(0, 0, at30).Milliseconds(), 2)
	require.InDelta(t, 20, d.waited(40*time.Millisecond, 0, at30).Milliseconds(), 2)
	require.Equal(t, 300*time.Millisecond, d.waited(300*time.Millisecond, 0, at30))
	for range 4 {
		require.Less(t, d.waited(10*time.Millisecond, 0, at30), 30*time.Millisecond)
	}
	require.Equal(t, 10*time.Millisecond, d.waited(10*time.Millisecond, 0, at30), "they come later now")
}

// A client that sends all commands early except its shots is not assumed to have looked at the past for all
// that time.
func TestDelayWaitedEarly(t *testing.T) {
	var d delay
	for range 60 {
		d.waited(300*time.Millisecond, 0, at30)
	}
	require.Equal(t, 20*time.Millisecond+2*at30.interval, d.waited(20*time.Millisecond, 0, at30))
}

// settled returns the delay of a client that drew two ticks behind its newest snapshot while the delay was
// measured, except in the third second, which was unlucky.
func settled(t *testing.T, p path, jitter time.Duration) *delay {
	t.Helper()
	d := &delay{jitter: jitter}
	for tick := range 5 * at30.rate {
		behind := 2 * at30.interval
		if tick >= 90 && tick < 120 {
			behind = 4 * at30.interval // two losses in a row
		}
		require.False(t, d.settled)
		require.Equal(t, 4*time.Duration(p.every)*at30.interval, d.bound(behind, p, at30))
		d.addMeasurement(behind, 0, p, at30)
	}
	require.True(t, d.settled)
	return d
}

var at30 = clock{30, time.Second / 30}

// The delay of a client is measured once. A claim that bad luck may explain gets an allowance on top of it. A
// claim further back gets only the measured delay.
func TestDelayBound(t *testing.T) {
	for _, row := range []struct {
		every  uint32
		jitter time.Duration
		loss   float64
		luck   float64 // ticks
	}{
		{1, 0, 0, 0.4},
		{1, 20 * time.Millisecond, 0, 0.4},
		{1, 100 * time.Millisecond, 0, 0.9},
		{1, 0, 0.03, 0.4},
		{1, 0, 0.05, 0.6},
		{3, 0, 0.01, 2.9},
		{3, 0, 0, 0.4},
	} {
		p := path{every: row.every, loss: row.loss}
		d := settled(t, p, row.jitter)
		at := func(ticks float64) float64 {
			return d.bound(time.Duration(ticks*float64(at30.interval)), p, at30).Seconds() * 30
		}
		lent := 1.5 + row.luck
		require.InDelta(t, lent, at(0), 1e-6)
		require.InDelta(t, lent, at(lent+1+float64(row.every)-0.01), 1e-6, row)
		require.InDelta(t, 1.5, at(lent+1+float64(row.every)+0.01), 1e-6, row)
		for range 100 { // later measurements change nothing
			d.addMeasurement(5*at30.interval, 0, p, at30)
			p.loss = 0.5
		}
		require.InDelta(t, lent, at(0), 1e-6)
	}
}
