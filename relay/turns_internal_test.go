package relay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// besiege keeps n guests connected that waste their turns, for as long as the table runs: whoever is dropped connects
// again.
func (t *table) besiege(n int, waste func(*dummy)) {
	for range n {
		var d *dummy
		var connect func()
		connect = func() {
			if d == nil || d.gone {
				d = t.watch(near)
				waste(d)
			}
			t.net.At(t.net.Now()+200*time.Millisecond, connect)
		}
		t.net.At(t.net.Now(), connect)
	}
	t.run(2 * time.Second)
}

// TestWastedTurns: sixteen guests that waste their turns, and come back for ever, cost a player that joins late 10 s at
// most. It gets its world in 2 s without them. Before there was a bound, it waited for 96 s, and for more than four
// minutes for guests that take their worlds slowly. An observer waits for one short turn of each.
func TestWastedTurns(t *testing.T) {
	for name, waste := range map[string]func(*dummy){
		"deaf":            func(d *dummy) { d.deaf = true },
		"takes no pieces": func(d *dummy) { d.takes = -1 },
		"takes 4 kB/s":    func(d *dummy) { d.takes = 4_500 },
	} {
		tb := lateMatch(t, 2, Config{History: time.Minute}, near, 70_000)
		tb.besiege(16-1, waste)
		for n := range 2 {
			late := tb.add(near)
			late.size = 70_000
			took := tb.ends(late, 10*time.Second)
			t.Logf("%s: %.1f s until player %d plays", name, took.Seconds(), n+3)
			require.False(t, late.gone, late.reason)
		}
		for n, most := range []time.Duration{15 * 4 * time.Second, 8 * time.Second} { // the second one goes before all that had a turn
			begun, late := tb.until, tb.watch(near)
			for late.worlds == 0 {
				tb.run(100 * time.Millisecond)
				require.Less(t, tb.until-begun, most, "observer %d", n+1)
			}
			t.Logf("%s: %.1f s until observer %d has its world", name, (tb.until - begun).Seconds(), n+1)
			tb.net.Kill(late.end)
			late.gone = true
			tb.run(11 * time.Second) // until its place is free
		}
	}
}

// TestPlayersGoFirst: a player that joins waits for the one observer whose turn it is, and not for all others.
func TestPlayersGoFirst(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 5_000)
	for range 16 {
		tb.watch(near)
	}
	tb.run(100 * time.Millisecond)
	late := tb.add(near)
	late.size = 5_000
	tb.ends(late, 4*time.Second)
	require.LessOrEqual(t, tb.relay.Stats().Worlds, uint64(3))
	tb.run(20 * time.Second)
	require.EqualValues(t, 17, tb.relay.Stats().Worlds)
}

// TestSlowGuestsGetTheirWorlds: guests on slow paths let others go first, but not one another for ever, and are not
// dropped for it.
func TestSlowGuestsGetTheirWorlds(t *testing.T) {
	const size = 200_000
	tb := lateMatch(t, 2, Config{History: time.Minute}, near, size)
	var slow []*dummy
	for range 3 {
		d := tb.watch(near)
		d.takes = 9_000
		slow = append(slow, d)
	}
	tb.run(3 * time.Second)
	for range mostTries + 2 {
		late := tb.watch(near)
		tb.run(11 * time.Second)
		require.Equal(t, 1, late.worlds)
	}
	tb.run(2 * time.Minute)
	for _, d := range slow {
		require.Equal(t, 1, d.worlds, d.reason)
	}
	require.Zero(t, tb.relay.Stats().WorldsFailed)
}

// TestReturningPlayerIsAskedLast: a player that was too slow with its world, left, and came back as a new player, is
// asked after the others as before.
func TestReturningPlayerIsAskedLast(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 70_000)
	slow := tb.peers[0]
	slow.trickle = true
	tb.favour(slow)
	tb.watch(near)
	tb.run(10 * time.Second)
	require.Equal(t, 1, tb.relay.match.places.at(slow.hello.Player).slow)
	slow.end.Disconnect(slow.peer, transport.Closed, "")
	slow.gone = true
	tb.run(time.Second)
	back := tb.add(near)
	back.size, back.trickle = 70_000, true
	tb.ends(back, 5*time.Second)
	tb.favour(back)
	late := tb.watch(near)
	tb.run(4 * time.Second)
	require.Equal(t, 1, late.worlds)
	require.Equal(t, 1, tb.relay.match.places.at(back.hello.Player).slow, "it was not asked")
}

// TestPiecesAreWhole: a player that sends its world in pieces of a byte, which would fill a joiner's queue, is given up
// at the first one.
func TestPiecesAreWhole(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 5_000)
	tb.peers[0].crumbs = true
	tb.favour(tb.peers[0])
	late := tb.watch(near)
	tb.run(3 * time.Second)
	require.Equal(t, 1, late.worlds, late.reason)
	require.Equal(t, 1, tb.relay.match.places.at(tb.peers[0].hello.Player).slow)
	require.Positive(t, tb.relay.Stats().Malformed)
}
