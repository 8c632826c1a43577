package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// setOf returns the set of components of a few bits.
func setOf(bits uint64) schema.Mask {
	var list []int
	for c := range 64 {
		if bits>>c&1 != 0 {
			list = append(list, c)
		}
	}
	return schema.MaskOf(list...)
}

// mask returns it as a schema.Mask.
func (s indSet) mask() schema.Mask {
	var list []int
	for c, is := range s {
		if is {
			list = append(list, c)
		}
	}
	return schema.MaskOf(list...)
}

type small struct{ V int16 }

// wideRegistry has many small components and two prefabs.
func wideRegistry(t tester, comps int) *schema.Registry {
	reg := schema.NewRegistry()
	for c := range comps {
		_, err := reg.Component(compile[small](t, schema.Options{Name: fmt.Sprint("c", c)}))
		require.NoError(t, err)
	}
	for name, list := range [][]int{{0, comps - 1}, {1}} {
		_, err := reg.Prefab(fmt.Sprint(name), list, nil)
		require.NoError(t, err)
	}
	return reg
}

// newIndependentWide describes the components of wideRegistry.
func newIndependentWide(comps int) *independent {
	d := newIndependent(builtinTables())
	d.open = true
	one := indComponent{n: 1, sent: map[int]indWord{0: plain(-32768, 32767)}}
	for grid := range 2 {
		d.comps[grid] = nil
		for range comps {
			d.comps[grid] = append(d.comps[grid], one)
		}
	}
	zero := [2][]int32{{0}, {0}}
	d.kinds = []map[int][2][]int32{{0: zero, comps - 1: zero}, {1: zero}}
	return d
}

// playWide plays random component sets of a registry with comps components, and returns the
// registry and snapshots. Both readers must find what was put.
func playWide(t tester, comps, ticks int) (reg *schema.Registry, all [][]byte) {
	reg = wideRegistry(t, comps)
	ind := newIndependentWide(comps)
	src, recv := snapshot.NewSource(reg, snapshot.SourceConfig{}), snapshot.NewReceiver(reg, snapshot.ReceiverConfig{})
	send, rng := src.NewSender(9, snapshot.SenderConfig{}), rand.New(rand.NewPCG(1, uint64(comps)))
	values := make([]small, comps)
	var masks [4]schema.Mask
	for i := range masks {
		masks[i] = schema.MaskOf(i%2, comps-1-i)
	}
	var sent [4]snapshot.Sent
	for tick := schema.Tick(1); tick <= schema.Tick(ticks); tick++ {
		if tick%3 != 0 {
			for range 1 + rng.IntN(3) {
				m := &masks[rng.IntN(len(masks))]
				b := m.Builder()
				b.Flip(rng.IntN(comps))
				*m = b.Mask()
			}
			values[rng.IntN(comps)].V += int16(rng.IntN(9))
		}
		src.Begin(tick)
		for i, m := range masks {
			var ps []unsafe.Pointer
			for c := m.Next(0); c >= 0; c = m.Next(c + 1) {
				ps = append(ps, ptr(&values[c]))
			}
			src.Put(snapshot.NetID(i+1), i%2, 0, m, ps, nil)
		}
		src.End()
		at := &sent[tick%4]
		at.Reset()
		p := send.Append(nil, 1200, at)
		all = append(all, p)
		if rng.IntN(6) == 0 {
			send.Lost(at)
			continue
		}
		_, err := recv.Read(p)
		require.NoError(t, err)
		require.NoError(t, ind.read(p))
		send.Delivered(at)
		h, n := recv.Hash(tick)
		want, fields := send.Hash()
		require.Equal(t, want, h)
		require.Equal(t, fields, n)
		require.Len(t, recv.Ghosts(), len(masks))
		for i, g := range recv.Ghosts() {
			s, ok := g.At(tick)
			require.True(t, ok)
			require.Equal(t, masks[i], s.Mask)
			vals := ind.ghosts[int(g.Wire)].vals
			require.Equal(t, masks[i], vals[len(vals)-1].mask.mask())
			for c := range comps {
				if words := s.Component(c); masks[i].Has(c) {
					require.Equal(t, []int32{int32(values[c].V)}, words)
				} else {
					require.Nil(t, words)
				}
			}
		}
	}
	return reg, all
}

// Sets of any number of components travel, and each reader reads them: also at the borders
// of the words of a mask.
func TestManyComponents(t *testing.T) {
	for _, comps := range []int{5, 63, 64, 65, 100, 128, 129, 192, 193, 256} {
		playWide(t, comps, 200)
	}
}

// Another set costs its difference, not a bit for each component of the game.
func TestSetCostsItsDifference(t *testing.T) {
	var c coder.Encoder
	cost := func(comps int, set ...int) int {
		c.Bits.Reset(nil)
		snapshot.EncodeMask(&c, schema.MaskOf(set...), schema.MaskOf(1, 2), comps)
		return c.Bits.Len()
	}
	require.Equal(t, 64, cost(64, 1, 2, 40))
	require.LessOrEqual(t, cost(256, 1, 2, 40), 16)
	require.LessOrEqual(t, cost(256, 1, 2, 255), 18)
	require.LessOrEqual(t, cost(256, 5, 2, 6), 16)
}

