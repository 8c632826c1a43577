package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestRefuse: a refused packet is reported lost and every other one delivered,
// whether it was the newest one or an older one, and its channel messages arrive
// once.
func TestRefuse(t *testing.T) {
	ms := time.Millisecond
	for _, refused := range [][]int{{0}, {5}, {5, 6, 7}, {29}, {3, 5, 8, 13, 21}} {
		for _, swapped := range []bool{false, true} { // every packet comes after the next one
			a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
			bad, got := map[netcode.Seq]bool{}, []byte{}
			for _, i := range refused {
				bad[netcode.Seq(i)] = true
			}
			var held []byte
			take := func(now time.Duration, p []byte) {
				require.NoError(t, b.Receive(now, p))
				m, ok := b.NextMessage()
				require.True(t, ok)
				if bad[m.Seq] && m.Body[0] == 1 {
					b.Refuse()
					b.Refuse() // once is as good as twice
				}
				for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
					got = append(got, r.Kind)
				}
			}
			fates := map[netcode.Seq]bool{}
			for i := range 300 {
				now := time.Duration(i) * 20 * ms
				if i < 30 {
					require.NoError(t, a.SendReliable(0, uint8(i), nil))
				}
				pk := a.Begin(now)
				pk.Message(40, []byte{1})
				_, p := pk.Finish()
				p = append([]byte{}, p...)
				switch {
				case !swapped:
					take(now, p)
				case held == nil:
					held = p
				default:
					take(now, p)
					take(now, held)
					held = nil
				}
				_, p = b.Begin(now + 10*ms).Finish()
				require.NoError(t, a.Receive(now+10*ms, p))
				for f, ok := a.NextFate(); ok; f, ok = a.NextFate() {
					_, twice := fates[f.Seq]
					require.False(t, twice)
					fates[f.Seq] = f.Delivered
				}
			}
			for s := range netcode.Seq(200) {
				delivered, told := fates[s]
				require.True(t, told)
				require.Equal(t, !bad[s], delivered, "packet %d", s)
			}
			require.EqualValues(t, len(refused), b.Stats().Refused)
			require.Len(t, got, 30, "each once")
		}
	}
}

// TestRefusedIsTakenAgain: a forged packet does not use its number up.
func TestRefusedIsTakenAgain(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	_, p := a.Begin(0).Finish()
	b.Refuse() // nothing was received
	require.NoError(t, b.Receive(0, p))
	require.ErrorIs(t, b.Receive(0, p), netcode.ErrDuplicate)
	b.Refuse() // nothing of this one was taken
	require.ErrorIs(t, b.Receive(0, p), netcode.ErrDuplicate)
	_, p = a.Begin(0).Finish()
	require.NoError(t, b.Receive(0, p))
	b.Refuse()
	require.NoError(t, b.Receive(0, p))
	require.EqualValues(t, 1, b.Stats().Refused)
}
