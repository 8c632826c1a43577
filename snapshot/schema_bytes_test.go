package snapshot_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// allSorts are schemas that hold every sort of field, predicted and not.
func allSorts(t tester) []*schema.Schema {
	_, schemas := registry(t)
	return append(schemas,
		compile[command](t, schema.Options{}), compile[everything](t, schema.Options{}),
		compile[everything](t, schema.Options{Name: "predicted", Predicted: true}),
		compile[spin](t, schema.Options{}), compile[spin](t, schema.Options{Name: "spun", Predicted: true}),
		compile[glide](t, schema.Options{}), compile[turning](t, schema.Options{Predicted: true}),
		compile[nudge](t, schema.Options{}))
}

// nudge has sums.
type nudge struct {
	DX, DY float32              `net:"min=-8,max=8,step=0.001,sum"`
	Wheel  int16                `net:"sum"`
	Raw    [2]float64           `net:"sum"`
	Count  uint64               `net:"max=9,sum"`
	Mouse  struct{ X, Y int32 } `net:"vec,max=100,sum"`
}

// TestSchemaBytes: a schema that was written and read describes itself alike, word
// for word, and is written alike again.
func TestSchemaBytes(t *testing.T) {
	for _, s := range allSorts(t) {
		b := s.AppendSchema([]byte("x"))[1:]
		got, rest, err := schema.Read(append(b, 1, 2))
		require.NoError(t, err, s.Name())
		require.Equal(t, []byte{1, 2}, rest)
		require.Equal(t, s.Describe(), got.Describe())
		require.Equal(t, s.Fields(), got.Fields())
		require.Equal(t, s.Words(), got.Words())
		require.Equal(t, s.PackedSize(), got.PackedSize())
		require.Equal(t, b, got.AppendSchema(nil))
		require.Nil(t, got.Type())
		for n := range len(b) {
			_, _, err := schema.Read(b[:n])
			require.ErrorIs(t, err, schema.ErrMalformed, "%s cut at %d", s.Name(), n)
		}
	}
}

// TestReadRegistryReadsSnapshots: who has only a registry's bytes reads the same
// out of every snapshot as who built the registry.
func TestReadRegistryReadsSnapshots(t *testing.T) {
	for _, tables := range [][]byte{nil, builtinTables()} {
		built, schemas := registry(t)
		if tables != nil {
			require.NoError(t, built.UseTables(tables))
		}
		read, err := schema.ReadRegistry(built.AppendSchema(nil))
		require.NoError(t, err)
		require.Equal(t, built.Describe(), read.Describe())
		require.Equal(t, built.AppendSchema(nil), read.AppendSchema(nil))
		w := newWorld(t, 7, built, schemas)
		sender := w.source.NewSender(1, snapshot.SenderConfig{})
		ours, theirs := snapshot.NewReceiver(built, snapshot.ReceiverConfig{}), snapshot.NewReceiver(read, snapshot.ReceiverConfig{})
		for range 20 {
			w.spawn()
		}
		compared := 0
		var rec snapshot.Sent
		for i := range 60 {
			w.step(i%7 == 0)
			b := sender.Append(nil, 700, &rec)
			if i%5 == 0 {
				sender.Lost(&rec)
				continue
			}
			tick, err := ours.Read(b)
			require.NoError(t, err)
			_, err = theirs.Read(b)
			require.NoError(t, err)
			sender.Delivered(&rec)
			h, n := ours.Hash(tick)
			h2, n2 := theirs.Hash(tick)
			require.Equal(t, []any{h, n}, []any{h2, n2})
			compared += n
			require.Equal(t, values(ours), values(theirs))
		}
		require.Greater(t, compared, 1000)
	}
}

// values lists all that a receiver holds, as a tool would print it.
func values(r *snapshot.Receiver) (out []string) {
	for _, g := range r.Ghosts() {
		s := g.Newest()
		for c := range r.Registry().Components() {
			words, sch := s.Component(c), r.Registry().Schema(c)
			if words == nil {
				continue
			}
			for i, f := range sch.Fields() {
				out = append(out, fmt.Sprintf("%d %s %s.%s=%v", g.Wire, r.Registry().PrefabName(g.Prefab), sch.Name(), f.Name, sch.Value(i, words, s.Grid(c))))
			}
		}
	}
	return out
}