// craftedWide is a snapshot with one new entity of wideRegistry. set writes its components,
// which have the values of the zero value.
func craftedWide(set func(c *craft), words int) []byte {
	c := newCraft()
	c.head(true, 0)
	c.Golomb(0)
	c.wire(0)
	c.group()
	c.flag(flagPlain, false)
	c.flag(flagFull, true)
	c.Write(1, 1) // the prefab with component 1
	c.flag(flagMine, false)
	c.flag(flagOwned, false)
	c.Golomb(0)
	c.flag(flagShape, true)
	c.Bool(true)
	set(c)
	c.Bool(false)
	for range words {
		c.flag(flagChanged, false)
	}
	c.group()
	c.flag(flagMore, false)
	return c.packet(1)
}

// A set is read as the standard says, and one that names what there is not is malformed. A
// set that claims to be endless costs nothing.
func TestWideSetsAreUnderstood(t *testing.T) {
	differ := func(n uint32, gaps ...uint32) func(c *craft) {
		return func(c *craft) {
			c.Golomb(n - 1)
			for _, gap := range gaps {
				c.Golomb(gap)
			}
		}
	}
	all := make([]uint32, 100)
	for _, row := range []struct {
		name string
		set  func(c *craft)
		has  schema.Mask
		err  string
	}{
		{"one more", differ(1, 0), schema.MaskOf(0, 1), ""},
		{"one less and one more", differ(2, 1, 62), schema.MaskOf(64), ""},
		{"the last", differ(1, 99), schema.MaskOf(1, 99), ""},
		{"all others", differ(99, append([]uint32{0, 1}, all[:97]...)...), schema.MaskOf(seq(100)...), ""},
		{"one beyond the last", differ(1, 100), schema.Mask{}, "components"},
		{"one beyond any", differ(1, 256), schema.Mask{}, "components"},
		{"a last gap that is too long", differ(3, 0, 0, 98), schema.Mask{}, "components"},
		{"a gap that is as long as can be", differ(2, 1<<32-1, 1), schema.Mask{}, "components"},
		{"more than there are", differ(101, append(all, 0)...), schema.Mask{}, "components"},
		{"endless", differ(1<<32-1, all...), schema.Mask{}, "components"},
	} {
		recv := snapshot.NewReceiver(wideRegistry(t, 100), snapshot.ReceiverConfig{})
		_, err := recv.Read(craftedWide(row.set, row.has.Len()))
		if row.err != "" {
			require.EqualError(t, err, "snapshot: malformed: "+row.err, row.name)
			require.Empty(t, recv.Ghosts(), row.name)
			continue
		}
		require.NoError(t, err, row.name)
		require.Equal(t, row.has, recv.Ghosts()[0].Newest().Mask, row.name)
	}
}

func seq(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A set with ids from 64 on takes memory of its own, for which a snapshot's credit pays. A snapshot with as
// many new sets as fit stays within its bound.
func TestWideSetsAreBounded(t *testing.T) {
	costtest.Memory(t)
	reg := wideRegistry(t, 250)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := newCraft()
		c.head(true, 0)
		c.Golomb(0)
		for range 96 {
			c.wire(0)
			c.group()
			c.flag(flagPlain, false)
			c.flag(flagFull, true)
			c.Write(1, 1)
			c.flag(flagMine, false)
			c.flag(flagOwned, false)
			c.Golomb(0)
			c.flag(flagShape, true)
			c.Bool(true)
			c.Golomb(4)
			for range 5 {
				c.Golomb(uint32(rng.IntN(40)))
			}
			c.Bool(false)
			for range 6 {
				c.flag(flagChanged, false)
			}
			c.group()
		}
		c.flag(flagMore, false)
		p := c.packet(1)
		recv := snapshot.NewReceiver(reg, snapshot.ReceiverConfig{})
		memory, _ := costtest.Cost(func() { _, _ = recv.Read(p) })
		require.LessOrEqual(t, memory, uint64(readMemory+2*len(p)))
	}
}

// The bytes of sets in a wide registry stay what they are, and no bytes that are near to
// them do harm. A component that the game does not have is malformed.
func TestWideSetsHostile(t *testing.T) {
	const comps = 100
	reg, all := playWide(t, comps, 6)
	require.Equal(t, wideGolden, strings.TrimSpace(fmt.Sprintf("%x\n%x", all[0], all[1])))
	rng := rand.New(rand.NewPCG(7, 7))
	refused := 0
	for range 20000 {
		recv := snapshot.NewReceiver(reg, snapshot.ReceiverConfig{})
		p := append([]byte(nil), all[rng.IntN(2)]...)
		p[2+rng.IntN(len(p)-2)] ^= 1 << rng.IntN(8)
		if _, err := recv.Read(p); err != nil {
			refused++
			continue
		}
		for _, g := range recv.Ghosts() {
			newest := g.Newest()
			require.LessOrEqual(t, newest.Mask.End(), comps)
		}
	}
	require.Greater(t, refused, 5000)
}

// A schema with many components is read back as it was.
func TestWideSchema(t *testing.T) {
	for _, comps := range []int{3, 7, 8, 63, 64, 65, 71, 128, 255, 256} {
		reg := wideRegistry(t, comps)
		b := reg.AppendSchema(nil)
		got, err := schema.ReadRegistry(b)
		require.NoError(t, err, comps)
		require.Equal(t, reg.Describe(), got.Describe())
		require.True(t, got.PrefabHas(0, comps-1))
		_, err = independentSchema(b)
		require.NoError(t, err, comps)
	}
	_, err := wideRegistry(t, 256).Component(compile[small](t, schema.Options{Name: "more"}))
	require.ErrorContains(t, err, "256")
}

const wideGolden = `0180000000135d6504a8fcfb7e9ca4bbefe0049dd2781f51af3b483d70640145796008
0280000000165d6504a8fcfb7e9ca4bb9b15380125784689acfed640d320550512f0a3060330901a1802`
