package trace_test

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/schema"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors.txt")

type body struct {
	X, Y  float32 `net:"min=-100,max=100,step=0.01"`
	Purse uint64  `net:"owner"`
}

type armour struct{ N int32 }

type stick struct {
	X int8
}

// testLayout has two systems, two components and a command.
func testLayout(t testing.TB) *trace.Layout {
	l := trace.Layout{Systems: []trace.System{{Name: "move"}, {Name: "fall"}}, Prefabs: []string{"player", "bolt"}}
	for _, c := range []struct {
		v       any
		command bool
	}{{body{}, false}, {armour{}, false}, {stick{}, true}} {
		s, err := schema.Compile(reflect.TypeOf(c.v), schema.Options{Predicted: !c.command})
		require.NoError(t, err)
		l.Components = append(l.Components, trace.Component{Name: s.Name(), Schema: s, Command: c.command})
	}
	return trace.NewLayout(l)
}

// put records words for a component.
func put(r *trace.Recorder, entity, component int, words ...int32) {
	to := r.Scratch(component)
	copy(to, words)
	r.Put(entity, component, to)
}

// example records a tick in which everything happens.
func example(r *trace.Recorder, l *trace.Layout) []byte {
	r.Begin(70000)
	r.Add(11, 1, 0, schema.ToOwner)
	put(r, 0, 0, 10, -300, 5, 6)
	put(r, 0, 1, 40000)
	put(r, 0, 2, 1)
	r.At(trace.Before(0))
	put(r, 0, 0, 10, -300, 5, 6)
	r.At(trace.After(0))
	put(r, 0, 0, 12, -300, 5, 6)
	r.Add(12, 0x80000001, 1, 0)
	put(r, 1, 0, 1, 2, 3, 4)
	r.None(0, 1)
	r.At(trace.After(1))
	r.Gone(1)
	r.More()
	r.At(l.End())
	put(r, 0, 0, 12, -20000, 5, 6)
	return r.Record()
}

func TestRecordIsReplayed(t *testing.T) {
	l := testLayout(t)
	r := trace.NewRecorder(l)
	for range 2 { // the second in used memory
		p, err := trace.NewReplay(l, append([]byte(nil), example(r, l)...))
		require.NoError(t, err)
		require.Equal(t, trace.Tick(70000), p.Tick)
		require.True(t, p.More)
		p.Reach(trace.Before(0))
		require.Len(t, p.Present, 1)
		require.Equal(t, [][]int32{{10, -300, 5, 6}, {40000}, {1}}, p.Present[0].Words)
		p.Reach(trace.After(0))
		require.Equal(t, [][]int32{{12, -300, 5, 6}, nil, {1}}, p.Present[0].Words)
		require.Equal(t, []int32{1, 2, 0, 0}, p.Present[1].Words[0], "what the viewer does not receive is empty")
		require.True(t, p.Present[1].Here)
		p.Reach(l.End())
		require.False(t, p.Present[1].Here)
		require.Equal(t, int32(-20000), p.Find(1).Words[0][1])
		require.Nil(t, p.Find(7))
	}
}

// A record that would be too long is cut, and can still be read.
func TestRecordIsCut(t *testing.T) {
	l := testLayout(t)
	r := trace.NewRecorder(l)
	r.Begin(5)
	r.Add(1, 1, 0, schema.ToOwner)
	x := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		put(r, 0, 0, int32(x.Uint32()), int32(x.Uint32()), int32(x.Uint32()), int32(x.Uint32()))
	}
	require.LessOrEqual(t, len(r.Record()), trace.MaxRecord)
	p, err := trace.NewReplay(l, r.Record())
	require.NoError(t, err)
	require.True(t, p.Cut)
	for i := range 20 {
		r.Begin(6)
		r.Add(uint64(i+1), uint32(i+1), 0, 0)
	}
}

