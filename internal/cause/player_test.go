package cause

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/prediction"
)

// written is the note that a player is sent.
func written(t *testing.T, p *Player, now, acked Tick, s Substitution, always bool) *Note {
	p.Write(now, acked, &s, always)
	if len(p.Packed()) == 0 {
		return nil
	}
	n := new(Note)
	require.NoError(t, n.Parse(p.Packed(), len(s.Command)))
	return n
}

func TestPlayerWrites(t *testing.T) {
	var p Player
	require.Nil(t, written(t, &p, 10, 0, Substitution{}, true), "nothing to say")
	p.Affected(10, 7, 5)
	p.Pushed(9, 3)
	n := written(t, &p, 12, 0, Substitution{From: 8, To: 11, How: prediction.Neutral, Command: []byte{4, 5}}, false)
	require.Equal(t, &Note{Substituted: 2, Run: 3, How: prediction.Neutral, Effect: 3, System: 7, Pushed: 4, By: 3, StandIn: []byte{4, 5}}, n)
	n = written(t, &p, 13, 10, Substitution{}, false)
	require.Nil(t, n, "the client has a snapshot of the effect")
}

// If a run follows another one, of which the client may not know yet, the note has both.
func TestRunsOfSubstitutes(t *testing.T) {
	var p Player
	s := Substitution{Command: []byte{4, 5}}
	run := func(from, to Tick, how prediction.StandIn, acked Tick) {
		s.Follow(from, acked)
		s.To, s.How = to, how
	}
	run(5, 9, prediction.Neutral, 3)
	require.Zero(t, written(t, &p, 10, 3, s, false).Earlier)
	run(11, 11, prediction.Repeated, 3)
	n := written(t, &p, 11, 3, s, false)
	require.Equal(t, EarlierRun{Gap: 2, Run: 4, How: prediction.Neutral}, n.Earlier)
	last, ok := n.EarlierTick(11)
	require.True(t, ok)
	require.EqualValues(t, 9, last)
	require.Zero(t, written(t, &p, 12, 9, s, false).Earlier, "the client has a snapshot of its end")
	run(14, 15, prediction.Repeated, 3)
	n = written(t, &p, 16, 3, s, false)
	require.Equal(t, EarlierRun{Gap: 3, Run: 6, How: prediction.Other}, n.Earlier, "both that came before")
	run(18, 18, prediction.Repeated, 12)
	require.Equal(t, EarlierRun{Gap: 3, Run: 1, How: prediction.Repeated}, written(t, &p, 18, 12, s, false).Earlier, "the first is known")
}

// Events go with causes, or alone where remote players are predicted, until the client has
// a snapshot of their tick.
func TestPlayerEvents(t *testing.T) {
	var p Player
	p.Raise(5, 2)
	p.Raise(8, 1)
	require.Nil(t, written(t, &p, 9, 0, Substitution{}, false))
	require.Equal(t, []Raised{{4, 2}, {1, 1}}, written(t, &p, 9, 0, Substitution{}, true).Raised)
	require.Equal(t, []Raised{{2, 1}}, written(t, &p, 10, 5, Substitution{}, true).Raised)
	require.Nil(t, written(t, &p, 8+Window, 0, Substitution{}, true), "too old")
	for range MaxRaised + 1 {
		p.Raise(300, 1)
	}
	require.Len(t, written(t, &p, 300, 0, Substitution{}, true).Raised, MaxRaised)
}

// An effect after some quiet time is sudden, one that comes all the time is not.
func TestSudden(t *testing.T) {
	var p Player
	require.False(t, p.Sudden(3))
	p.Affected(10, 1, 5)
	require.True(t, p.Sudden(10))
	require.True(t, p.Sudden(11), "one packet may be lost")
	require.False(t, p.Sudden(12))
	p.Affected(12, 1, 5)
	require.False(t, p.Sudden(12))
	p.Affected(20, 1, 5)
	require.True(t, p.Sudden(20))
}
