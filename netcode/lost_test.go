package netcode_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestLostInIsWhatTheNetworkLost: datagrams that do not come are counted, each once; those
// that come late, twice or in another order are not.
func TestLostInIsWhatTheNetworkLost(t *testing.T) {
	for _, packets := range []int{500, 70_000} { // the second goes round
		rng := rand.New(rand.NewPCG(5, 6))
		from, to := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
		var held []byte
		lost := uint64(0)
		for i := range packets {
			now := time.Duration(i) * 10 * time.Millisecond
			_, b := from.Begin(now).Finish()
			for _, ok := from.NextFate(); ok; _, ok = from.NextFate() {
			}
			switch roll := rng.IntN(100); {
			case i < packets-40 && roll < 10:
				lost++
				continue
			case i < packets-80 && roll < 12 && held == nil:
				held = append([]byte(nil), b...)
				continue
			case roll < 15:
				_ = to.Receive(now, append([]byte(nil), b...))
			}
			_ = to.Receive(now, append([]byte(nil), b...)) // some packets arrive twice
			if held != nil && (i%50 == 0 || i > packets-60) {
				require.NoError(t, to.Receive(now, held), "later than 32 others, or not")
				held = nil
			}
		}
		require.Nil(t, held)
		require.Greater(t, lost, uint64(0))
		require.Equal(t, lost, to.Stats().LostIn)
	}
}

// TestFragmentsLost: each piece of a reliable message, and each event, in a packet that was
// lost is counted.
func TestFragmentsLost(t *testing.T) {
	cfg := netcode.Config{Channels: []netcode.Channel{{Reliable: true}, {Repeat: 1}}}
	from, to := netcode.NewConn(cfg), netcode.NewConn(cfg)
	require.NoError(t, from.SendReliable(1, 0, make([]byte, 1000))) // four pieces
	require.NoError(t, from.SendOn(1, 1, 0, []byte{1}))
	now := time.Duration(0)
	var in uint64
	for i := range 100 {
		now += 20 * time.Millisecond
		before := from.Stats().EntriesSent + from.Stats().EntriesResent
		_, b := from.Begin(now).Finish()
		if i == 0 {
			in = from.Stats().EntriesSent + from.Stats().EntriesResent - before
			continue // lost
		}
		require.NoError(t, to.Receive(now, b))
		_, back := to.Begin(now).Finish()
		require.NoError(t, from.Receive(now, back))
	}
	require.Greater(t, in, uint64(0))
	require.Equal(t, in, from.Stats().FragmentsLost)
	require.EqualValues(t, 1, from.Stats().EventsLost)
	require.EqualValues(t, 1, to.Stats().LostIn)
}
