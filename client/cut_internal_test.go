package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
)

// A client that joins after tick 1<<31 has predicted nothing, and its newest predicted tick 0 seems to come
// after the server's tick. It does not look at all the ticks between the two.
func TestCutsOfNoPrediction(t *testing.T) {
	records := prediction.NewHistory[record](64)
	var pc predictedCuts
	_, took := costtest.Cost(func() {
		pc.noteCuts(records, 0, 1<<31+5, 0, 64)
		require.False(t, pc.recut(records, 7))
	})
	require.Less(t, took, time.Second, "2^31 ticks take many")
	require.Empty(t, pc.items)
}

// A correction compares the teleports of the ticks that run again, on both sides of the circle's ends.
func TestCutsOfCorrection(t *testing.T) {
	for _, start := range []foretick.Tick{100, 1<<31 - 5, 1<<32 - 5} {
		records := prediction.NewHistory[record](64)
		for k := range foretick.Tick(10) {
			records.Put(start + k).cuts = []ecs.Entity{ecs.Entity(k + 1)}
		}
		var pc predictedCuts
		pc.noteCuts(records, start+1, start+4, start+9, 64)
		require.Len(t, pc.items, 8, "start %d", start)
		require.Equal(t, predictedCut{3, start + 2}, pc.items[0])
		require.Equal(t, predictedCut{10, start + 9}, pc.items[7])
		require.True(t, pc.recut(records, 3), "what the server's state replaced")
		require.False(t, pc.recut(records, 8), "as before")
		records.Find(start + 7).cuts = nil
		require.True(t, pc.recut(records, 8), "taken away")
	}
}