// TestSchemaValues: a tool reads of words and of packed commands what was put in.
func TestSchemaValues(t *testing.T) {
	c := command{MoveX: -0.5, Aim: math.Pi / 2, Fire: true, Slot: -3, Seed: math.MaxUint64, At: [2]float64{1.5, -2}, Who: 7}
	s := compile[command](t, schema.Options{})
	read, _, err := schema.Read(s.AppendSchema(nil))
	require.NoError(t, err)
	vs, err := read.UnpackValues(s.PackRefs(ptr(&c), sameRefs{}, nil), nil)
	require.NoError(t, err)
	require.Equal(t, []any{-0.5, 0.0, float64(float32(math.Pi / 2)), true, false, false, int64(-3), uint64(math.MaxUint64), 1.5, -2.0, schema.WireID(7)}, vs)
	_, err = read.UnpackValues([]byte{1}, nil)
	require.ErrorIs(t, err, schema.ErrMalformed)
	turn := compile[spin](t, schema.Options{Predicted: true})
	v := spin{Turn: [4]float32{0, 1, 0, 0}, Packed: [4]int32{2, 256, 300, 1}}
	words := make([]int32, turn.Words())
	turn.Quantise(ptr(&v), schema.GridSim, nil, words)
	require.Equal(t, [4]float64{0, 1, 0, 0}, turn.Value(0, words, schema.GridSim))
	require.Equal(t, [4]int64{2, 256, 300, 1}, turn.Value(4, words, schema.GridSim))
}

// TestReadRegistryRefuses: claims that no registry makes.
func TestReadRegistryRefuses(t *testing.T) {
	built, _ := registry(t)
	good := built.AppendSchema(nil)
	for n := range len(good) {
		_, err := schema.ReadRegistry(good[:n])
		require.ErrorIs(t, err, schema.ErrMalformed, "cut at %d", n)
	}
	_, err := schema.ReadRegistry(append(good[:len(good):len(good)], 0))
	require.ErrorIs(t, err, schema.ErrMalformed, "something behind it")
	other := append([]byte(nil), good...)
	other[0]++
	_, err = schema.ReadRegistry(other)
	require.ErrorContains(t, err, "version 2")
	other = append([]byte(nil), good...)
	other[2]++
	_, err = schema.ReadRegistry(other)
	require.ErrorIs(t, err, schema.ErrTables)
	head := good[:10:10] // version, built-in tables
	field := func(sort, flags byte, rest ...byte) []byte {
		return append([]byte{1, 1, 'c', 0, 1, 0, 1, 'f', sort, flags}, append(rest, 0)...)
	}
	float := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	step := func(lo, hi int64, step float64, ratio byte) []byte {
		b := binary.AppendVarint(binary.AppendVarint(nil, lo), hi)
		return field(11, 0, append(append(b, float(step)...), ratio)...)
	}
	for name, b := range map[string][]byte{
		"65 components":        {65},
		"a sort that is none":  field(17, 0),
		"a flag that is none":  field(0, 128),
		"lerp of a bool":       field(0, 4),
		"one-shot step":        slices.Replace(step(-1, 1, 0.5, 1), 9, 10, 2),
		"an empty range":       field(1, 0, 2, 2),
		"a range upside down":  field(1, 0, 4, 2),
		"beyond an int8":       field(1, 0, 0, 0x80, 2),
		"a step of nothing":    step(-1, 1, 0, 1),
		"a step that is no":    step(-1, 1, math.NaN(), 1),
		"an endless step":      step(-1, 1, math.Inf(1), 1),
		"a tiny step":          step(-1, 1, math.SmallestNonzeroFloat64, 1),
		"too many steps":       step(-1<<23, 1, 1, 1),
		"ratio 0":              step(-1, 1, 1, 0),
		"ratio of a public":    step(-1, 1, 1, 16),
		"an angle of 19 bits":  field(13, 0, 19, 1),
		"an angle of 1 bit":    field(13, 0, 1, 1),
		"a rotation of 15":     append(field(16, 0), 15, 9, 1),
		"a rotation of bools":  append(field(16, 16, 1, 'q'), 9, 0, 1),
		"a vector of one":      field(9, 96),
		"a vector begun never": field(9, 32),
		"first of none":        field(9, 64),
		"the usual type named": field(1, 16, 4, 'i', 'n', 't', '8', 0, 2),
		"a type unprintable":   field(1, 16, 1, 7, 0, 2),
		"no name":              {1, 0, 0, 0, 0},
		"two of one name":      {2, 1, 'c', 0, 0, 1, 'c', 0, 0, 0},
		"a field twice":        {1, 1, 'c', 0, 2, 0, 1, 'f', 0, 0, 1, 0, 0, 0, 0},
		"a prefix cut short":   {1, 1, 'c', 0, 2, 0, 2, 'f', 'f', 0, 0, 1, 2, 'f', 'g', 0, 0, 0},
		"a prefab of no such":  {0, 1, 1, 'k', 1, 0},
		"a prefab twice":       {0, 2, 1, 'k', 0, 0, 1, 'k', 0, 0},
		"a default beyond":     {1, 1, 'c', 0, 1, 0, 1, 'f', 0, 0, 1, 1, 'k', 1, 1, 4, 0},
		"a default of zero":    {1, 1, 'c', 0, 1, 0, 1, 'f', 0, 0, 1, 1, 'k', 1, 1, 0, 0},
		"a default of none":    {1, 1, 'c', 0, 1, 0, 1, 'f', 0, 0, 1, 1, 'k', 1, 2, 2, 0},
		"a long number":        {0x80, 0, 0},
	} {
		_, err := schema.ReadRegistry(append(head, b...))
		require.ErrorIs(t, err, schema.ErrMalformed, name)
	}
	_, err = schema.ReadRegistry(append(head, field(0, 0)...))
	require.NoError(t, err, "the frame of these is sound")
	_, err = schema.ReadRegistry(append(head, step(-1, 1, 0.5, 1)...))
	require.NoError(t, err)
	_, err = schema.ReadRegistry(append(head, 1, 1, 'c', 0, 1, 0, 1, 'f', 0, 0, 1, 1, 'k', 1, 1, 2, 0))
	require.NoError(t, err)
}

