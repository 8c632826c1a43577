package prediction_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
)

func TestLedgerTellsOnce(t *testing.T) {
	var l prediction.Ledger[string, int]
	var off, on []string
	cancelled := func(k prediction.Tick, key string, v int) { off = append(off, fmt.Sprintln(k, key, v)) }
	confirmed := func(k prediction.Tick, key string, v int) { on = append(on, fmt.Sprintln(k, key, v)) }
	run := func(k prediction.Tick, raises ...string) (told []string) {
		l.Begin(k)
		for i, r := range raises {
			if l.Raise(r, i) {
				told = append(told, r)
			}
		}
		l.End(cancelled)
		return told
	}
	require.Equal(t, []string{"a", "b"}, run(1, "a", "b"))
	require.Equal(t, []string{"a"}, run(2, "a"), "another tick, another event")
	require.Empty(t, run(1, "b", "a"), "a replay tells nothing, in whatever order")
	require.Empty(t, off)
	require.Equal(t, []string{"c"}, run(1, "a", "c"), "a replay tells what is new")
	require.Equal(t, []string{"1 b 0\n"}, off, "and tells off what is gone")
	require.Equal(t, []string{"b"}, run(1, "a", "c", "b"), "what comes back is told again")
	l.Refuse(1, func(k prediction.Tick, key string) bool { return k != 1 || key != "zzz" }, cancelled)
	require.Len(t, off, 1)
	l.Confirm(1, confirmed)
	require.Equal(t, []string{"1 a 0\n", "1 c 1\n", "1 b 2\n"}, on)
	require.Equal(t, 1, l.Len())
	l.Clear(cancelled)
	require.Equal(t, []string{"1 b 0\n", "2 a 0\n"}, off)
	require.Zero(t, l.Len())
	l.Confirm(9, confirmed)
	require.Len(t, on, 3)
	run(5, "x", "y")
	run(6, "x")
	l.Refuse(5, func(_ prediction.Tick, key string) bool { return key == "x" }, cancelled)
	require.Equal(t, "5 y 1\n", off[2])
	require.Equal(t, 2, l.Len())
}

func TestLedgerAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	var l prediction.Ledger[int, int]
	k := prediction.Tick(0)
	round := func() {
		k++
		for range 3 { // once, and two replays
			l.Begin(k)
			for i := range 4 {
				l.Raise(i, i)
			}
			l.End(nil)
		}
		l.Confirm(k-2, nil)
	}
	for range 10 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(100, round))
}
