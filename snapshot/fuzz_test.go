package snapshot_test

import (
	"encoding/hex"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

func ptr[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// matchFile holds the schema and the first snapshots that a player of a match on a terrible network was sent.
// To make it, run go run ./examples/soak -snapshots. Make it again when the wire format changes.
const matchFile = "testdata/match.txt"

func matchPackets(t tester) (*schema.Registry, [][]byte) {
	b, err := os.ReadFile(matchFile)
	require.NoError(t, err)
	var lines [][]byte
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") {
			p, err := hex.DecodeString(strings.TrimSpace(line))
			require.NoError(t, err)
			lines = append(lines, p)
		}
	}
	r, err := schema.ReadRegistry(lines[0])
	require.NoError(t, err, "run examples/soak -snapshots if the format changed on purpose")
	return r, lines[1:]
}

// TestMatchIsRead: what fuzzing begins from is a whole match, and is understood.
func TestMatchIsRead(t *testing.T) {
	r, packets := matchPackets(t)
	recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	seen := map[snapshot.What]int{}
	for i, p := range packets {
		_, err := recv.Read(p)
		require.NoError(t, err, "snapshot %d: run examples/soak -snapshots if the format changed on purpose", i)
		for _, c := range recv.Changes() {
			seen[c.What]++
		}
	}
	require.Greater(t, recv.Counters().Records, uint64(1000))
	require.Greater(t, seen[snapshot.Spawned], 10)
	require.NotZero(t, seen[snapshot.Removed]+seen[snapshot.Hidden])
}

// held is a receiver in one of the states that fuzzed snapshots meet.
type held struct {
	registry *schema.Registry
	packets  [][]byte // packets are the packets that the receiver has read.
	recv     *snapshot.Receiver
	clean    bool
	newest   schema.Tick
	hash     uint64
	fields   int
}

func (h *held) fresh(t tester) {
	h.recv, h.clean = snapshot.NewReceiver(h.registry, snapshot.ReceiverConfig{}), true
	for _, p := range h.packets {
		_, err := h.recv.Read(p)
		require.NoError(t, err)
	}
	h.newest, _ = h.recv.Newest()
	h.hash, h.fields = h.recv.Hash(h.newest)
}

// states are receivers of the recorded match at its start, in its middle and at its
// end, of the tests' registry with nothing and with a short match, and of rotations.
func states(t tester) []*held {
	match, packets := matchPackets(t)
	own, _ := registry(t)
	short, _ := recorded(t)
	spins, turns := spinning(t)
	wide, sets := playWide(t, 100, 24)
	out := []*held{
		{registry: match}, {registry: match, packets: packets[:len(packets)/3]}, {registry: match, packets: packets[:len(packets)-1]},
		{registry: own}, {registry: own, packets: short[:len(short)-1]},
		{registry: spins, packets: turns[:len(turns)-1]},
		{registry: hulkRegistry(t), packets: inPieces(t)[:7]},
		{registry: wide, packets: sets[:20]},
	}
	for _, h := range out {
		h.fresh(t)
	}
	return out
}

