package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/examples/fighter/game"
)

// TestBots: bots use every attack, hit and block, and win rounds. One seed is one match.
func TestBots(t *testing.T) {
	o, err := play(90, 50*time.Millisecond, 1)
	require.NoError(t, err)
	for act := game.Jab; act <= game.Throw; act++ {
		require.Positive(t, o.attacks[act], act)
	}
	require.Greater(t, o.hit, 20)
	require.Greater(t, o.blocked, 5)
	require.Greater(t, o.rounds, 1)
	require.Positive(t, o.won[0]+o.won[1])
	t.Logf("%+v", o)

	short, err := play(20, 50*time.Millisecond, 2)
	require.NoError(t, err)
	again, err := play(20, 50*time.Millisecond, 2)
	require.NoError(t, err)
	require.Equal(t, short, again)
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-seconds", "10", "-rtt", "0"}, &out, &errs))
	require.Contains(t, out.String(), "attacks hit")
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
