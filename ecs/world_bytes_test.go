package ecs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// Things with padding, bools, names, lists and numbers of each size.
type (
	loose struct {
		On   bool
		Far  float64
		Near int16
		_    int32
		hid  uint32
	}
	listed struct {
		Text  string
		Items []item
		Raw   [3]uint8
		Spin  complex64
	}
	item struct {
		Kind int8
		Name string
	}
	plainInt struct{ N int }
	tally    struct {
		Points [2]int32
		Open   bool
	}
)

// bytesGame has components of each kind that the bytes of a world have.
type bytesGame struct {
	types  *ecs.Types
	pos    ecs.Component[Position]
	pad    ecs.Component[loose]
	list   ecs.Component[listed]
	num    ecs.Component[plainInt]
	dead   ecs.Component[Dead]
	tally  ecs.Singleton[tally]
	label  ecs.Singleton[listed]
	body   ecs.Prefab
	bag    ecs.Prefab
	empty  ecs.Prefab
	all    *ecs.Query
	each   *ecs.Watch
	byOne  *ecs.Watch
	sched  *ecs.Schedule[*frame]
	copies ecs.TypeOption
}

func newBytesGame(t testing.TB) *bytesGame {
	g := &bytesGame{types: ecs.NewTypes()}
	g.copies = ecs.Copier(func(dst, src *listed) {
		*dst = *src
		dst.Items = append([]item(nil), src.Items...)
	})
	require.NoError(t, g.types.Register(&g.pos))
	require.NoError(t, g.types.Register(&g.pad))
	require.NoError(t, g.types.Register(&g.list, g.copies))
	require.NoError(t, g.types.Register(&g.num))
	require.NoError(t, g.types.Register(&g.dead))
	require.NoError(t, g.types.RegisterSingleton(&g.tally))
	require.NoError(t, g.types.RegisterSingleton(&g.label, g.copies, ecs.Named("label")))
	require.NoError(t, g.types.RegisterPrefab(&g.body, "body", &g.pos, &g.pad))
	require.NoError(t, g.types.RegisterPrefab(&g.bag, "bag", &g.pos, &g.list, &g.num))
	require.NoError(t, g.types.RegisterPrefab(&g.empty, "empty"))
	g.all = ecs.NewQuery(g.types)
	g.each = ecs.NewWatch(g.types, ecs.With(&g.pos), ecs.Without(&g.dead))
	g.byOne = ecs.NewWatch(g.types, ecs.With(&g.pad))
	g.sched = ecs.NewSchedule[*frame](g.types)
	g.sched.Add("move", func(_ *frame, r ecs.Rows) {
		at := g.pos.Slice(r)
		for i := range at {
			at[i].X += float32(i) // depends on the row
		}
	}, ecs.Write(&g.pos))
	g.sched.Add("fight", func(*frame, ecs.Rows) {}, ecs.Once(), ecs.Tags("battle"))
	require.NoError(t, g.sched.Build())
	return g
}

var byteOwners = []ecs.Owner{ecs.Nobody, 1, 2, 700, ecs.Common}

// shaker is a source of random ticks. Two worlds with the same content and two shakers of the same seed stay alike.
type shaker struct {
	g    *bytesGame
	rnd  *rand.Rand
	free bool         // free leaves reserved handles out.
	kept []ecs.Entity // kept has reserved handles.
	told string       // told is what watches reported.
}

func (c *shaker) tick(w *ecs.World) {
	g, ctl := c.g, ecs.Engine(w)
	locked := c.rnd.IntN(2) == 0
	if locked {
		ctl.Lock()
	}
	for range c.rnd.IntN(8) {
		c.change(w)
	}
	if locked {
		ctl.Unlock()
	}
	g.sched.Execute(w, &frame{w: w})
	*g.tally.Get(w) = tally{[2]int32{c.rnd.Int32(), -1}, c.rnd.IntN(2) == 0}
	c.told = ""
	if c.rnd.IntN(3) > 0 {
		in, out := g.each.Poll(w)
		c.told = fmt.Sprint(in, out)
	}
	in, out := g.byOne.PollOwner(w, byteOwners[c.rnd.IntN(3)])
	c.told += fmt.Sprint(in, out)
}