// schemaAllocation is what reading the bytes of a registry may allocate: for tables,
// for what describes a field, which takes five bytes at least, and for the elements
// of slices, of which a leaf and the words of zero values are kept, up to a bound.
func schemaAllocation(input int) uint64 { return 96*uint64(input) + 1<<20 }

// FuzzReadRegistry: what is accepted is written alike again, codes and describes
// itself; allocation is bounded whatever is claimed.
func FuzzReadRegistry(f *testing.F) {
	built, _ := registry(f)
	f.Add(built.AppendSchema(nil))
	r := schema.NewRegistry()
	for _, s := range allSorts(f) {
		_, err := r.Component(s)
		require.NoError(f, err)
	}
	f.Add(r.AppendSchema(nil))
	f.Add([]byte{1, 0})
	packets, _ := recorded(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := schema.ReadRegistry(b)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, schemaAllocation(len(b)))
		if err != nil {
			require.ErrorIs(t, err, schema.ErrMalformed)
			return
		}
		require.Equal(t, b, r.AppendSchema(nil))
		require.NotEmpty(t, r.Describe())
		recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		for _, p := range append(packets[:len(packets):len(packets)], b) {
			_, _ = recv.Read(p)
		}
		values(recv)
	})
}

// TestSchemaAllocation: what bytes as long as a schema may be can claim at most, and
// nothing more is allocated for it than a multiple of what came.
func TestSchemaAllocation(t *testing.T) {
	costtest.Allocations(t)
	head := schema.NewRegistry().AppendSchema(nil)[:10]
	names := func(n int, field func(b []byte, i int) []byte) []byte { // 16 components
		b := binary.AppendUvarint(append([]byte(nil), head...), 16)
		for c := range 16 {
			b = append(b, 1, byte('a'+c), 0)
			b = binary.AppendUvarint(b, uint64(n))
			for i := range n {
				b = field(b, i)
			}
		}
		return b
	}
	name := func(b []byte, i int) []byte { return append(b, 0, 2, byte('!'+i%80), byte('!'+i/80)) }
	longs := func(b []byte, i int) []byte { // names of 250 bytes, of which one is told
		if i == 0 {
			return append(append(b, 0, 0xfa, 1), strings.Repeat("a", 250)...)
		}
		return append(b, 0xf9, 1, 1, byte('!'+i))
	}
	sliced := func(n int, list reflect.Type) []byte {
		r := schema.NewRegistry()
		for i := range n {
			s, err := schema.Compile(list, schema.Options{Name: string(rune('a' + i))})
			require.NoError(t, err)
			_, err = r.Component(s)
			require.NoError(t, err)
		}
		return r.AppendSchema(nil)
	}
	for name, c := range map[string]struct {
		b   []byte
		err string
	}{
		"slices": {b: sliced(15, reflect.TypeFor[struct {
			List []int8 `net:"max=1000"`
		}]())},
		"slices of vectors": {b: sliced(4, reflect.TypeFor[struct {
			List []struct {
				P, V [2]float32 `net:"vec,hermite"`
			} `net:"max=1000"`
		}]())},
		"many slices":     {b: sliced(4, manySlices(250, 8))},
		"fields":          {b: append(names(600, func(b []byte, i int) []byte { return append(name(b, i), 0, 0) }), 0)},
		"fields of words": {b: append(names(400, func(b []byte, i int) []byte { return append(name(b, i), 10, 0) }), 0)},
		"rotations":       {b: append(names(400, func(b []byte, i int) []byte { return append(name(b, i), 16, 16, 1, 'q', 9, 9, 1) }), 0)},
		"long names":      {b: append(names(60, func(b []byte, i int) []byte { return append(longs(b, i), 0, 0) }), 0)},
		"audiences":       {b: append(names(500, func(b []byte, i int) []byte { return append(name(b, i), 0, 128, 3<<(i%7)|1<<(i/7%8)) }), 0)},
		"more fields than bytes": {
			b:   append(append(append([]byte(nil), head...), 1, 1, 'a', 0), 0xff, 0x1f, 0, 1, 'x', 0, 0),
			err: "schema: malformed: number of fields",
		},
		"prefabs": {b: kinds(names(400, func(b []byte, i int) []byte { return append(name(b, i), 10, 0) }), 10, false)},
		"prefabs with defaults": {
			b: kinds(names(40, func(b []byte, i int) []byte { return append(name(b, i), 1, 0, 1, 2) }), 100, true),
		},
		"prefabs with more words than are allowed": {
			b:   kinds(names(600, func(b []byte, i int) []byte { return append(name(b, i), 0, 0) }), 60, false),
			err: "schema: malformed: prefab",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(c.b), 1<<17)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := schema.ReadRegistry(c.b)
			runtime.ReadMemStats(&after)
			took := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes in, %d KiB allocated: %.0f for each", len(c.b), took>>10, float64(took)/float64(len(c.b)))
			require.Less(t, took, schemaAllocation(len(c.b)))
			spent, most := time.Duration(0), costtest.Time*time.Duration(1+len(c.b)/1200)
			for range 5 { // others may be at work on the machine
				_, spent = costtest.Cost(func() { _, _ = schema.ReadRegistry(c.b) })
				if spent <= most {
					break
				}
			}
			require.LessOrEqual(t, spent, most)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.b, r.AppendSchema(nil))
		})
	}
}

