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