func (c *shaker) change(w *ecs.World) {
	g, ctl, rnd := c.g, ecs.Engine(w), c.rnd
	var es []ecs.Entity
	for _, r := range g.all.All(w) {
		es = append(es, r.Entities()...)
	}
	one := func() ecs.Entity {
		if len(es) == 0 {
			return ecs.None
		}
		return es[rnd.IntN(len(es))]
	}
	owner := byteOwners[rnd.IntN(len(byteOwners))]
	switch e := one(); rnd.IntN(12) {
	case 0, 1:
		k := []*ecs.Prefab{&g.body, &g.bag, &g.empty}[rnd.IntN(3)]
		out := make([]ecs.Entity, rnd.IntN(30))
		ctl.SpawnBatchIn(ecs.Range(rnd.IntN(3)), k, owner, out)
	case 2:
		e := ctl.SpawnIn(ecs.Range(rnd.IntN(3)), &g.bag, owner)
		*g.list.Get(w, e) = listed{strings.Repeat("a", rnd.IntN(5)), make([]item, rnd.IntN(3)), [3]uint8{1, 2, byte(rnd.Int())}, complex(rnd.Float32(), 2)}
	case 3, 4:
		for range rnd.IntN(25) {
			w.Destroy(one())
		}
	case 5:
		g.num.Add(w, e, plainInt{-rnd.IntN(1 << 30)})
	case 6:
		g.pad.Add(w, e, loose{rnd.IntN(2) == 0, rnd.NormFloat64(), int16(rnd.Int()), 0, rnd.Uint32()})
	case 7:
		g.pad.Remove(w, e)
		g.dead.Add(w, one(), Dead{})
	case 8:
		_ = w.Transfer(e, owner)
	case 9:
		_ = w.SetParent(e, one())
	case 10, 11:
		c.useReserved(ctl, owner)
	}
}

func (c *shaker) useReserved(ctl *ecs.Control, owner ecs.Owner) {
	g, rnd := c.g, c.rnd
	switch {
	case c.free:
	case rnd.IntN(2) == 0:
		c.kept = append(c.kept, ctl.Reserve(ecs.Range(rnd.IntN(3)), owner))
	case len(c.kept) > 0:
		i := rnd.IntN(len(c.kept))
		if rnd.IntN(3) > 0 {
			_ = ctl.Place(c.kept[i], &g.body, owner)
		} else if ctl.Unreserve(c.kept[i]) {
			c.kept = append(c.kept[:i], c.kept[i+1:]...)
		}
	}
}

func worldBytes(t testing.TB, w *ecs.World) []byte {
	b, err := ecs.Engine(w).AppendWorld(nil)
	require.NoError(t, err)
	return b
}