// manySlices is a struct of so many slices of so many elements.
func manySlices(n, most int) reflect.Type {
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{
			Name: "F" + strconv.Itoa(i), Type: reflect.TypeFor[[]int8](), Tag: reflect.StructTag(fmt.Sprintf(`net:"max=%d"`, most)),
		})
	}
	return reflect.StructOf(fields)
}

// prefabs appends prefabs of all components.
func kinds(b []byte, n int, set bool) []byte {
	b = binary.AppendUvarint(b, uint64(n))
	for i := range n {
		b = append(b, 3, 'k', byte('0'+i%64), byte('0'+i/64), 0xff, 0xff, 3)
		if set {
			for range 10 {
				b = append(b, 60, 2)
			}
		}
		b = append(b, 0)
	}
	return b
}

// TestSchemaGolden holds a registry's bytes against testdata, and a reader written
// from docs/STANDARD-snapshot.md alone against the descriptions.
func TestSchemaGolden(t *testing.T) {
	r, _ := registry(t)
	for _, s := range allSorts(t)[components:] {
		_, err := r.Component(s)
		require.NoError(t, err)
	}
	b := r.AppendSchema(nil)
	var text strings.Builder
	for i := 0; i < len(b); i += 32 {
		text.WriteString(hex.EncodeToString(b[i:min(len(b), i+32)]) + "\n")
	}
	const file = "testdata/schema.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "run with -update if the format changed on purpose")
	got, err := independentSchema(b)
	require.NoError(t, err)
	_, described, _ := strings.Cut(r.Describe(), "\n") // behind the line of the tables
	require.Equal(t, described, got)
}
