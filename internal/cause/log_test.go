package cause

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/prediction"
)

// client is evidence for a test.
type client struct {
	agreed, remade Tick
	ticks          uint32
	pushed, remote bool
	differed, own  bool
	sure, unknown  bool
	unseen         bool
	rounded        bool
	ran            int // the first of two commands
}

// Whether the first of two commands ran.
const (
	perhaps = iota
	certainly
	never
)

func (c client) Agreed() Tick                               { return c.agreed }
func (c client) Remade(Tick) (Tick, uint32, bool)           { return c.remade, c.ticks, c.sure }
func (c client) RanFirst(Tick, uint32, Tick) (bool, bool)   { return c.ran == certainly, c.ran != never }
func (c client) Pushed(Tick) bool                           { return c.pushed }
func (c client) RemoteWrong(Tick) bool                      { return c.remote }
func (c client) OthersUnknown(Tick) bool                    { return c.unknown }
func (c client) OthersUnseen(Tick) bool                     { return c.unseen }
func (c client) OthersDiffered(Tick) (uint16, string, bool) { return 9, "Score", c.differed }
func (c client) OthersRounded(Tick) (string, bool)          { return "At", c.rounded }
func (c client) OwnDiffered(Tick) (string, bool)            { return "Stun", c.own }
func (c client) Late(n uint32) bool                         { return n == 9 }
func (c client) SystemName(n uint32) string                 { return "system " + string(rune('0'+n)) }

// took makes a log that took a note of the snapshot of t.
func took(t *testing.T, at Tick, n Note, replaced bool) *Log {
	var l Log
	if n.HasStandIn() {
		n.StandIn = []byte{1, 2}
	}
	_, err := l.Arrive(n.Append(nil), 2)
	require.NoError(t, err)
	require.True(t, l.Snapshot())
	l.Take(at)
	if replaced {
		l.Substituted()
	}
	return &l
}

// The first cause that applies is written. Only causes after the last agreement apply.
func TestExplain(t *testing.T) {
	all := Note{Substituted: 3, Run: 1, How: prediction.Repeated, Effect: 2, System: 4, Pushed: 1, By: 5}
	for name, c := range map[string]struct {
		note     Note
		replaced bool
		at       Tick
		client   client
		want     prediction.Misprediction
	}{
		"another command ran": {all, true, 20, client{agreed: 10, remade: 19, remote: true}, prediction.Misprediction{
			Cause: prediction.Input, CauseTick: 18, CauseTicks: 2, StandIn: prediction.Repeated}},
		"the command was replaced by its like": {all, false, 20, client{agreed: 10, remade: 19}, prediction.Misprediction{
			Cause: prediction.ServerEffect, CauseTick: 19, System: "system 4"}},
		"the ends agreed since": {all, true, 20, client{agreed: 19, pushed: true}, prediction.Misprediction{
			Cause: prediction.RemoteInput, CauseTick: 20, Player: 5}},
		"nothing that others push differs": {Note{Pushed: 1, By: 5}, false, 20, client{agreed: 10, remade: 15, ticks: 2}, prediction.Misprediction{
			Cause: prediction.Input, CauseTick: 15, CauseTicks: 2, StandIn: prediction.Replaced}},
		"the first of two commands ran": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, sure: true, remote: true, differed: true}, prediction.Misprediction{
			Cause: prediction.Input, CauseTick: 15, CauseTicks: 2, StandIn: prediction.Replaced}},
		"a remote player is what is certain": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, remote: true}, prediction.Misprediction{
			Cause: prediction.RemoteInput}},
		"what came later": {Note{Effect: 1, System: 4}, false, 15, client{agreed: 10, remote: true}, prediction.Misprediction{
			Cause: prediction.RemoteInput}},
		"what no snapshot had": {Note{}, false, 20, client{agreed: 10, unknown: true}, prediction.Misprediction{
			Tick: 20, Cause: prediction.Untracked}},
		"what is not sent": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, unseen: true, rounded: true}, prediction.Misprediction{
			Tick: 20, Cause: prediction.Untracked}},
		"another read entity": {Note{}, false, 20, client{agreed: 10, differed: true}, prediction.Misprediction{
			Cause: prediction.Untracked, Player: 9, OfOther: true, Read: "Score"}},
		"a value of its own": {Note{}, false, 20, client{agreed: 10, own: true}, prediction.Misprediction{
			Cause: prediction.Untracked, Read: "Stun"}},
		"a value of others was rounded on its way": {Note{}, false, 20, client{agreed: 10, rounded: true}, prediction.Misprediction{
			Cause: prediction.Untracked, OfOther: true, Read: "At", Rounded: true}},
		"what is known comes before what was rounded": {Note{}, false, 20, client{agreed: 10, rounded: true, own: true}, prediction.Misprediction{
			Cause: prediction.Untracked, Read: "Stun"}},
		"the first of two commands ran perhaps, or a value was rounded": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, rounded: true}, prediction.Misprediction{
			Cause: prediction.Untracked, OfOther: true, Read: "At", Rounded: true}},
		"the first of two commands has that result": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, rounded: true, ran: certainly}, prediction.Misprediction{
			Cause: prediction.Input, CauseTick: 15, CauseTicks: 2, StandIn: prediction.Replaced}},
		"the first of two commands has the same result": {Note{}, false, 20, client{agreed: 10, remade: 15, ticks: 2, ran: never}, prediction.Misprediction{
			Cause: prediction.Code}},
		"nothing known": {Note{}, false, 20, client{agreed: 10}, prediction.Misprediction{Cause: prediction.Code}},
		"too long ago":  {Note{}, false, 300, client{agreed: 10}, prediction.Misprediction{Cause: prediction.Unknown}},
	} {
		l := took(t, 20, c.note, c.replaced)
		w := prediction.Misprediction{Tick: c.at, System: "of before", CauseTick: 1, Read: "of before"}
		l.Explain(&w, c.client)
		c.want.Tick = c.at
		require.Equal(t, c.want, w, name)
	}
}

