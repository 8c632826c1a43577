package relay

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// ends runs until a late player plays or is gone, and returns how long that took. It fails after a time.
func (t *table) ends(late *dummy, most time.Duration) time.Duration {
	t.Helper()
	begun, players := t.until, t.relay.Stats().Players
	for !late.gone && t.relay.Stats().Players == players {
		t.run(100 * time.Millisecond)
		require.Less(t, t.until-begun, most, "%d worlds came, and the joiner still waits", late.worlds)
	}
	return t.until - begun
}

// TestWorldsAroundTheBound: a player that joins late gets a world that fits, the first time. A world that is nearly as
// long as what SendRate sends within History ends its connection, with the reason and once: it does not fall behind and
// wait again and again.
func TestWorldsAroundTheBound(t *testing.T) {
	for _, c := range []struct{ rate, fits, most int }{{7_000, 70, 102}, {64_000, 90, 98}} {
		for share := c.fits - 16; share <= c.most; share += 8 {
			size := c.rate / 10 * share
			tb := lateMatch(t, 2, Config{SendRate: c.rate}, near, size)
			late := tb.add(near)
			late.size = size
			took := tb.ends(late, 15*time.Second)
			st := tb.relay.Stats()
			t.Logf("%d %% of %d B/s for 10 s: %.1f s, %d worlds, %s", share, c.rate, took.Seconds(), late.worlds, late.reason)
			if share <= c.fits {
				require.False(t, late.gone, late.reason)
			}
			if !late.gone {
				require.EqualValues(t, 1, st.Worlds)
				require.Zero(t, st.WorldsFailed)
				continue
			}
			require.Equal(t, transport.Overflow, late.code)
			require.Contains(t, late.reason, fmt.Sprintf("a world of %d bytes comes too late: raise relay.Config.SendRate or History", size))
			require.EqualValues(t, 1, st.WorldsFailed)
			require.Zero(t, st.Worlds)
		}
	}
}

// TestPlayersTooSlowForTheirWorld: if the players cannot send their world within History, a joiner is told so after two
// tries, with the field of theirs to raise.
func TestPlayersTooSlowForTheirWorld(t *testing.T) {
	const size = 300_000
	tb := lateMatch(t, 3, Config{}, near, size)
	for _, d := range tb.peers {
		d.conn.SetRate(20_000)
	}
	late := tb.add(near)
	took := tb.ends(late, 25*time.Second)
	t.Log(took, late.reason)
	require.Equal(t, transport.Overflow, late.code)
	require.Contains(t, late.reason, fmt.Sprintf("players send a world of %d bytes too slowly: raise their rollback.Config.SendRate", size))
	require.EqualValues(t, 1, tb.relay.Stats().WorldsFailed)
}

// TestGuestThatNeverCatchesUp: a guest that takes its world, but no tick after it, gets another one, and is dropped if
// that is of no use either.
func TestGuestThatNeverCatchesUp(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 64)
	late := tb.watch(near)
	late.mute = true
	took := tb.ends(late, 25*time.Second)
	t.Log(took, late.reason)
	require.Equal(t, 2, late.worlds)
	require.Equal(t, transport.Overflow, late.code)
	require.Contains(t, late.reason, "took a world of 64 bytes and not the ticks after it: raise relay.Config.SendRate or History")
	require.EqualValues(t, 1, tb.relay.Stats().WorldsFailed)
}

// TestPlayerLeavesAfterItsWorld: a player that leaves once the relay has all of its world does not cost the joiner the
// time of another one.
func TestPlayerLeavesAfterItsWorld(t *testing.T) {
	tb := lateMatch(t, 2, Config{SendRate: 7_000}, near, 35_000)
	late := tb.watch(near)
	var from *dummy
	for w := &tb.relay.match.worlds; len(w.taking) == 0; tb.run(100 * time.Millisecond) {
		if w.transfer.from != nil {
			from = tb.player(w.transfer.from.player)
		}
	}
	from.end.Disconnect(from.peer, transport.Closed, "")
	from.gone = true
	tb.run(12 * time.Second)
	require.Equal(t, 1, late.worlds)
	require.EqualValues(t, 1, tb.relay.Stats().Worlds)
	require.Zero(t, tb.relay.Stats().Waiting)
}
