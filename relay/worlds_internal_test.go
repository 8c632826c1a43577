package relay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// favour makes the relay ask a player first, as far as its inputs decide that.
func (t *table) favour(d *dummy) {
	for i := range t.relay.match.places.all {
		t.relay.match.places.all[i].stoodIn = t.relay.match.settling.newest
	}
	t.relay.match.places.at(d.hello.Player).stoodIn = 0
}

// TestTricklingPlayerIsGivenUp: a player that sends a byte of its world now and then is given up for another
// after worldPatience, and the next joiners get the world of another player at once.
func TestTricklingPlayerIsGivenUp(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 64)
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
	tb := lateMatch(t, 2, Config{}, near, 64)
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
