package prediction_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
)

// book is a client's side of spawning, with numbers for handles.
type book struct {
	prediction.Spawns[int]
	next    int
	ordinal map[uint32]uint16
	tick    prediction.Tick
}

func (b *book) begin(t prediction.Tick) {
	b.tick, b.ordinal = t, map[uint32]uint16{}
	b.Begin(t)
}

func (b *book) spawn(by uint32) int {
	k := prediction.SpawnKey{Owner: 1, Tick: b.tick, By: by, Ordinal: b.ordinal[by], Prefab: 3}
	b.ordinal[by]++
	if h, ok := b.Again(k.ID()); ok {
		return h
	}
	b.next++
	b.Add(k.ID(), b.next)
	return b.next
}

func key(t prediction.Tick, by uint32, n uint16) uint32 {
	return prediction.SpawnKey{Owner: 1, Tick: t, By: by, Ordinal: n, Prefab: 3}.ID()
}

// Ten spawns of one prefab in one tick are told apart, even though the rows of
// their two spawners are swapped in a replay and on the server.
func TestSpawnsMatchOneToOne(t *testing.T) {
	b := &book{}
	first := map[uint32]int{}
	b.begin(7)
	for _, by := range []uint32{5, 9} {
		for n := range uint16(5) {
			first[key(7, by, n)] = b.spawn(by)
		}
	}
	b.End(nil)
	require.Len(t, first, 10)
	b.begin(7)
	for range 5 {
		for _, by := range []uint32{9, 5} {
			b.spawn(by)
		}
	}
	b.End(func(prediction.Tick, int) { t.Fatal("all were made again") })
	require.Equal(t, 10, b.next, "a replay makes nothing new")
	seen := map[int]bool{}
	for id, h := range first {
		got, ok := b.Match(id)
		require.True(t, ok)
		require.Equal(t, h, got)
		seen[got] = true
		_, ok = b.Match(id)
		require.False(t, ok, "matched once")
	}
	require.Len(t, seen, 10)
	_, ok := b.Match(key(7, 5, 5))
	require.False(t, ok, "nobody foresaw this one")
	b.Settle(7, 0, func(prediction.Tick, int) { t.Fatal("none is missing") })
	require.Zero(t, b.Len())
}

// Spawns that a replay omits, and spawns that the server does not have, are
// reported.
func TestSpawnsThatAreNot(t *testing.T) {
	b := &book{}
	b.begin(3)
	a := b.spawn(1)
	b.spawn(1)
	b.End(nil)
	b.begin(4)
	c := b.spawn(1)
	b.End(nil)
	var off []int
	tell := func(_ prediction.Tick, h int) { off = append(off, h) }
	b.begin(3)
	require.Equal(t, a, b.spawn(1))
	b.End(tell)
	require.Equal(t, []int{2}, off, "the replay spawned one less")
	b.begin(4)
	require.Equal(t, c, b.spawn(1))
	b.End(tell)
	require.Len(t, off, 1)
	var open []int
	b.Open(func(_ prediction.Tick, h int) bool { open = append(open, h); return true })
	require.Equal(t, []int{a, c}, open)
	b.Settle(3, 0, tell)
	require.Equal(t, []int{2, a}, off, "the server has none at 3")
	h, ok := b.Match(key(4, 1, 0))
	require.True(t, ok)
	require.Equal(t, c, h)
	b.Settle(9, 0, tell)
	require.Len(t, off, 2)
	require.Zero(t, b.Len())
	b.begin(10)
	d := b.spawn(1)
	b.End(nil)
	b.Clear(tell)
	require.Equal(t, []int{2, a, d}, off)
}

