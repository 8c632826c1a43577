package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestProfile: what is counted is all that was sent, where it belongs, and counting
// changes no byte.
func TestProfile(t *testing.T) {
	play := func(profiled bool) (*snapshot.Profile, [][]byte) {
		r, schemas := registry(t)
		w := newWorld(t, 8, r, schemas)
		p := snapshot.NewProfile(r)
		cfg := snapshot.SenderConfig{Cache: &snapshot.Cache{}}
		if profiled {
			cfg.Profile = p
		}
		s := w.source.NewSender(1, cfg)
		var sent [8]snapshot.Sent
		var packets [][]byte
		for range 200 {
			w.step(false)
			packets = append(packets, s.Append(nil, 90, &sent[w.tick%8]))
			if w.tick > 4 {
				s.Delivered(&sent[(w.tick-4)%8])
			}
		}
		require.NotZero(t, s.Counters().Postponed, "what is chosen is counted, not what is tried")
		return p, packets
	}
	p, packets := play(true)
	_, plain := play(false)
	require.Equal(t, plain, packets)
	bytes, sum, rest := 0, 0.0, 0.0
	for _, q := range packets {
		bytes += len(q)
	}
	byField := map[string]float64{}
	for _, l := range p.Lines() {
		sum += l.Bytes
		if l.Component == "" {
			rest = l.Bytes
		}
		byField[l.Component+"."+l.Field] = l.Bytes
		require.GreaterOrEqual(t, l.Bytes, 0.0, l)
	}
	require.EqualValues(t, bytes, p.Bytes())
	require.InDelta(t, bytes, sum, 1e-6)
	require.Greater(t, rest, float64(len(packets)*3), "ticks, lengths and wire ids")
	require.Less(t, rest, sum/2)
	for _, f := range []string{"position.X", "gun.Kind", "private.B[1]", "follow.Rope", "follow.Target", "follow."} {
		require.Greater(t, byField[f], 10.0, f)
	}
	require.Greater(t, byField["private.B[1]"], 10*byField["private.B[0]"], "the one that never changes")
}

// TestReceiverProfile: a receiver counts what the sender counted of each snapshot that it
// applies, and nothing of others. Counting changes no value, and allocates nothing.
func TestReceiverProfile(t *testing.T) {
	r, schemas := registry(t)
	w := newWorld(t, 8, r, schemas)
	theirs, ours := snapshot.NewProfile(r), snapshot.NewProfile(r)
	s := w.source.NewSender(1, snapshot.SenderConfig{Cache: &snapshot.Cache{}, Profile: theirs})
	counting, plain := snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	counting.SetProfile(ours)
	var sent [8]snapshot.Sent
	var packet []byte
	for range 300 {
		w.step(false)
		packet = s.Append(packet[:0], 200, &sent[w.tick%8])
		tick, err := counting.Read(packet)
		require.NoError(t, err)
		_, err = plain.Read(packet)
		require.NoError(t, err)
		a, n := counting.Hash(tick)
		b, m := plain.Hash(tick)
		require.Equal(t, [2]any{b, m}, [2]any{a, n})
		require.Equal(t, theirs.Lines(), ours.Lines(), "tick %d", tick)
		if w.tick > 4 {
			s.Delivered(&sent[(w.tick-4)%8])
		}
	}
	require.NotZero(t, theirs.Bytes())
	lines := ours.Lines()
	_, err := counting.Read(packet)
	require.NoError(t, err)
	require.Equal(t, lines, ours.Lines(), "a duplicate")
	for n := range packet {
		broken := append([]byte(nil), packet[:n]...)
		if _, err := counting.Read(broken); err != nil {
			require.Equal(t, lines, ours.Lines(), "cut after %d bytes", n)
		}
	}
	counting.SetProfile(nil)
	w.step(false)
	_, err = counting.Read(s.Append(nil, 200, &sent[w.tick%8]))
	require.NoError(t, err)
	require.Equal(t, lines, ours.Lines(), "nobody counts")
}
