package client

import (
	"testing"

	"github.com/foretick/foretick"
	"github.com/stretchr/testify/require"
)

// A ghost's entry remembers the 64 ticks before the newest one in which a snapshot had the ghost.
func TestTicksInWhichAnEntityWasTold(t *testing.T) {
	var p agreedPart
	require.False(t, p.toldIn(0))
	for _, k := range []foretick.Tick{100, 101, 104, 164, 168} {
		require.False(t, p.toldIn(k))
		p.addTold(k)
		require.True(t, p.toldIn(k))
	}
	for k, told := range map[foretick.Tick]bool{100: false, 103: false, 104: true, 105: false, 163: false, 164: true, 165: false, 168: true, 169: false} {
		require.Equal(t, told, p.toldIn(k), "tick %d", k)
	}
	p.addTold(300)
	require.False(t, p.toldIn(168))
	require.False(t, p.toldIn(299))
	require.True(t, p.toldIn(300))
}