// TestWorldBytesGoOn: a world that is written and read goes on as the first one for 200 random ticks, in a new
// world and in one that had other content, saves and watches.
func TestWorldBytesGoOn(t *testing.T) {
	seeds, live, freed := costtest.Count(8, 2000), 0, 0
	for seed := range uint64(seeds) {
		g := newBytesGame(t)
		first := ecs.NewWorld(g.types, ecs.WorldConfig{Tags: []string{"battle"}})
		c := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 1))}
		h := ecs.Engine(first).NewHistory(2)
		for k := range 20 + int(seed)*17%150 {
			if k%9 == 4 { // a tick that is rolled back
				h.Save(0)
				lost := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, uint64(k)+1))}
				for range 4 {
					lost.tick(first)
				}
				h.Restore(0)
			}
			c.tick(first)
		}
		b := worldBytes(t, first)
		second := ecs.NewWorld(g.types, ecs.WorldConfig{Capacity: 1})
		if seed%2 == 1 {
			other := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 9))}
			saved := ecs.Engine(second).NewHistory(2)
			for range 40 {
				other.tick(second)
				saved.Save(1)
			}
			require.NoError(t, ecs.Engine(second).ReadWorld(b, 1<<14))
			require.False(t, saved.Saved(1))
		} else {
			require.NoError(t, ecs.Engine(second).ReadWorld(b, 1<<14))
		}
		require.Equal(t, first.Hash(nil), second.Hash(nil))
		require.Equal(t, "", first.Differs(second))
		require.True(t, bytes.Equal(b, worldBytes(t, second)), "seed %d", seed)
		d := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 2)), kept: append([]ecs.Entity(nil), c.kept...)}
		c.rnd = rand.New(rand.NewPCG(seed, 2))
		for k := range 200 {
			before := first.Len()
			c.tick(first)
			d.tick(second)
			require.Equal(t, c.told, d.told, "seed %d, tick %d", seed, k)
			require.Equal(t, first.Hash(nil), second.Hash(nil), "seed %d, tick %d", seed, k)
			live, freed = max(live, first.Len()), freed+max(0, before-first.Len())
			if k%20 == 19 {
				require.True(t, bytes.Equal(worldBytes(t, first), worldBytes(t, second)), "seed %d, tick %d", seed, k)
			}
		}
		require.Equal(t, "", first.Differs(second))
	}
	require.Greater(t, live, 200)
	require.Greater(t, freed, 1000)
}

// TestExactHistoryLeavesNoTrace: a world that mispredicts and rolls back has the bytes of one that never did,
// handles included. A save of a later tick can be restored after one of an earlier tick.
func TestExactHistoryLeavesNoTrace(t *testing.T) {
	claimed := 0
	for seed := range uint64(costtest.Count(8, 400)) {
		g := newBytesGame(t)
		straight, rolled := ecs.NewWorld(g.types, ecs.WorldConfig{}), ecs.NewWorld(g.types, ecs.WorldConfig{})
		h := ecs.Engine(rolled).NewExactHistory(4)
		a := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 1)), free: true}
		b := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 1)), free: true}
		wrong := shaker{g: g, rnd: rand.New(rand.NewPCG(seed, 2)), free: true}
		for k := range 60 {
			h.Save(k % 2)
			for range wrong.rnd.IntN(4) {
				wrong.tick(rolled)
			}
			h.Save(2)
			later := worldBytes(t, rolled)
			h.Restore(k % 2)
			if k%5 == 4 {
				for range wrong.rnd.IntN(3) {
					wrong.tick(rolled)
				}
				h.Restore(2)
				require.True(t, bytes.Equal(later, worldBytes(t, rolled)), "seed %d, tick %d: the later save", seed, k)
				h.Restore(k % 2)
			}
			a.tick(straight)
			b.tick(rolled)
			require.Equal(t, a.told, b.told)
			require.True(t, bytes.Equal(worldBytes(t, straight), worldBytes(t, rolled)), "seed %d, tick %d", seed, k)
		}
		require.Equal(t, "", straight.Differs(rolled))
		claimed += straight.Claimed()
	}
	require.Greater(t, claimed, 60)
}

// smallWorld is a world with something of everything.
func smallWorld(t testing.TB) (*bytesGame, *ecs.World) {
	g := newBytesGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{Tags: []string{"battle"}})
	ctl := ecs.Engine(w)
	out := make([]ecs.Entity, 70)
	w.SpawnBatch(&g.body, 1, out)
	for i, e := range out {
		*g.pad.Get(w, e) = loose{i%2 == 0, float64(i) / 3, int16(-i), 0, uint32(i)}
	}
	bag := w.Spawn(&g.bag, 2)
	*g.list.Get(w, bag) = listed{"Ä", []item{{-1, "knife"}, {2, ""}}, [3]uint8{1, 2, 3}, complex(1, -2)}
	*g.num.Get(w, bag) = plainInt{-5}
	w.Destroy(out[3])
	w.Destroy(out[7])
	g.each.Poll(w)
	require.NoError(t, w.Transfer(out[5], 2))
	w.Destroy(out[5])
	require.NoError(t, w.SetParent(out[8], bag))
	require.NoError(t, ctl.Place(ctl.Reserve(ecs.RangePredicted, 1), &g.empty, 1))
	*g.tally.Get(w) = tally{[2]int32{7, -8}, true}
	g.label.Get(w).Text = "round 2"
	return g, w
}

