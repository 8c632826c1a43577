package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

// All players receive each line once, on any network. Only allies receive a plan, and names are kept
// across a level change.
func TestRun(t *testing.T) {
	for _, loss := range []string{"0", "0.1", "0.4"} {
		var out, errs bytes.Buffer
		require.Zero(t, run([]string{"-loss", loss, "-seconds", "25"}, &out, &errs))
		require.Empty(t, errs.String())
		for line, times := range map[string]int{"Ann: bye": 3, "Bert: who is there?": 2, "Carl: I am": 3, "level harbour": 3} {
			require.GreaterOrEqual(t, bytes.Count(out.Bytes(), []byte(line)), times-1, "%s at %s:\n%s", line, loss, &out)
			require.LessOrEqual(t, bytes.Count(out.Bytes(), []byte(line)), 3, "%s at %s:\n%s", line, loss, &out)
		}
		require.Contains(t, out.String(), `screen 3: Ann has the plan "left"`)
		require.Contains(t, out.String(), `screen 2: Ann has the plan ""`)
		require.Contains(t, out.String(), `screen 2: Bert has the plan "right"`)
	}
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-loss", "2"}, {"-seconds", "1"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}

func player() simtest.Player {
	g := &Game{show: func(string) {}}
	lines := []string{"/name Dora", "one", "/next cave", "two", "/plan none", "three"}
	act := func(c *client.Client) {
		if c.View().Tick%15 == 0 {
			lines = g.talk(c, lines)
		}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, g.command), Act: act, Begin: func(s *server.Server) { g.server = s }}
}

func TestMatches(t *testing.T) {
	simtest.Check(t, simtest.Plan{New: player, Clients: 4, Play: 20 * time.Second}, 2)
}

func TestSync(t *testing.T) { simtest.SyncTest(t, player, simtest.SyncConfig{}) }

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, player) }

// BenchmarkGame measures what a match costs a player. It is the same in every run; the limits are 1.3
// times the current values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 1900, "corrections/min": 1, "server-allocs/tick": 1, "client-allocs/step": 1.4}
	simtest.Bench(b, player, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
