package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
)

// Both ends accept or refuse packets that nobody would send, within bounds of time and memory.
// Many of these packets are valid enough to be decoded. The long form is
// go run ./examples/soak -mutate 1000000000.
func TestPacketFuzzer(t *testing.T) {
	s := campaign.PacketFuzzer{New: newClub, Seed: 1, Clock: time.Now}
	var all campaign.Weather
	for life := range uint64(100) {
		w, err := s.Live(life)
		require.NoError(t, err)
		all.Add(w)
	}
	t.Logf("%+v", all)
	require.EqualValues(t, 100, all.Lives)
	require.Greater(t, all.Packets, uint64(50_000))
	require.Greater(t, all.Taken, all.Packets/20, "no mutation is ever taken: they are not read")
	require.Greater(t, all.Malformed, all.Packets/20, "no mutation is ever refused: they change nothing")
	require.Greater(t, all.Snapshots, uint64(500))
	require.Greater(t, all.Commands, uint64(1000))
	require.Greater(t, all.Firsts, uint64(10_000))
	require.NotZero(t, all.MostBytes)
}

// If packets do harm, the error names the life.
func TestPacketFuzzerFinds(t *testing.T) {
	calls := 0
	s := campaign.PacketFuzzer{Seed: 7, New: func() simtest.Player {
		if calls++; calls == 3 {
			panic("too much")
		}
		return newClub()
	}}
	_, err := s.Live(5)
	require.ErrorContains(t, err, "seed 7, life 5: panic: too much")
	ticks := 0
	s = campaign.PacketFuzzer{New: newClub, Clock: func() time.Time { ticks++; return simtest.Epoch.Add(time.Duration(ticks) * time.Minute) }}
	_, err = s.Live(0)
	require.ErrorContains(t, err, "life 0: a batch takes")
}

// The same life sends the same packets.
func TestPacketFuzzerReplays(t *testing.T) {
	s := campaign.PacketFuzzer{New: newClub, Seed: 3}
	for life := range uint64(costtest.Count(1, 5)) {
		a, err := s.Live(life)
		require.NoError(t, err)
		b, err := s.Live(life)
		require.NoError(t, err)
		a.MostBytes, b.MostBytes = 0, 0 // includes allocations of the garbage collector
		require.Equal(t, a, b)
	}
}