// The notes say in which ticks entities were hidden.
func TestConcealed(t *testing.T) {
	var (
		l Log
		p Player
	)
	tell := func(now, acked Tick) *Note {
		p.Write(now, acked, &Substitution{}, false)
		if len(p.Packed()) == 0 {
			return nil
		}
		_, err := l.Arrive(p.Packed(), 2)
		require.NoError(t, err)
		require.True(t, l.Snapshot())
		return l.Take(now)
	}
	is := func(want bool, ticks ...Tick) {
		t.Helper()
		for _, k := range ticks {
			require.Equal(t, want, l.Concealed(k), "tick %d", k)
		}
	}
	is(false, 0, 1, 1000)
	require.Nil(t, tell(9, 0))
	for k := Tick(10); k <= 14; k++ {
		p.Conceal(k, 0)
		p.Conceal(k, 0) // two entities are hidden in one tick
	}
	require.Equal(t, Concealed(9), tell(14, 8).Concealed)
	is(false, 9)
	is(true, 10, 14, 20)
	p.Conceal(15, 14)
	require.Nil(t, tell(15, 14), "it knows that")
	require.Equal(t, Concealed(4), tell(16, 14).Concealed, "it is shown since tick 16")
	is(false, 9, 16)
	is(true, 10, 15)
	p.Conceal(18, 14)
	require.Equal(t, Concealed(17), tell(18, 14).Concealed, "of the end it may not know")
	is(true, 10, 17, 18)
	require.Equal(t, Concealed(4), tell(19, 17).Concealed)
	require.Nil(t, tell(20, 18))
	p.Conceal(21, 18)
	require.Equal(t, Concealed(1), tell(21, 18).Concealed)
	is(false, 20)
	is(true, 21, 22)
	for k := Tick(22); k <= 600; k++ {
		p.Conceal(k, 0)
	}
	require.Equal(t, Concealed(2*Window-1), tell(600, 20).Concealed, "of a client from which nothing came for long")
	is(true, 351, 601)
	p.ForgetConcealed()
	require.Nil(t, tell(601, 600))
	l.Clear()
	is(false, 351, 601)
}

// A level forgets what the notes of the one before said.
func TestClear(t *testing.T) {
	l := took(t, 20, Note{Effect: 1, System: 4}, false)
	l.Clear()
	w := prediction.Misprediction{Tick: 20}
	l.Explain(&w, client{agreed: 10})
	require.Equal(t, prediction.Code, w.Cause)
	require.Nil(t, l.NoteOf(20))
}

// A note belongs to one snapshot, and a malformed one to none.
func TestNoteOfASnapshot(t *testing.T) {
	l := took(t, 20, Note{Effect: 1, System: 4}, false)
	require.NotNil(t, l.NoteOf(20))
	require.Nil(t, l.NoteOf(19))
	require.False(t, l.Snapshot(), "the next one came without")
	require.Nil(t, l.NoteOf(20))
	_, err := l.Arrive([]byte{0, 1}, 2)
	require.ErrorIs(t, err, ErrNote)
	require.False(t, l.Snapshot())
}

func TestRaisedIn(t *testing.T) {
	l := took(t, 20, Note{Effect: 1, Raised: []Raised{{5, 1}, {5, 1}, {5, 0}, {2, 1}}}, false)
	require.Equal(t, 2, l.RaisedIn(1, 15, 20, 10))
	require.Equal(t, 1, l.RaisedIn(0, 15, 20, 10))
	require.Zero(t, l.RaisedIn(1, 16, 20, 10))
	require.Zero(t, l.RaisedIn(1, 15, 21, 10), "the note is of another snapshot")
	require.Equal(t, MaxRaised, l.RaisedIn(1, 15, 20, 15), "both ends agreed on it")
	full := Note{Effect: 1}
	for range MaxRaised {
		full.Raised = append(full.Raised, Raised{5, 1})
	}
	require.Equal(t, MaxRaised, took(t, 20, full, false).RaisedIn(0, 15, 20, 10), "the note may not hold them all")
	require.Zero(t, took(t, 20, full, false).RaisedIn(0, 14, 20, 10))
}

// A stall brings a misprediction with each snapshot, and is one.
func TestCounted(t *testing.T) {
	var l Log
	stall := func(tick Tick, ticks uint32) bool {
		return l.Counted(&prediction.Misprediction{Cause: prediction.Input, CauseTick: tick, CauseTicks: ticks})
	}
	require.False(t, stall(20, 3))
	require.True(t, stall(23, 6), "it went on")
	require.False(t, stall(40, 3), "another")
	require.False(t, l.Counted(&prediction.Misprediction{Cause: prediction.Code, CauseTick: 41, CauseTicks: 1}))
}
