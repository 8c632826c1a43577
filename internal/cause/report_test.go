package cause_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/prediction"
)

func drawReport(t *rapid.T) cause.Report {
	word := rapid.StringN(0, 12, 64)
	value := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(v bool) any { return v }), rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Uint64(), func(v uint64) any { return v }), rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.Map(word, func(v string) any { return v }), rapid.Just[any]([4]float64{0, 0.5, -0.5, 1}),
	)
	difference := rapid.Custom(func(t *rapid.T) prediction.Difference {
		return prediction.Difference{Entity: uint64(rapid.Uint32().Draw(t, "entity")), Prefab: word.Draw(t, "prefab"), Component: word.Draw(t, "component"), Field: word.Draw(t, "field"), Predicted: value.Draw(t, "predicted"), Actual: value.Draw(t, "actual")}
	})
	r := cause.Report{Number: rapid.Uint32Min(1).Draw(t, "number"), Input: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "input"), Executed: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "executed")}
	m := &r.Wrong
	m.Tick, m.CauseTick, m.CauseTicks = rapid.Uint32().Draw(t, "tick"), rapid.Uint32().Draw(t, "cause tick"), rapid.Uint32().Draw(t, "ticks")
	m.Cause, m.StandIn = prediction.Cause(rapid.IntRange(0, prediction.Causes-1).Draw(t, "cause")), prediction.StandIn(rapid.IntRange(0, 5).Draw(t, "stand-in"))
	m.OfOther, m.Rounded, m.Player = rapid.Bool().Draw(t, "other"), rapid.Bool().Draw(t, "rounded"), rapid.Uint16().Draw(t, "player")
	m.Entity, m.Predicted, m.Actual = uint64(rapid.Uint32().Draw(t, "of")), rapid.Float64().Draw(t, "ours"), rapid.Float64().Draw(t, "theirs")
	for _, text := range []*string{&m.System, &m.Read, &m.Architecture, &m.ServerArchitecture, &m.Prefab, &m.Component, &m.Field} {
		*text = word.Draw(t, "text")
	}
	m.Differences = rapid.SliceOfN(difference, 0, 8).Draw(t, "differences")
	return r
}

// A server reads from a report what the client wrote, as far as it fits.
func TestReportsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReport(t)
		b := r.Append(nil)
		require.LessOrEqual(t, len(b), cause.MaxReport)
		got, err := cause.ParseReport(b)
		require.NoError(t, err)
		require.LessOrEqual(t, len(got.Wrong.Differences), len(r.Wrong.Differences))
		r.Wrong.Differences = r.Wrong.Differences[:len(got.Wrong.Differences)]
		for _, x := range []*cause.Report{&r, &got} { // an empty slice is none
			if len(x.Input) == 0 {
				x.Input = nil
			}
			if len(x.Executed) == 0 {
				x.Executed = nil
			}
			if len(x.Wrong.Differences) == 0 {
				x.Wrong.Differences = nil
			}
		}
		require.True(t, reflect.DeepEqual(r, got), "%+v\n%+v", r, got)
		for n := range b {
			_, err := cause.ParseReport(b[:n])
			require.ErrorIs(t, err, cause.ErrReport)
		}
		_, err = cause.ParseReport(append(b, 0))
		require.ErrorIs(t, err, cause.ErrReport)
	})
}

