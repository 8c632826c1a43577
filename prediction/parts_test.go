package prediction_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/prediction"
)

func TestHistoryKeepsTheNewest(t *testing.T) {
	h := prediction.NewHistory[int](4)
	require.Nil(t, h.Find(0), "a slot's zero is no tick 0")
	for k := prediction.Tick(0); k < 10; k++ {
		*h.Put(k) = int(k) * 2
	}
	for k := prediction.Tick(0); k < 6; k++ {
		require.Nil(t, h.Find(k))
	}
	for k := prediction.Tick(6); k < 10; k++ {
		require.Equal(t, int(k)*2, *h.Find(k))
	}
	h.Clear()
	require.Nil(t, h.Find(9))
	require.NotPanics(t, func() { *prediction.NewHistory[int](-1).Put(3) = 1 })
}

func TestFade(t *testing.T) {
	f := prediction.Fade{HalfLife: 100 * time.Millisecond, Limit: 5}
	offset := f.Add(0, 3, 1) // 3 was shown, 1 is right
	require.Equal(t, float32(2), offset)
	require.InDelta(t, 0.5, f.Factor(100*time.Millisecond), 1e-6)
	require.InDelta(t, 0.25, f.Factor(200*time.Millisecond), 1e-6)
	require.Equal(t, float32(1), f.Factor(0))
	require.Equal(t, float32(1), f.Factor(-time.Second))
	require.Zero(t, f.Add(0, 100, 1), "a teleport is shown at once")
	require.Zero(t, f.Add(0, -100, 1))
	require.Equal(t, float32(3), f.Add(2, 1, 0), "corrections add up")
	require.Zero(t, f.Add(0, float32(math.NaN()), 0), "a NaN does not stay")
	require.InDelta(t, 0.5, prediction.Fade{}.Factor(prediction.DefaultHalfLife), 1e-6)
	require.Equal(t, float32(1e9), prediction.Fade{}.Add(0, 1e9, 0), "no limit by default")
}

func TestMispredictionReads(t *testing.T) {
	m := prediction.Misprediction{Tick: 9, Component: "Status", Field: "Stun", Predicted: 0, Actual: 8,
		Cause: prediction.ServerEffect, System: "stun", CauseTick: 7}
	require.Equal(t, "tick 9: Status.Stun predicted 0, server has 8: server_effect (stun at tick 7)", m.String())
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(m.JSON()), &back))
	require.Equal(t, "server_effect", back["cause"])
	require.Equal(t, "stun", back["system"])
	m.Actual = math.NaN()
	require.NoError(t, json.Unmarshal([]byte(m.JSON()), &back), "a NaN makes no broken line")
	for c, name := range []string{"input", "server_effect", "foresight", "untracked", "code"} {
		require.Equal(t, name, prediction.Cause(c).String())
	}
	require.Equal(t, "cause(9)", prediction.Cause(9).String())
}

func ExampleFade() {
	f := prediction.Fade{HalfLife: 50 * time.Millisecond}
	offset := f.Add(0, 10, 8) // 10 is on the screen, the server says 8
	for range 3 {
		fmt.Printf("%.2f ", 8+offset)
		offset *= f.Factor(50 * time.Millisecond)
	}
	// Output: 10.00 9.00 8.50
}
