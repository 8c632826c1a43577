package inspect_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/trace"
)

// The trace of a player on a server has the values of both ends, and what only the server did.
// It ends when the client leaves, and 30 seconds after the last look.
func TestTrace(t *testing.T) {
	m := play(t, 2, 0.5)
	require.NoError(t, m.in.AddServer("server", m.srv))
	m.Run(2 * time.Second)
	compared, alone := map[trace.Tick]bool{}, 0
	var newest inspect.Tick
	for at := 2 * time.Second; at < 5*time.Second; at += 250 * time.Millisecond {
		got, err := m.in.Trace("server", inspect.TraceQuery{Player: 2, After: newest})
		require.NoError(t, err)
		require.Empty(t, got.Why)
		require.Nil(t, got.First, "the shove is the server's own")
		for _, table := range got.Tables {
			require.Greater(t, table.Tick, newest)
			if table.Client && table.Server {
				compared[table.Tick] = true
			}
			if table.First != nil && table.First.Excuse == trace.TheServer {
				alone++
			}
		}
		if n := len(got.Tables); n > 16 {
			newest = got.Tables[n-16].Tick
		}
		m.Run(at)
	}
	require.Greater(t, len(compared), 60)
	require.NotZero(t, alone)

	got, err := m.in.Trace("server", inspect.TraceQuery{Player: 2})
	require.NoError(t, err)
	require.Equal(t, "armed", got.State)
	m.Run(m.Net.Now() + 31*time.Second)
	state, _ := trace.OfServer(m.srv, 2).Status()
	require.Equal(t, trace.Off, state, "nobody looks")

	_, err = m.in.Trace("nobody", inspect.TraceQuery{})
	require.ErrorIs(t, err, inspect.ErrNoEnd)
	_, err = m.in.Trace("server", inspect.TraceQuery{Player: 3})
	require.ErrorContains(t, err, "there is no player 3 to trace")
	_, err = m.in.Trace("server", inspect.TraceQuery{Player: 2, Entities: make([]inspect.EntityID, 9)})
	require.ErrorContains(t, err, "use up to 8")
}

// If the server refuses a trace, the client's trace has that state and the reason. However often
// Look is called, the client asks its server so seldom that it is not dropped for it.
func TestTraceRefused(t *testing.T) {
	m := play(t, 1, 0)
	require.NoError(t, m.in.AddServer("server", m.srv))
	m.Run(time.Second)
	states := map[string]int{}
	for range 400 {
		got, err := m.in.Trace("player 1", inspect.TraceQuery{})
		require.NoError(t, err)
		states[got.State+": "+got.Why]++
		m.Run(m.Net.Now() + 20*time.Millisecond)
	}
	require.Greater(t, states["refused: the server does not allow it: see server.Config.AllowTrace"], 300, states)
	require.Len(t, states, 2, states)
	require.Zero(t, m.srv.Stats().Malformed)
	require.Zero(t, m.srv.Stats().Offenders)
}

// Values for which JSON has no numbers become text. 32-bit floats have few digits.
func TestTraceJSON(t *testing.T) {
	for value, want := range map[any]string{
		math.NaN(): `"NaN"`, math.Inf(-1): `"-Inf"`, float64(float32(0.1)): "0.1", 0.1: "0.1", uint64(1 << 60): `"1152921504606846976"`, int64(-5): "-5",
		[4]float64{1, math.NaN(), 0, float64(float32(0.3))}: `[1,"NaN",0,0.3]`, true: "true", "a": `"a"`,
	} {
		b, err := json.Marshal(trace.Pair{Client: value})
		require.NoError(t, err)
		require.Equal(t, `{"client":`+want+`,"server":null}`, string(b))
	}
}
