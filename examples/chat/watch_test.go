package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A tool without the game's types reads the messages, and the data that all players see of each other,
// also after a level change. It never receives a plan.
func TestObserve(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-observe", "-loss", "0.1", "-seconds", "25"}, &out, &errs), errs.String())
	for _, line := range []string{"observer  Said in tick", "[1 Ann: bye]", "player of player 1: Profile.Name=Ann Bag.Items=4", "player of player 3: Profile.Name=Carl"} {
		require.Contains(t, out.String(), line)
	}
	require.Contains(t, out.String(), `has the plan "left"`, "there is one")
	require.NotContains(t, out.String(), "Profile.Plan")
}

// An observer without the word is refused.
func TestObserveNeedsTheWord(t *testing.T) {
	m := simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: (&Game{}).Protocol(), Observe: admit})
	require.NoError(t, err)
	o, err := observe.New(observe.Config{Transport: m.Dial(sim.Link{}, sim.Link{}), Data: []byte("let me in")})
	require.NoError(t, err)
	for range 90 {
		m.RunFor(time.Second / 30)
		if err = o.Step(m.Now()); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "only the stream may watch")
	require.Empty(t, o.Entities())
}
