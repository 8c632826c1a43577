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
	m := prediction.Misprediction{Tick: 9, Prefab: "avatar", Component: "Status", Field: "Stun", Predicted: 0, Actual: 8,
		Cause: prediction.ServerEffect, System: "stun", CauseTick: 7}
	require.Equal(t, `tick 9: avatar Status.Stun predicted 0, server has 8: server_effect: "stun", which only the server runs, changed it in tick 7`, m.String())
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(m.JSON()), &back))
	require.Equal(t, "server_effect", back["cause"])
	require.Equal(t, "stun", back["system"])
	require.Equal(t, m.Why(), back["why"])
	m.Actual = math.NaN()
	require.NoError(t, json.Unmarshal([]byte(m.JSON()), &back), "a NaN makes no broken line")
	for c, name := range []string{"input", "server_effect", "remote_input", "untracked", "code", "unknown"} {
		require.Equal(t, name, prediction.Cause(c).String())
	}
	require.Equal(t, "cause(9)", prediction.Cause(9).String())
}

// Every cause says in words what happened.
func TestMispredictionSaysWhy(t *testing.T) {
	causes, standIns := map[prediction.Cause]bool{}, map[prediction.StandIn]bool{}
	for want, m := range map[string]prediction.Misprediction{
		"your command for tick 862 did not arrive in time; the server repeated the last one":                      {Cause: prediction.Input, CauseTick: 862, CauseTicks: 1, StandIn: prediction.Repeated},
		"your commands for ticks 860 to 862 did not arrive in time; the server repeated the last one":             {Cause: prediction.Input, CauseTick: 862, CauseTicks: 3, StandIn: prediction.Repeated},
		"your command for tick 862 did not arrive in time; the server let the last one decay":                     {Cause: prediction.Input, CauseTick: 862, StandIn: prediction.Decayed},
		"your command for tick 862 did not arrive in time; the server ran a zero command":                         {Cause: prediction.Input, CauseTick: 862, StandIn: prediction.Neutral},
		"the server refused your command for tick 862 and ran another one":                                        {Cause: prediction.Input, CauseTick: 862, StandIn: prediction.Refused},
		"your command for tick 862 changed after it had been sent; the server ran what was sent first":            {Cause: prediction.Input, CauseTick: 862, StandIn: prediction.Replaced},
		"the server ran another command than your command for tick 862":                                           {Cause: prediction.Input, CauseTick: 862},
		"the server changed it in tick 7 (outside of systems)":                                                    {Cause: prediction.ServerEffect, CauseTick: 7, System: "(outside of systems)"},
		"player 3 changed it in tick 7, which this client could not know":                                         {Cause: prediction.RemoteInput, CauseTick: 7, Player: 3},
		"another player did something else than was predicted":                                                    {Cause: prediction.RemoteInput},
		"player 4 did something else than was predicted":                                                          {Cause: prediction.RemoteInput, Player: 4},
		"the server changed it in tick 8":                                                                         {Cause: prediction.ServerEffect, CauseTick: 8},
		`"request heal", which only the server runs, changed it in tick 8`:                                        {Cause: prediction.ServerEffect, CauseTick: 8, System: "request heal"},
		"the server refused your commands for ticks 861 to 862 and ran another one":                               {Cause: prediction.Input, CauseTick: 862, CauseTicks: 2, StandIn: prediction.Refused},
		"your commands for ticks 861 to 862 changed after they had been sent; the server ran what was sent first": {Cause: prediction.Input, CauseTick: 862, CauseTicks: 2, StandIn: prediction.Replaced},
		"a shared system read a value that differed, or was not known, on this client":                            {Cause: prediction.Untracked},
		"the same code computed something else from the same inputs: chance, a clock, the order of a map, state outside of components, or a component that the system does not declare (run with -tags foretick_debug)": {Cause: prediction.Code},
		"a shared system read a value of player 2, which was newer on the server":                                                                   {Cause: prediction.Untracked, Player: 2},
		"a shared system read Pos of player 2, which was newer on the server":                                                                       {Cause: prediction.Untracked, Player: 2, Read: "Pos"},
		"a shared system read Pos of an unowned entity, which was newer on the server":                                                              {Cause: prediction.Untracked, OfOther: true, Read: "Pos"},
		"a shared system read Stun, which is not Predicted and was newer on the server, or is rounded on its way here: declare it with Predicted()": {Cause: prediction.Untracked, Read: "Stun"},
		`system "move" computed something else in tick 5, from the same inputs`:                                                                     {Cause: prediction.Code, CauseTick: 5, System: "move"},
		"the same code computed something else from the same inputs. The client runs on arm64 and the server on amd64, which may round x*y + z and functions of math differently: check the game's code with foretick-vet, then run simtest.SyncTest for other reasons": {Cause: prediction.Code, Architecture: "arm64", ServerArchitecture: "amd64"},
		"another player's input came late and ran in its own tick, which changed tick 8": {Cause: prediction.LateInput, CauseTick: 8},
		"the ends have not agreed for so long that the cause is not known any more":      {Cause: prediction.Unknown},
	} {
		require.Equal(t, want, m.Why())
		require.Contains(t, m.String(), want)
		causes[m.Cause], standIns[m.StandIn] = true, true
	}
	require.Len(t, causes, prediction.Causes, "a cause has no words here")
	require.Len(t, standIns, int(prediction.Replaced)+1, "a stand-in has no words here")
}

// A misprediction lists all that differed, each in its own units.
func TestMispredictionListsDifferences(t *testing.T) {
	m := prediction.Misprediction{Tick: 9, Differences: []prediction.Difference{
		{Prefab: "car", Component: "Body", Field: "X", Predicted: 1.25, Actual: 1.5},
		{Prefab: "car", Component: "Name", Field: "Text", Predicted: "a", Actual: "b"},
		{Prefab: "car", Component: "Boost", Field: "(component)", Predicted: true, Actual: nil},
	}}
	require.Contains(t, m.String(), `tick 9: car Body.X predicted 1.25, server has 1.5; car Name.Text predicted "a", server has "b"; car Boost.(component) predicted true, server has nothing: input`)
	require.Contains(t, m.JSON(), `"actual":1.5`)
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

func TestByCausePrintsNames(t *testing.T) {
	var b prediction.ByCause
	require.Equal(t, "none", b.String())
	b.Count(prediction.ServerEffect, 1)
	require.Equal(t, "server_effect 1", fmt.Sprint(b))
	b.Count(prediction.Input, 3)
	require.Equal(t, "input 3, server_effect 1", b.String())
}