// Pieces that come in order make the record; lost, foreign and malformed ones do no harm.
func TestPieces(t *testing.T) {
	l := testLayout(t)
	r := trace.NewRecorder(l)
	record := append([]byte(nil), example(r, l)...)
	var from, to trace.Ring
	var s trace.Sender
	var a trace.Assembler
	for k := range trace.Tick(3) {
		binary.LittleEndian.PutUint32(record, 100+k)
		from.Put(record)
	}
	n := 0
	for b := s.Append(nil, &from, trace.LeastPiece, 102); len(b) > 0; b = s.Append(nil, &from, trace.LeastPiece, 102) {
		require.LessOrEqual(t, len(b), trace.LeastPiece)
		if n++; n == 3 { // lost: of the second record
			continue
		}
		require.NoError(t, a.Add(b, l, &to))
	}
	require.Len(t, to.Records(), 2)
	require.Empty(t, s.Append(nil, &from, 1000, 102), "all were sent")
	from.Put(record)
	require.NotEmpty(t, s.Append(nil, &from, 1000, 102), "a tick that ran again is sent again")
	for _, bad := range [][]byte{nil, {trace.Piece}, make([]byte, 9), append([]byte{trace.Piece, 1, 0, 0, 0, 0, 0, 1, 0}, 1, 2), {trace.Piece, 1, 0, 0, 0, 0, 0, 1, 0, 9}} {
		require.Error(t, a.Add(bad, l, &to), bad)
	}
	require.Len(t, to.Records(), 2)
	from.Drop(101)
	require.Len(t, from.Records(), 2)
	for k := range trace.Tick(100) {
		binary.LittleEndian.PutUint32(record, 1000+k)
		from.Put(record)
	}
	require.Len(t, from.Records(), trace.RingTicks)
	binary.LittleEndian.PutUint32(record, 3)
	from.Put(record)
	require.Len(t, from.Records(), trace.RingTicks, "too old")
}

// An armed trace allocates nothing in a tick once its memory has grown.
func TestRecordingAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	l := testLayout(t)
	r := trace.NewRecorder(l)
	var ring, far trace.Ring
	var s trace.Sender
	var a trace.Assembler
	packet := make([]byte, 0, 1500)
	tick := trace.Tick(1)
	step := func() {
		b := example(r, l)
		binary.LittleEndian.PutUint32(b, tick)
		ring.Put(b)
		packet = s.Append(packet[:0], &ring, 1200, tick)
		if len(packet) == 0 || a.Add(packet, l, &far) != nil {
			t.Fatal("nothing was carried")
		}
		tick++
	}
	for range 3 * trace.RingTicks {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(100, step))
}

// FuzzMessage: whatever comes is read without a panic, and what is taken as a record can be
// shown.
func FuzzMessage(f *testing.F) {
	l := testLayout(f)
	record := example(trace.NewRecorder(l), l)
	f.Add(trace.AppendAsk(nil, []uint32{1, 2}))
	f.Add(append([]byte{trace.Piece, 112, 17, 1, 0, 0, 0, byte(len(record)), 0}, record...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := trace.ParseAsk(b); err == nil {
			require.LessOrEqual(t, q.N, trace.MaxEntities)
			require.Equal(t, b, trace.AppendAsk(nil, q.Names[:q.N]))
		}
		var a trace.Assembler
		var ring trace.Ring
		if a.Add(b, l, &ring) != nil {
			require.Empty(t, ring.Records())
		}
		for _, record := range append(ring.Records(), b) {
			if p, err := trace.NewReplay(l, record); err == nil {
				for k := range l.Steps() {
					p.Reach(k)
				}
			} else {
				require.ErrorIs(t, err, trace.ErrRecord)
				require.Error(t, l.Check(record))
			}
		}
	})
}

// TestVectors holds the bytes of messages, and docs/STANDARD.md shows them.
func TestVectors(t *testing.T) {
	l := testLayout(t)
	record := example(trace.NewRecorder(l), l)
	var ring trace.Ring
	ring.Put(record)
	var s trace.Sender
	var out strings.Builder
	for _, v := range []struct {
		name string
		b    []byte
	}{
		{"ask own", trace.AppendAsk(nil, nil)},
		{"ask 1, 80000001", trace.AppendAsk(nil, []uint32{1, 0x80000001})},
		{"stop", []byte{trace.Stop}},
		{"refused, too many", []byte{trace.Refused, trace.TooMany}},
		{"piece, first", s.Append(nil, &ring, 60, 70000)},
		{"piece, second", s.Append(nil, &ring, 60, 70000)},
	} {
		fmt.Fprintf(&out, "%s\n> %s\n", v.name, hex.EncodeToString(v.b))
	}
	const name = "testdata/vectors.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
	standard, err := os.ReadFile("../../docs/STANDARD.md")
	require.NoError(t, err)
	require.Contains(t, string(standard), out.String())
}
