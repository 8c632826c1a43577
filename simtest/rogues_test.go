package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
)

// Peers that know the packet format and break every rule harm neither a game whose handlers
// kick and panic, nor one without such handlers. The long form is
// go run ./examples/soak -rogues 1000000.
func TestRogues(t *testing.T) {
	for _, r := range []campaign.Rogues{
		{Seed: 1, Sequences: 64, Clock: time.Now},
		{Seed: 2, Sequences: 32, New: newClub, Together: 8},
	} {
		c, err := r.Live(0)
		require.NoError(t, err)
		t.Logf("\n%v", c)
		require.EqualValues(t, r.Sequences, c.Sequences)
		require.GreaterOrEqual(t, c.Actions, uint64(50*r.Sequences))
		require.Greater(t, c.Share(), 0.75)
		require.Greater(t, c.Guests, uint64(10))
		require.LessOrEqual(t, c.SlowestGuest, 3*time.Second)
		require.Less(t, len(c.Undrawn()), 30, c.Undrawn())
		require.Greater(t, c.OtherBuilds, uint64(10))
		require.Greater(t, c.SchemasAsked, c.OtherBuilds)
		require.Greater(t, c.Observers, uint64(5))
	}
}

// The same life plays the same, so that a failed life can be replayed.
func TestRoguesReplay(t *testing.T) {
	r := campaign.Rogues{Seed: 3, Sequences: 24, Shared: true}
	a, err := r.Live(5)
	require.NoError(t, err)
	b, err := r.Live(5)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := r.Live(6)
	require.NoError(t, err)
	require.NotEqual(t, a, c)
}

// Rogues finds entities that a game keeps of rogues, and a panic that the game does not mean.
func TestRoguesFind(t *testing.T) {
	r := campaign.Rogues{Sequences: 24, New: func() simtest.Player {
		var left ecs.Prefab
		g := &club{}
		p := g.player()
		p.Protocol.Prefab(&left, "left behind", &g.pos)
		p.Protocol.OnLeave(func(f *foretick.ServerFrame, _ foretick.PlayerID) { f.Spawn(&left, ecs.Nobody) })
		return p
	}}
	_, err := r.Live(0)
	require.ErrorContains(t, err, "leak")
	require.ErrorContains(t, err, "life 0")
	r.New = func() simtest.Player {
		p := newClub()
		p.Protocol.OnLeave(func(*foretick.ServerFrame, foretick.PlayerID) { panic("not meant") })
		return p
	}
	_, err = r.Live(0)
	require.ErrorContains(t, err, "not meant")
}

// Rogues finds memory that is kept of sequences, here 64 kB of each of 48. The long form is
// go run ./examples/soak -rogues 2048 -sequences 2048 -leak 1024.
func TestRoguesFindMemory(t *testing.T) {
	var heaps []uint64
	r := campaign.Rogues{Sequences: 48, Leak: 64 << 10, OnHeap: func(_ int, bytes uint64) { heaps = append(heaps, bytes) }}
	_, err := r.Live(0)
	require.ErrorContains(t, err, "leak: batch 2: the heap grew")
	require.Len(t, heaps, 3)
	r.Leak, heaps = 0, nil
	_, err = r.Live(0)
	require.NoError(t, err)
	require.Len(t, heaps, 4)
}