// TestWorldBytesGolden: the bytes are the same on every machine. A change of the format needs a new version.
func TestWorldBytesGolden(t *testing.T) {
	g, w := smallWorld(t)
	b := worldBytes(t, w)
	name := "testdata/world.hex"
	if os.Getenv("FORETICK_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(name, []byte(hex.EncodeToString(b)+"\n"), 0o600))
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Equal(t, golden, b)
	read := ecs.NewWorld(g.types, ecs.WorldConfig{})
	require.NoError(t, ecs.Engine(read).ReadWorld(golden, 1<<10))
	require.Equal(t, "", w.Differs(read))
}

// withSum replaces the checksum of a world's bytes.
func withSum(b []byte) []byte {
	b = b[:len(b)-4]
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// TestWorldBytesAreChecked: a byte that changed on its way is noticed by the checksum. With a matching checksum
// it is refused, or gives a world that can be written again and simulated.
func TestWorldBytesAreChecked(t *testing.T) {
	g, w := smallWorld(t)
	good := worldBytes(t, w)
	to := ecs.NewWorld(g.types, ecs.WorldConfig{})
	require.NoError(t, ecs.Engine(to).ReadWorld(good, 1<<10))
	was := worldBytes(t, to)
	rnd := rand.New(rand.NewPCG(3, 4))
	refused, taken, emptied := 0, 0, 0
	for i := 0; i < len(good); i += 4 {
		b := bytes.Clone(good)
		b[i] ^= 1 << rnd.IntN(8)
		require.Error(t, ecs.Engine(to).ReadWorld(b, 1<<10))
		require.Equal(t, was, worldBytes(t, to), "an error changed the world")
		if i >= len(good)-4 {
			continue
		}
		b = withSum(b)
		switch err := ecs.Engine(to).ReadWorld(b, 1<<10); {
		case err == nil:
			taken++
		case to.Len() == 0:
			emptied++
		default:
			refused++
			require.Equal(t, was, worldBytes(t, to), "an error changed the world")
		}
		play(t, g, to)
		require.Equal(t, "", to.Broken())
		require.NoError(t, ecs.Engine(to).ReadWorld(good, 1<<10))
	}
	require.Error(t, ecs.Engine(to).ReadWorld(nil, 1<<10))
	for n := 0; n < len(good)-4; n += 3 {
		require.Error(t, ecs.Engine(to).ReadWorld(withSum(append(bytes.Clone(good[:n]), 0, 0, 0, 0)), 1<<10))
	}
	t.Logf("of %d flipped bits with a new checksum %d are refused, %d give another hash, %d are taken", refused+taken+emptied, refused, emptied, taken)
	require.Greater(t, refused, 80)
	require.Greater(t, emptied, 80)
}

// play runs some random ticks.
func play(t testing.TB, g *bytesGame, w *ecs.World) {
	c := shaker{g: g, rnd: rand.New(rand.NewPCG(5, 6))}
	for range 3 {
		c.tick(w)
	}
	worldBytes(t, w)
}

// TestWorldBytesAreBounded: memory and time follow the bytes and the declared number of entities.
func TestWorldBytesAreBounded(t *testing.T) {
	costtest.Memory(t)
	g := newBytesGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.SpawnBatch(&g.body, 1, make([]ecs.Entity, 5000))
	b := worldBytes(t, w)
	to := ecs.Engine(ecs.NewWorld(g.types, ecs.WorldConfig{}))
	require.ErrorContains(t, to.ReadWorld(b, 4000), "pages of handles")
	require.NoError(t, to.ReadWorld(b, 5000))
	memory, _ := costtest.Cost(func() { require.NoError(t, to.ReadWorld(b, 5000)) })
	require.Less(t, memory, uint64(6*len(b)), "into a world that has the room already")
	// Numbers that promise more than there is: each is refused for what it costs at most.
	at := bytes.Index(b, []byte("Position"))
	for i := 0; i < 300; i += 5 {
		for _, v := range []byte{0x7f, 0xff} {
			bad := bytes.Clone(b)
			bad[at+i] = v
			bad = withSum(bad)
			memory, _ := costtest.Cost(func() { _ = to.ReadWorld(bad, 5000) })
			require.Less(t, memory, uint64(10*len(b)), "byte %d", at+i)
		}
	}
}

// TestWorldBytesNeedACoder: types with other pointers are named, or written by their Coder.
func TestWorldBytesNeedACoder(t *testing.T) {
	type mesh struct {
		Points map[int]int
		Next   *int
	}
	copies := ecs.Copier(func(dst, src *mesh) { *dst = *src })
	var c ecs.Component[mesh]
	var s ecs.Singleton[mesh]
	types := ecs.NewTypes()
	require.NoError(t, types.Register(&c, copies))
	require.NoError(t, types.RegisterSingleton(&s, copies, ecs.Named("terrain")))
	err := types.WorldErr()
	for _, name := range []string{"mesh.Points is a map", "mesh.Next is a ptr", "terrain.Points is a map", "terrain.Next is a ptr"} {
		require.ErrorContains(t, err, name)
	}
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	b, again := ecs.Engine(w).AppendWorld([]byte("head"))
	require.Equal(t, err.Error(), again.Error())
	require.Equal(t, "head", string(b))
	require.Error(t, ecs.Engine(w).ReadWorld(nil, 1))

	c, types = ecs.Component[mesh]{}, ecs.NewTypes()
	fails := false
	coder := ecs.Coder(
		func(dst []byte, m *mesh) []byte { return append(dst, byte(len(m.Points))) },
		func(b []byte, m *mesh) error {
			if len(b) != 1 || fails {
				return errors.New("one byte")
			}
			m.Points = map[int]int{}
			for i := range int(b[0]) {
				m.Points[i] = i
			}
			return nil
		})
	var thing ecs.Prefab
	require.NoError(t, types.Register(&c, copies, coder))
	require.NoError(t, types.RegisterPrefab(&thing, "thing", &c))
	require.NoError(t, types.WorldErr())
	w = ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&thing, 1)
	c.Get(w, e).Points = map[int]int{0: 0, 1: 1}
	to := ecs.NewWorld(types, ecs.WorldConfig{})
	require.NoError(t, ecs.Engine(to).ReadWorld(worldBytes(t, w), 10))
	require.Equal(t, *c.Get(w, e), *c.Get(to, e))
	fails = true
	require.ErrorContains(t, ecs.Engine(to).ReadWorld(worldBytes(t, w), 10), "mesh: one byte")
	require.Equal(t, 1, to.Len())
}

// TestWorldBytesOfAnotherBuild: what both builds have by name is read, numbers are converted, and the rest is
// left out.
func TestWorldBytesOfAnotherBuild(t *testing.T) {
	g, w := smallWorld(t)
	b := worldBytes(t, w)

	type item struct {
		Name string
		Kind int64
		Cost float32
	}
	type listed struct {
		Items []item
		Raw   [2]float64
		Text  string
		Spin  complex128
	}
	type loose struct {
		Near int8
		Far  float32
		New  int32
		On   bool
	}
	type tally struct{ Points [3]uint16 }
	var (
		types = ecs.NewTypes()
		fresh ecs.Component[Health]
		list  ecs.Component[listed]
		pad   ecs.Component[loose]
		sum   ecs.Singleton[tally]
	)
	require.NoError(t, types.Register(&fresh))
	require.NoError(t, types.Register(&list, ecs.Copier(func(dst, src *listed) { *dst = *src })))
	require.NoError(t, types.Register(&pad))
	require.NoError(t, types.RegisterSingleton(&sum))
	to := ecs.NewWorld(types, ecs.WorldConfig{})
	require.NoError(t, ecs.Engine(to).ReadWorld(b, 1<<10))
	require.Equal(t, w.Len(), to.Len())
	for _, r := range g.all.All(w) {
		for _, e := range r.Entities() {
			require.True(t, to.Alive(e))
			require.Equal(t, w.Owner(e), to.Owner(e))
			require.Equal(t, w.Parent(e), to.Parent(e))
			if was := g.pad.Find(w, e); was != nil {
				near := max(was.Near, math.MinInt8)
				require.Equal(t, loose{int8(near), float32(was.Far), 0, was.On}, *pad.Get(to, e))
			}
			if g.list.Has(w, e) {
				require.Equal(t, listed{[]item{{"knife", -1, 0}, {"", 2, 0}}, [2]float64{1, 2}, "Ä", 1 - 2i}, *list.Get(to, e))
			}
		}
	}
	require.Equal(t, tally{[3]uint16{7, 0, 0}}, *sum.Get(to)) // -8 does not fit, and the third is new
	require.Equal(t, g.body.Components()[0], g.pos.ID())
	fresh1 := w.Spawn(&g.body, 1)
	require.Equal(t, fresh1, spawnIn(t, to, types))
}

// spawnIn spawns an entity without components for player 1.
func spawnIn(t *testing.T, w *ecs.World, types *ecs.Types) ecs.Entity {
	// A prefab cannot be registered any more, so the next handle is asked for by a copy of the world.
	b := worldBytes(t, w)
	var none ecs.Prefab
	like := ecs.NewTypes()
	require.NoError(t, like.RegisterPrefab(&none, "none"))
	next := ecs.NewWorld(like, ecs.WorldConfig{})
	require.NoError(t, ecs.Engine(next).ReadWorld(b, 1<<10))
	return next.Spawn(&none, 1)
}

// TestWorldBytesRefuseCalls: a world is written and read between systems.
func TestWorldBytesRefuseCalls(t *testing.T) {
	_, w := smallWorld(t)
	ecs.Engine(w).Lock()
	require.PanicsWithValue(t, ecs.UsageError{Text: "ecs: AppendWorld of a locked world: call it between systems"}, func() { _, _ = ecs.Engine(w).AppendWorld(nil) })
	require.PanicsWithValue(t, ecs.UsageError{Text: "ecs: ReadWorld of a locked world: call it between systems"}, func() { _ = ecs.Engine(w).ReadWorld(nil, 1) })
}

// FuzzReadWorld reads any bytes, and plays what was read.
func FuzzReadWorld(f *testing.F) {
	g, w := smallWorld(f)
	b := worldBytes(f, w)
	f.Add(b[:len(b)-4])
	f.Add(worldBytes(f, ecs.NewWorld(g.types, ecs.WorldConfig{})))
	f.Fuzz(func(t *testing.T, b []byte) {
		to := ecs.NewWorld(g.types, ecs.WorldConfig{Capacity: 1})
		b = withSum(append(bytes.Clone(b), 0, 0, 0, 0))
		if ecs.Engine(to).ReadWorld(b, 1<<12) == nil {
			require.Equal(t, "", to.Broken())
			again := ecs.NewWorld(g.types, ecs.WorldConfig{})
			require.NoError(t, ecs.Engine(again).ReadWorld(worldBytes(t, to), 1<<13))
			require.Equal(t, "", to.Differs(again))
		}
		play(t, g, to)
	})
}

// BenchmarkWorldBytes writes and reads 10 000 entities of 32 bytes.
func BenchmarkWorldBytes(b *testing.B) {
	g := newGame(b)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	w.SpawnBatch(&g.mover, 1, make([]ecs.Entity, 10_000))
	data := worldBytes(b, w)
	to := ecs.Engine(ecs.NewWorld(g.types, ecs.WorldConfig{}))
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			data, _ = ecs.Engine(w).AppendWorld(data[:0])
		}
		b.ReportMetric(float64(len(data)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := to.ReadWorld(data, 10_000); err != nil {
				b.Fatal(err)
			}
		}
	})
}
