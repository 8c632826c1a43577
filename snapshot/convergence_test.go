package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestConvergence runs random worlds over random links. At every tick received the
// receiver's state is the source's, filtered for the viewer; afterwards both ends
// hash alike.
func TestConvergence(t *testing.T) {
	compared, partial := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(0, 1<<40).Draw(rt, "seed")
		fault := rapid.SampledFrom([]float64{0, 0.05, 0.3, 0.6}).Draw(rt, "fault")
		room := rapid.SampledFrom([]int{36, 60, 150, 1100}).Draw(rt, "room")
		v := converge(rt, seed, fault, room, 90)
		compared += v.compared
		partial += v.partial
	})
	require.Greater(t, compared, 100_000, "fields compared")
	require.Greater(t, partial, 100, "snapshots with postponed entities")
}

func converge(t tester, seed uint64, fault float64, room, ticks int) *viewer {
	r, schemas := registry(t)
	w := newWorld(t, seed, r, schemas)
	w.busy = w.rng.Float64()
	v := newViewer(t, w, r, uint16(w.rng.IntN(3)))
	v.room = func() int { return room }
	w.spawn()
	for range ticks {
		if w.rng.IntN(6) == 0 {
			v.toggle()
		}
		w.step(false)
		if w.rng.IntN(8) != 0 {
			v.send(fault)
		}
		v.pump()
	}
	v.room = func() int { return 1100 }
	v.settle(150)
	v.settled()
	return v
}