// Long reports lose their last differences, long texts their ends, and numbers that are none
// become words.
func TestLongReports(t *testing.T) {
	r := cause.Report{Number: 1, Input: make([]byte, 900), Executed: make([]byte, 300)}
	r.Wrong.System = strings.Repeat("s", 300)
	r.Wrong.Predicted = math.NaN()
	for range 20 {
		r.Wrong.Differences = append(r.Wrong.Differences, prediction.Difference{Component: strings.Repeat("c", 60), Field: strings.Repeat("f", 64), Predicted: math.Inf(1), Actual: math.NaN()})
	}
	b := r.Append([]byte("before"))
	require.LessOrEqual(t, len(b)-6, cause.MaxReport)
	got, err := cause.ParseReport(b[6:])
	require.NoError(t, err)
	require.Empty(t, got.Input, "it would take all the room")
	require.Len(t, got.Executed, 300)
	require.Equal(t, strings.Repeat("s", 64), got.Wrong.System)
	require.Zero(t, got.Wrong.Predicted)
	require.NotEmpty(t, got.Wrong.Differences)
	require.Less(t, len(got.Wrong.Differences), 8)
	require.Equal(t, "+Inf", got.Wrong.Differences[0].Predicted)
	require.Equal(t, "NaN", got.Wrong.Differences[0].Actual)
}

// Each report is sent twice, the second time after all others, and the server takes it once.
func TestOutgoingAndIncoming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out cause.Outgoing
		var in cause.Incoming
		sent, taken, n := map[uint32]int{}, map[uint32]bool{}, uint32(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				n++
				out.Add(&cause.Report{Wrong: prediction.Misprediction{Tick: n}})
			}
			b := out.Next(rapid.SampledFrom([]int{0, 1000}).Draw(t, "room"))
			if b == nil {
				continue
			}
			r, err := cause.ParseReport(b)
			require.NoError(t, err)
			require.Equal(t, r.Number, r.Wrong.Tick, "a number is that of its report")
			sent[r.Number]++
			if rapid.Bool().Draw(t, "arrives") {
				require.Equal(t, !taken[r.Number], in.Fresh(r.Number))
				taken[r.Number] = true
			}
		}
		for range 40 {
			if b := out.Next(1000); b != nil {
				r, _ := cause.ParseReport(b)
				sent[r.Number]++
			}
		}
		for number, times := range sent {
			require.Equal(t, 2, times, number)
		}
		require.Nil(t, out.Next(1000))
	})
}

// TestReportVectors holds the bytes of messages, and docs/STANDARD.md shows them.
func TestReportVectors(t *testing.T) {
	r := cause.Report{Number: 7, Input: []byte{1, 2}, Executed: []byte{3}}
	r.Wrong = prediction.Misprediction{Tick: 70000, CauseTick: 98, Cause: prediction.ServerEffect, StandIn: prediction.Refused, CauseTicks: 2, Player: 300, System: "shove", Entity: 5, Prefab: "player", Component: "place", Field: "Y", Predicted: 1.5, Actual: -2}
	for _, v := range []struct{ predicted, actual any }{{1.5, -2.}, {int64(-5), nil}, {true, uint64(300)}, {"red", [4]float64{0, 0, 0, 1}}} {
		r.Wrong.Differences = append(r.Wrong.Differences, prediction.Difference{Entity: 1<<31 + 1, Component: "c", Field: "F", Predicted: v.predicted, Actual: v.actual})
	}
	counts := cause.Counts{prediction.Input: 300, prediction.RemoteInput: 5, prediction.LateInput: 1}
	want := fmt.Sprintf("question\n> %02x\nreport\n> %x\ncounts\n> %x\n", cause.AskReports, r.Append(nil), counts.Append(nil))
	standard, err := os.ReadFile("../../docs/STANDARD.md")
	require.NoError(t, err)
	require.Contains(t, string(standard), want)
}

func FuzzReport(f *testing.F) {
	r := cause.Report{Number: 7, Input: []byte{1}}
	r.Wrong.Differences = []prediction.Difference{{Component: "c", Predicted: "a", Actual: [4]float64{1}}, {Predicted: int64(-5), Actual: uint64(7)}, {Predicted: true, Actual: 1.5}}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := cause.ParseReport(b)
		if err != nil {
			return
		}
		again, err := cause.ParseReport(r.Append(nil))
		require.NoError(t, err)
		require.Equal(t, r.Wrong, again.Wrong)
		require.Equal(t, r.Input, bytes.Clone(again.Input))
		require.NotEmpty(t, r.Wrong.JSON())
	})
}
