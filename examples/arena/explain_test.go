package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/examples/arena/game"
)

// explained is a line of -explain.
type explained struct {
	Tick            uint32
	Cause, System   string
	CauseTick       uint32        `json:"cause_tick"`
	Input, Executed *game.Command // the client's command, and the one that the server ran
}

// explain plays a match and reads its explanations.
func explain(t *testing.T, args ...string) (lines []explained) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := program(append([]string{"-json", "-explain"}, args...)...)
	p.Stdout, p.Stderr = &stdout, &stderr
	require.NoError(t, p.Run(), stderr.String())
	for line := range strings.Lines(stderr.String()) {
		var m explained
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		lines = append(lines, m)
	}
	return lines
}

// If only lost commands can cause mispredictions, each correction names one: its tick, the player's
// command, and the command that the server ran instead.
func TestExplainNamesLostInputs(t *testing.T) {
	lines := explain(t, with("-peaceful", "-loss", "0.25", "-jitter", "0")...)
	differ := 0
	for _, m := range lines {
		require.Equal(t, "input", m.Cause)
		require.LessOrEqual(t, m.CauseTick, m.Tick)
		require.NotZero(t, m.CauseTick)
		require.NotNil(t, m.Input)
		require.NotNil(t, m.Executed)
		if *m.Input != *m.Executed {
			differ++
		}
	}
	require.Greater(t, len(lines), 5)
	require.Equal(t, len(lines), differ, "a command that was replaced by its like corrects nothing")
}

// A stun names the server's system and the tick of the stun.
func TestExplainNamesStuns(t *testing.T) {
	stuns := 0
	for _, m := range explain(t, with("-loss", "0", "-jitter", "0")...) {
		if m.System == "stun" {
			stuns++
			require.Equal(t, "server_effect", m.Cause)
			require.Equal(t, m.Tick, m.CauseTick, "nothing is lost: the snapshot of that very tick tells")
			require.Equal(t, m.Input, m.Executed)
		}
	}
	require.Greater(t, stuns, 40)
}
