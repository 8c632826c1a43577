package snapshot_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/snapshot"
)

// inPieces returns the snapshots that show six long records and a short one, each sent once.
func inPieces(t tester) [][]byte {
	y := newYard(t, 3, 1, 0)
	for range 6 {
		y.add(1, 0b111111).fill(y.r, 300)
	}
	y.add(0, 1<<cDot)
	var out [][]byte
	var sent []*snapshot.Sent
	for i := range 30 {
		y.hulks[6].dot.X++
		y.put()
		sent = append(sent, &snapshot.Sent{})
		out = append(out, y.sender.Append(nil, 1100, sent[i]))
		if i >= 12 {
			y.sender.Delivered(sent[i-12])
		}
	}
	return out
}

// TestPiecesInAnyOrder: pieces that come twice, late and in any order make the same entities, and
// each appears with its last piece, not before.
func TestPiecesInAnyOrder(t *testing.T) {
	packets := inPieces(t)[:12] // these need no baseline that the sender knows of
	first := func() *snapshot.Receiver { return snapshot.NewReceiver(hulkRegistry(t), snapshot.ReceiverConfig{}) }
	straight, want := first(), map[int]int{}
	for _, p := range packets {
		_, err := straight.Read(p)
		require.NoError(t, err)
		want[len(straight.Ghosts())]++
	}
	n := len(straight.Ghosts())
	require.Greater(t, n, 3)
	require.Greater(t, len(want), 2, "one after the other")
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		some := append(slices.Clone(packets), packets...)
		r.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
		recv := first()
		for _, p := range some {
			_, err := recv.Read(p)
			require.NoError(t, err)
		}
		require.Len(t, recv.Ghosts(), n)
		for i, g := range recv.Ghosts() {
			o := straight.Ghosts()[i]
			require.Equal(t, o.Newest().Words, g.Newest().Words)
			require.Equal(t, o.Newest().Tick, g.Newest().Tick)
		}
	}
	for skip := range 4 { // one is missing
		recv := first()
		for i, p := range packets {
			if i != skip {
				_, err := recv.Read(p)
				require.NoError(t, err)
			}
		}
		require.Less(t, len(recv.Ghosts()), n)
	}
}

// TestSpoiltPieces: snapshots with pieces of which a byte is wrong are refused or read, within
// bounded memory, and whatever was read, the receiver holds no more than it may.
func TestSpoiltPieces(t *testing.T) {
	packets, r := inPieces(t), rand.New(rand.NewPCG(2, 2))
	var before, after runtime.MemStats
	for range 40 {
		recv := snapshot.NewReceiver(hulkRegistry(t), snapshot.ReceiverConfig{})
		for range 60 {
			p := slices.Clone(packets[r.IntN(10)])
			for range r.IntN(4) {
				p[5+r.IntN(len(p)-5)] ^= 1 << r.IntN(8)
			}
			runtime.ReadMemStats(&before)
			_, err := recv.Read(p)
			runtime.ReadMemStats(&after)
			if err != nil && !errors.Is(err, snapshot.ErrHeavy) {
				require.ErrorIs(t, err, snapshot.ErrMalformed)
			}
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(readMemory+2*len(p)))
		}
	}
}
