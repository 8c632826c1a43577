package snapshot_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
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

// piecePacket is the snapshot of a tick with one piece of a box (prefab 1, four units), of all
// zero: n units from a number on, of the record of a wire id that was pinned so long ago.
func piecePacket(tick schema.Tick, wire, age, born, from, n uint32) []byte {
	c := newCraft()
	c.head(true, 0)
	c.Golomb(129)
	c.flag(flagMore, false)
	c.Golomb(0)
	c.record(wire, age, 0)
	c.piece(1, 0, 0, born, from, n)
	for i := from; i < from+n; i++ {
		size := []int{32, 17, 17, 12}[i] // of the words of ident and position
		c.flag(flagZero+8*(48+min(size/4, 7)), true)
	}
	c.group()
	return c.packet(tick)
}

// TestOlderPinIsSkipped: a piece of an older pinned value, which came late, does not take the place
// of those of a newer one.
func TestOlderPinIsSkipped(t *testing.T) {
	r, _ := registry(t)
	recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	for _, p := range [][]byte{
		piecePacket(103, 1, 3, 10, 0, 1),
		piecePacket(104, 1, 6, 8, 0, 1),
		piecePacket(105, 1, 5, 10, 1, 1),
	} {
		_, err := recv.Read(p)
		require.NoError(t, err)
		require.Empty(t, recv.Ghosts())
	}
	_, err := recv.Read(piecePacket(106, 1, 6, 10, 2, 1))
	require.NoError(t, err)
	_, err = recv.Read(piecePacket(107, 1, 7, 10, 3, 1))
	require.NoError(t, err)
	require.Len(t, recv.Ghosts(), 1)
	require.Equal(t, schema.Tick(100), recv.Ghosts()[0].Newest().Tick)
	require.Equal(t, schema.Tick(90), recv.Ghosts()[0].Born)
}

// TestPiecesOfManyRecords: a receiver keeps the pieces of eight records, those heard of last.
func TestPiecesOfManyRecords(t *testing.T) {
	r, _ := registry(t)
	recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	tick := schema.Tick(100)
	read := func(wire, from, n uint32) {
		_, err := recv.Read(piecePacket(tick, wire, tick-100, 10, from, n))
		require.NoError(t, err)
		tick++
	}
	for wire := range uint32(40) {
		read(wire+1, 0, 1)
	}
	require.Equal(t, 8, recv.Rooms())
	for wire := range uint32(40) {
		read(wire+1, 1, 3)
	}
	require.LessOrEqual(t, recv.Rooms(), 8)
	require.Empty(t, recv.Ghosts(), "each was given up before it was whole")
	for wire := range uint32(8) {
		read(wire+1, 0, 1)
		read(wire+1, 1, 3)
	}
	require.Len(t, recv.Ghosts(), 8)
}