// A caller that replays settled ticks finds the old handles for as long as it
// keeps them.
func TestSpawnsAreKept(t *testing.T) {
	b := &book{}
	b.begin(3)
	a, c := b.spawn(1), b.spawn(2)
	b.End(nil)
	b.Match(key(3, 1, 0))
	missing := 0
	for k := prediction.Tick(3); k < 8; k++ {
		b.Settle(k, 5, func(_ prediction.Tick, h int) {
			require.Equal(t, c, h)
			missing++
		})
		b.begin(3)
		require.Equal(t, a, b.spawn(1))
		require.Equal(t, c, b.spawn(2))
		b.End(func(prediction.Tick, int) { t.Fatal("made again") })
	}
	require.Equal(t, 1, missing, "told once")
	b.begin(3)
	b.End(func(prediction.Tick, int) { t.Fatal("what is settled stands, made again or not") })
	require.Equal(t, 2, b.Len())
	b.Settle(8, 5, nil)
	require.Zero(t, b.Len())
}

// Two spawns with one id, which 31 bits make possible, stay two.
func TestSpawnsWithOneID(t *testing.T) {
	var s prediction.Spawns[string]
	s.Begin(1)
	s.Add(9, "a")
	s.Add(9, "b")
	s.End(nil)
	s.Begin(1)
	for _, want := range []string{"a", "b"} {
		h, ok := s.Again(9)
		require.True(t, ok)
		require.Equal(t, want, h)
	}
	_, ok := s.Again(9)
	require.False(t, ok)
	s.End(nil)
	a, _ := s.Match(9)
	b, _ := s.Match(9)
	require.Equal(t, "ab", a+b)
}

func TestSpawnKeyID(t *testing.T) {
	ids := map[uint32]prediction.SpawnKey{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 { // ticks of a dozen spawns each
		k := prediction.SpawnKey{Owner: uint16(rng.IntN(64)), Tick: rng.Uint32(), Prefab: uint16(rng.IntN(9))}
		clear(ids)
		for by := range uint32(4) {
			for n := range uint16(3) {
				k.By, k.Ordinal = 40+by, n
				id := k.ID()
				require.NotContains(t, ids, id, "%v and %v", k, ids[id])
				require.NotZero(t, id>>31)
				ids[id] = k
			}
		}
	}
	// docs/STANDARD.md gives these.
	require.Equal(t, "cf068f82", fmt.Sprintf("%x", prediction.SpawnKey{Owner: 1, Tick: 100, By: 7, Ordinal: 0, Prefab: 2}.ID()))
	require.Equal(t, "c24bb3eb", fmt.Sprintf("%x", prediction.SpawnKey{Owner: 1, Tick: 100, By: 0xcf068f82, Ordinal: 3, Prefab: 2}.ID()))
}

func TestSpawnsAllocateNothing(t *testing.T) {
	costtest.Allocations(t)
	var s prediction.Spawns[int]
	k := prediction.Tick(0)
	round := func() {
		k++
		for range 3 { // once, and two replays
			s.Begin(k)
			for i := range uint32(4) {
				if _, ok := s.Again(i); !ok {
					s.Add(i, int(i))
				}
			}
			s.End(nil)
		}
		s.Match(2)
		s.Settle(k-2, 0, nil)
	}
	for range 10 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(100, round))
}

// A client spawns a rocket at once; a replay of its tick gives it the same
// handle, and so does the server's entity when it comes.
func ExampleSpawns() {
	var spawns prediction.Spawns[string]
	key := prediction.SpawnKey{Owner: 1, Tick: 40, By: 12, Prefab: 3}
	fire := func() string {
		if rocket, ok := spawns.Again(key.ID()); ok {
			return rocket
		}
		spawns.Add(key.ID(), "rocket 1")
		return "rocket 1, for the first time"
	}
	for range 2 {
		spawns.Begin(40)
		fmt.Println(fire())
		spawns.End(nil)
	}
	fromServer := key.ID() // travels with the server's rocket, to its owner alone
	rocket, ok := spawns.Match(fromServer)
	fmt.Println(rocket, ok)
	// Output:
	// rocket 1, for the first time
	// rocket 1
	// rocket 1 true
}
