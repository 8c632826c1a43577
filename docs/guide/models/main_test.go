package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/rollback"
)

// TestModels: what the page says of the three models holds in each match, whatever the digits.
func TestModels(t *testing.T) {
	server, err := measure(serve, 3, 100, 3*time.Second)
	require.NoError(t, err)
	few, err := measure(serve, 3, 0, 3*time.Second)
	require.NoError(t, err)
	back, err := measure(relayed(0, 0), 3, 100, 3*time.Second)
	require.NoError(t, err)
	alone, err := measure(relayed(0, 0), 3, 0, 3*time.Second)
	require.NoError(t, err)
	undelayed, err := measure(relayed(0, -1), 3, 100, 3*time.Second)
	require.NoError(t, err)
	lock, err := measure(relayed(rollback.Lockstep, 0), 3, 100, 3*time.Second)
	require.NoError(t, err)
	for _, f := range []figures{server, few, back, alone, undelayed, lock} {
		require.Greater(t, f.shown, 3*2*3, "each screen shows more than a press a second of each other player")
	}
	require.Greater(t, server.down, few.down+1000, "hares cost bytes where a server sends them")
	require.InDelta(t, back.down, alone.down, 50, "and none where inputs alone travel")
	require.Less(t, server.own, back.own)
	require.Less(t, undelayed.own, back.own)
	require.Less(t, back.own, lock.own)
	require.Less(t, back.others, lock.others)
	require.Less(t, lock.others, server.others)
	require.InDelta(t, 1, lock.computed, 0.01, "lockstep runs each tick once")
	require.Greater(t, back.computed, 1.1)
	require.Greater(t, undelayed.computed, back.computed)
}
