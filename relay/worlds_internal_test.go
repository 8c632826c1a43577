package relay

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// favour makes the relay ask a player first, as far as its inputs decide that.
func (t *table) favour(d *dummy) {
	for i := range t.relay.match.places.all {
		t.relay.match.places.all[i].stoodIn = t.relay.match.settling.newest
	}
	t.relay.match.places.at(d.hello.Player).stoodIn = 0
}

// TestTricklingPlayerIsGivenUp: a player that sends a piece of its world now and then is given up for another
// after worldPatience, and the next joiners get the world of another player at once.
func TestTricklingPlayerIsGivenUp(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 70_000)
	slow := tb.peers[0]
	slow.trickle = true
	for n, patience := range []time.Duration{worldPatience + 4*time.Second, 3 * time.Second} {
		tb.favour(slow)
		late := tb.watch(near)
		tb.run(patience)
		require.Equal(t, 1, late.worlds, "joiner %d", n+1)
		require.Equal(t, 1, tb.relay.match.places.at(slow.hello.Player).slow)
	}
}

// TestSlowPlayerIsGivenUpWhenTheRingPasses: if the relay no longer has the ticks after a world of which a player sent
// only as much as it must, it asks another player. The joiner stays.
func TestSlowPlayerIsGivenUpWhenTheRingPasses(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 70_000)
	slow := tb.peers[0]
	tb.favour(slow)
	late := tb.watch(near)
	slow.trickle = true
	w := &tb.relay.match.worlds
	for w.transfer.from == nil || w.transfer.from.player == slow.hello.Player {
		tb.run(100 * time.Millisecond)
		w.transfer.news = tb.relay.now // as if it sent just enough
		require.False(t, late.gone, late.reason)
	}
	tb.run(3 * time.Second)
	require.Equal(t, 1, late.worlds)
}

// TestDeafGuestsGoToTheEnd: a guest that takes nothing of its world lets the others go first after worldPatience, and
// is dropped after it did so mostTries times. No player is blamed for it.
func TestDeafGuestsGoToTheEnd(t *testing.T) {
	tb := lateMatch(t, 2, Config{Timeout: time.Minute}, near, 70_000)
	tb.watch(near).deaf = true
	tb.run(500 * time.Millisecond)
	late := tb.watch(near)
	turn := worldPatience + 2*time.Second
	tb.run(turn + 4*time.Second)
	require.Equal(t, 1, late.worlds)
	require.Equal(t, 1, tb.relay.Stats().Waiting)
	tb.run(mostTries * turn)
	require.Zero(t, tb.relay.Stats().Waiting)
	require.False(t, late.gone)
	require.Equal(t, 1, tb.relay.Stats().Observers)
	for i := range 2 {
		require.Zero(t, tb.relay.match.places.all[i].slow)
	}
}

// TestSlowGuestKeepsItsTurn: a guest that takes its world slowly, but takes it, gets all of it at once.
func TestSlowGuestKeepsItsTurn(t *testing.T) {
	tb := lateMatch(t, 2, Config{SendRate: 25_000}, near, 165_000)
	late := tb.watch(near)
	tb.run(2 * worldPatience)
	require.Zero(t, tb.relay.guests.all[2].deferred)
	require.Equal(t, 1, late.worlds, late.reason)
}

// TestTooLongWorldIsRefusedAtOnce: a world that SendRate cannot send within History, or that is longer than MaxWorld, is
// refused at its first piece, with the fields to raise, if all players say that it is so long.
func TestTooLongWorldIsRefusedAtOnce(t *testing.T) {
	for fix, cfg := range map[string]Config{
		"raise relay.Config.SendRate or History":      {SendRate: 7_000},
		"longer than relay.Config.MaxWorld: raise it": {MaxWorld: 70_000},
	} {
		tb := lateMatch(t, 2, cfg, near, 70_001)
		late := tb.watch(near)
		tb.run(4 * time.Second)
		require.Equal(t, transport.Overflow, late.code)
		require.Contains(t, late.reason, fix)
		require.Empty(t, late.pieces)
		require.Zero(t, tb.relay.Stats().Malformed)
	}
}

// TestOnePlayerRefusesNoJoiner: a player that says that its world is too long is given up for another.
func TestOnePlayerRefusesNoJoiner(t *testing.T) {
	tb := lateMatch(t, 3, Config{SendRate: 20_000}, near, 64)
	tb.peers[0].size = 200_001
	tb.favour(tb.peers[0])
	late := tb.watch(near)
	tb.run(4 * time.Second)
	require.Equal(t, 1, late.worlds, late.reason)
	require.Equal(t, 1, tb.relay.match.places.at(tb.peers[0].hello.Player).slow)
}

// TestLimitsOnThePage: the page about limits has the relay's numbers that no config sets.
func TestLimitsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/guide/limits.md")
	require.NoError(t, err)
	for _, row := range []string{
		fmt.Sprintf("| ticks of a match | %d |", uint64(lastTick)),
		fmt.Sprintf("| time that a peer takes too little of its world | %.0f s, or %.0f s while others wait |", worldPatience.Seconds(), hurryPatience.Seconds()),
		fmt.Sprintf("At the %s time it is dropped", []string{1: "second", 2: "third", 3: "fourth"}[mostTries]),
	} {
		require.Contains(t, string(page), row)
	}
}