// spinning is a short match of rotations and vectors.
func spinning(t tester) (*schema.Registry, [][]byte) {
	r := schema.NewRegistry()
	_, err := r.Component(compile[spin](t, schema.Options{Predicted: true}))
	require.NoError(t, err)
	_, err = r.Prefab("spin", []int{0}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	s := src.NewSender(1, snapshot.SenderConfig{})
	var v [4]spin
	var packets [][]byte
	var rec snapshot.Sent
	for tick := schema.Tick(1); tick <= 12; tick++ {
		src.Begin(tick)
		for i := range v {
			x := float32(tick) * float32(i+1) / 10
			v[i].Turn, v[i].Secret = [4]float32{x, 1, -x, 0.5}, [4]float64{float64(x), 0, 1, 0}
			v[i].At.X, v[i].At.Z = x*x, -x
			v[i].Packed = [4]int32{int32(tick) / 3 % 4, int32(tick), 300, 0}
			src.Put(snapshot.NetID(i+1), 0, uint16(i%3), schema.MaskOf(0), []unsafe.Pointer{ptr(&v[i])}, nil)
		}
		src.End()
		packets = append(packets, s.Append(nil, 700, &rec))
		s.Delivered(&rec)
	}
	return r, packets
}

// Bounds of what a snapshot may cost its reader: docs/RELIABILITY.md.
const (
	readMemory = 64 << 10              // bytes, and twice its length
	readTime   = 10 * time.Millisecond // ten times what 1 200 bytes may take, for machines that are busy
)

// meet lets a receiver read what may be anything. It neither panics nor takes more than
// it may nor, when it refuses, changes anything.
func (h *held) meet(t *testing.T, p []byte) {
	var before, after runtime.MemStats
	bound, limit := uint64(readMemory+2*len(p)), readTime*time.Duration(1+len(p)/1200)
	for try := 0; ; try++ {
		if !h.clean || try > 0 {
			h.fresh(t)
		}
		ghosts := len(h.recv.Ghosts())
		runtime.ReadMemStats(&before)
		started := time.Now()
		_, err := h.recv.Read(p)
		took := time.Since(started)
		runtime.ReadMemStats(&after)
		taken := after.TotalAlloc - before.TotalAlloc
		if h.clean = false; err != nil {
			h.clean = true // the receiver was left as it was
			hash, fields := h.recv.Hash(h.newest)
			newest, _ := h.recv.Newest()
			require.Equal(t, []any{h.hash, h.fields, ghosts, h.newest}, []any{hash, fields, len(h.recv.Ghosts()), newest})
			require.Empty(t, h.recv.Changes())
			if !errors.Is(err, snapshot.ErrHeavy) { // as of pieces of many long records
				require.ErrorIs(t, err, snapshot.ErrMalformed)
			}
		}
		if taken <= bound && took <= limit {
			break
		}
		// Others that run at the same time may have taken it: it must be so again.
		if try == 4 {
			t.Fatalf("%d bytes took %v and %d bytes of memory, which may be %d", len(p), took, taken, bound)
		}
	}
	newest, _ := h.recv.Newest()
	for _, g := range h.recv.Ghosts() {
		if a, _, _, ok := g.Sample(newest, 0.5); ok {
			g.Before(a)
		}
		s := g.Newest()
		for c := range h.registry.Components() {
			s.Component(c)
		}
	}
}

// FuzzRead feeds any bytes to receivers that hold something.
func FuzzRead(f *testing.F) {
	_, match := matchPackets(f)
	for _, p := range match {
		f.Add(byte(1), p)
		f.Add(byte(2), p)
	}
	f.Add(byte(0), match[0])
	short, _ := recorded(f)
	_, turns := spinning(f)
	for _, p := range short {
		f.Add(byte(4), p)
	}
	f.Add(byte(5), turns[len(turns)-1])
	for _, p := range inPieces(f) {
		f.Add(byte(6), p)
	}
	_, sets := playWide(f, 100, 24)
	for _, p := range sets[19:] {
		f.Add(byte(7), p)
	}
	for _, p := range hostile(f) {
		f.Add(byte(3), p)
		f.Add(byte(4), p)
	}
	all := states(f)
	f.Fuzz(func(t *testing.T, state byte, p []byte) { all[int(state)%len(all)].meet(t, p) })
}

// FuzzCrafted feeds them snapshots that are well formed as far as a script goes.
func FuzzCrafted(f *testing.F) {
	for i := range byte(40) {
		script := make([]byte, 0, 60)
		for k := range byte(60) {
			script = append(script, i*k*13+k*k+i)
		}
		f.Add(i, script)
	}
	all := states(f)
	f.Fuzz(func(t *testing.T, state byte, script []byte) {
		if len(script) > 1200 {
			return // the snapshot would be longer still
		}
		h := all[int(state)%len(all)]
		h.meet(t, crafted(script, h.newest))
	})
}

// TestHostileIsUnderstood: the crafted packets mean what they are called.
func TestHostileIsUnderstood(t *testing.T) {
	for name, want := range map[string]string{
		"removals in every page":           "removal", // they would open more pages of wire ids than a snapshot may
		"spawns of defaults":               "",
		"spawns of defaults in every page": "wire id",
		"more spawns than are allowed":     "too many records or spawns",
		"spawns with all components":       "",
		"a prefab that is none":            "prefab",
		"more words than are allowed":      "too many records or spawns",
		"endless postponed runs":           "number of postponed runs",
		"runs of one":                      "",

		"a piece":                            "",
		"pieces of many records":             "number of records in pieces",
		"a record of many pieces":            "record in pieces",
		"a piece of a wire id that is none":  "record in pieces",
		"a piece from before the first tick": "record in pieces",
		"a piece behind the record":          "piece",
		"a piece beyond the record":          "piece",
		"a piece of endless units":           "piece",
		"pieces that differ":                 "pieces of one record differ",
		"pieces of another's":                "prefab",
	} {
		r, _ := registry(t)
		recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		_, err := recv.Read(hostile(t)[name])
		if want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, "snapshot: malformed: "+want, name)
	}
}

// recorded is a short match's packets, each acked, and a receiver for them.
func recorded(t tester) ([][]byte, *snapshot.Receiver) {
	r, schemas := registry(t)
	w := newWorld(t, 11, r, schemas)
	s := w.source.NewSender(1, snapshot.SenderConfig{})
	var packets [][]byte
	var rec snapshot.Sent
	for range 12 {
		w.spawn()
	}
	for range 8 {
		w.step(false)
		packets = append(packets, s.Append(nil, 700, &rec))
		s.Delivered(&rec)
	}
	return packets, snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
}
