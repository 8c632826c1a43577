package snapshot_test

import (
	"encoding/binary"
	"math/big"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// craft writes snapshots that no sender would: flag by flag and number by number, as
// docs/STANDARD-snapshot.md says they lie on the wire, and with whatever in them.
type craft struct {
	coder.BitWriter // the bits
	probs           []uint16
	groups          [][2]uint64 // groups has the low and the width of each group, of 2³¹.
	low, width      uint64      // low and width are those of the group at hand.
}

// Flags by their context.
const (
	flagMore, flagNext, flagPlain, flagFull, flagUsual, flagHistory = 0, 1, 2, 3, 4, 5
	flagShape, flagMine, flagOwned, flagRef, flagComplete           = 6, 7, 8, 9, 10
	flagSteady, flagOwn, flagExpecting, flagChanged, flagExpected   = 11, 12, 13, 14, 19
	flagZero                                                        = 239
)

var craftProbs = newIndependent(builtinTables()).probs

func newCraft() *craft { return &craft{probs: craftProbs, width: 1 << 31} }

func (c *craft) flag(ctx int, v bool) {
	bound := c.width / 4096 * uint64(c.probs[ctx])
	if v {
		c.low, c.width = c.low+bound, c.width-bound
	} else {
		c.width = bound
	}
	if c.width < 1<<19 {
		c.group()
	}
}

// group ends a group of flags.
func (c *craft) group() {
	if c.width != 1<<31 {
		c.groups = append(c.groups, [2]uint64{c.low, c.width})
		c.low, c.width = 0, 1<<31
	}
}

// flags are the bytes of the flags: a number somewhere in the last interval.
func (c *craft) flags() []byte {
	c.group()
	at, width, n := new(big.Int), uint64(1<<64-1), 8
	for _, g := range c.groups {
		step := width >> 31
		at.Add(at, new(big.Int).Mul(new(big.Int).SetUint64(step), new(big.Int).SetUint64(g[0])))
		for width = step * g[1]; width < 1<<48; n += 2 {
			width <<= 16
			at.Lsh(at, 16)
		}
	}
	return at.FillBytes(make([]byte, n))
}

// packet is the snapshot of a tick.
func (c *craft) packet(tick schema.Tick) []byte {
	f := c.flags()
	p := binary.LittleEndian.AppendUint16(nil, uint16(tick)|1<<15)
	p = append(p, byte(tick>>15), byte(tick>>23), byte(tick>>31))
	p = append(binary.AppendUvarint(p, uint64(len(f))), f...)
	return append(p, c.Bytes()...)
}

// head begins a snapshot. d1 is how old the newest usual baseline is, 0: there is none.
func (c *craft) head(complete bool, d1 uint32) {
	c.flag(flagComplete, complete)
	c.flag(flagOwn, true)
	c.Golomb(d1)
	if d1 != 0 {
		c.flag(flagSteady, true)
	}
}

// removal names the wire id after so many others.
func (c *craft) removal(gap uint32, hidden bool, age uint32) {
	c.Golomb(gap)
	c.Bool(hidden)
	c.Golomb(age)
}

// wire begins the record of the wire id after so many others.
func (c *craft) wire(skip uint32) {
	c.flag(flagMore, true)
	c.flag(flagNext, skip == 0)
	if skip != 0 {
		c.Golomb((skip - 1) >> 4)
		c.Write(uint64(skip-1)&15, 4)
	}
}

// full is a record that begins a life of one of the prefabs of registry: with the
// components of its prefab, or those of mask. Those of changed have new values, which
// what the caller writes next are taken for.
func (c *craft) full(prefab int, owner uint16, classes uint64, age uint32, mask, changed uint64) {
	c.group()
	c.flag(flagPlain, false)
	c.flag(flagFull, true)
	c.Write(uint64(prefab), 2)
	c.flag(flagMine, owner == 1)
	if owner != 1 {
		c.flag(flagOwned, owner != 0)
	}
	if owner != 0 {
		c.Write(uint64(owner), 16)
	}
	c.Write(classes, 4)
	c.Golomb(age)
	c.flag(flagShape, mask != 0)
	if mask != 0 {
		c.Bool(true)
		c.Write(mask, components)
		c.Bool(false)
	} else {
		mask = [3]uint64{1<<cIdent | 1<<cPosition | 1<<cGun | 1<<cFollow, 1<<cIdent | 1<<cPosition, 1<<cPrivate | 1<<cIdent | 1<<cPurse | 1<<cBag}[prefab%3]
	}
	for i := range components {
		if mask>>i&1 != 0 && i != cTag {
			c.flag(flagChanged, changed>>i&1 != 0)
		}
	}
	c.group()
}

// record begins the pieces of a wire id's record: so many, less one.
func (c *craft) record(wire, age, pieces uint32) {
	c.Golomb(wire - 1)
	c.Golomb(age)
	c.Golomb(pieces)
}

// piece begins a piece of a record of one of the prefabs of registry, with its components: n
// units from a number on. What the caller writes next are their values.
func (c *craft) piece(prefab int, owner uint16, classes uint64, age, from, n uint32) {
	c.Golomb(from)
	c.Golomb(n - 1)
	c.group()
	c.Write(uint64(prefab), 2)
	c.flag(flagMine, owner == 1)
	if owner != 1 {
		c.flag(flagOwned, owner != 0)
	}
	if owner != 0 {
		c.Write(uint64(owner), 16)
	}
	c.Write(classes, 4)
	c.Golomb(age)
	c.flag(flagShape, false)
}

// noise writes what may be taken for any values.
func (c *craft) noise(b []byte) {
	for _, x := range b {
		c.flag(flagZero+int(x), x&1 != 0)
		c.Write(uint64(x), 5)
	}
}

// crafted makes a snapshot from a script, which decides byte by byte what comes next, at the places where a
// reader looks for it. The snapshot follows one of tick at.
func crafted(script []byte, at schema.Tick) []byte {
	c := newCraft()
	next := func() byte {
		if len(script) == 0 {
			return 0
		}
		b := script[0]
		script = script[1:]
		return b
	}
	some := func() uint32 { // mostly few
		b := next()
		if b < 240 {
			return uint32(b) % 12
		}
		return uint32(b)<<8 | uint32(next())
	}
	how := next()
	d1 := uint32(how>>1) % 16
	c.head(how&1 != 0, d1)
	removals := uint32(how>>5) * some() % 140
	c.Golomb(removals)
	pieces := removals > 128
	if pieces {
		removals -= 129
	}
	for range removals {
		c.removal(some(), next()&1 != 0, some())
	}
	if d1 != 0 {
		expecting := next()
		c.flag(flagExpecting, expecting&1 != 0)
		for range expecting >> 1 % 32 {
			b := next()
			c.flag(flagExpected+int(b>>1)%8, b&1 != 0)
		}
	}
	for n := 0; len(script) > 0 && n < 200; n++ {
		b := next()
		c.wire(some() * uint32(b&1))
		switch b >> 1 % 4 {
		case 0:
			mask := uint64(0)
			if b&0x80 != 0 {
				mask = uint64(next()) | uint64(next())&3<<8
			}
			c.full(int(next()%4), uint16(next()%4), uint64(next()%16), some(), mask, uint64(next())|uint64(b&64)<<2|uint64(b&32)<<4)
		case 1:
			c.group()
			c.flag(flagPlain, true)
			for range next() % 8 {
				c.flag(14+int(b>>4)%5, next()&1 != 0)
			}
			c.group()
		default:
			c.group()
			c.flag(flagPlain, false)
			c.flag(flagFull, false)
			c.flag(flagUsual, b&8 != 0)
			if b&8 == 0 {
				c.Golomb(some())
			} else if d1 != 0 {
				c.flag(flagHistory, b&16 != 0)
			}
			c.flag(flagShape, b&32 != 0)
			if b&32 != 0 {
				shape := next()
				if c.Bool(shape&1 != 0); shape&1 != 0 {
					c.Write(uint64(shape>>2)|uint64(next())<<6, components)
					c.Bool(shape&2 != 0)
				}
				if shape&1 == 0 || shape&2 != 0 {
					c.Golomb(some())
				}
			}
			for range next() % 8 {
				c.flag(14+int(b>>6), next()&1 != 0)
			}
			c.group()
		}
		if n := int(next() % 32); b&4 != 0 {
			c.noise(script[:min(n, len(script))])
			script = script[min(n, len(script)):]
		}
	}
	c.flag(flagMore, false)
	if pieces {
		records := next() % 3
		c.Golomb(uint32(records))
		for range records + 1 {
			n := next() % 5
			c.record(uint32(next()), some(), uint32(n))
			for range n + 1 {
				c.piece(int(next()%4), uint16(next()%4), uint64(next()%16), some(), uint32(next()), uint32(next()))
				n := int(next() % 64)
				c.noise(script[:min(n, len(script))])
				script = script[min(n, len(script)):]
				c.group()
			}
		}
	}
	if how&1 == 0 {
		n := some()
		c.Golomb(n)
		for range min(n, 300) {
			c.Golomb(some())
			c.Golomb(some())
		}
	}
	return c.packet(at + 1)
}

// hostile are packets that claim much and hold little.
func hostile(t tester) map[string][]byte {
	out := map[string][]byte{}
	_, schemas := registry(t)
	all := 0 // words
	for _, s := range schemas {
		all += s.Words()
	}
	build := func(name string, f func(c *craft)) {
		c := newCraft()
		f(c)
		out[name] = c.packet(100)
	}
	build("removals in every page", func(c *craft) {
		c.head(true, 0)
		c.Golomb(128)
		for range 128 {
			c.removal(500, false, 0)
		}
		c.flag(flagMore, false)
	})
	spawns := func(n int, skip uint32, prefab int, owner uint16, mask uint64) func(c *craft) {
		return func(c *craft) {
			c.head(true, 0)
			c.Golomb(0)
			for range n {
				c.wire(skip)
				c.full(prefab, owner, 15, 0, mask, 0)
			}
			c.flag(flagMore, false)
		}
	}
	build("spawns of defaults", spawns(96, 0, 1, 0, 0))
	build("spawns of defaults in every page", spawns(96, 680, 1, 0, 0))
	build("more spawns than are allowed", spawns(97, 0, 1, 0, 0))
	build("spawns with all components", spawns(2048/all, 0, 0, 1, 1<<components-1))
	build("a prefab that is none", spawns(1, 0, 3, 0, 0))
	build("more words than are allowed", spawns(2048/all+1, 0, 0, 1, 1<<components-1))
	build("an owner's secrets", func(c *craft) {
		c.head(true, 0)
		c.Golomb(0)
		c.wire(0)
		c.full(2, 1, 15, 0, 1<<components-1, 1<<components-1)
		for i := range 120 {
			c.noise([]byte{byte(i * 7), byte(i)})
		}
	})
	build("endless postponed runs", func(c *craft) {
		c.head(false, 0)
		c.Golomb(0)
		c.flag(flagMore, false)
		c.Golomb(65535)
	})
	build("runs of one", func(c *craft) {
		c.head(false, 0)
		c.Golomb(0)
		c.flag(flagMore, false)
		c.Golomb(4000)
		for range 4000 {
			c.Golomb(0)
			c.Golomb(0)
		}
	})
	pieces := func(records uint32, wire, age, many uint32, heads ...[4]int) func(c *craft) {
		return func(c *craft) {
			c.head(true, 0)
			c.Golomb(129)
			c.flag(flagMore, false)
			c.Golomb(records)
			c.record(wire, age, many)
			for _, h := range heads { // prefab, owner, from, n
				c.piece(h[0], uint16(h[1]), 0, 0, uint32(h[2]), uint32(h[3]))
				for range min(h[3], 40) {
					c.flag(flagZero+8*48, true)
				}
				c.group()
			}
		}
	}
	build("a piece", pieces(0, 1, 3, 0, [4]int{1, 0, 0, 1}))
	build("pieces of many records", pieces(8, 1, 0, 0))
	build("a record of many pieces", pieces(0, 1, 0, 64))
	build("a piece of a wire id that is none", pieces(0, 65536, 0, 0))
	build("a piece from before the first tick", pieces(0, 1, 100, 0))
	build("a piece behind the record", pieces(0, 1, 0, 0, [4]int{1, 0, 4, 1}))
	build("a piece beyond the record", pieces(0, 1, 0, 0, [4]int{1, 0, 0, 1 << 20}))
	build("a piece of endless units", pieces(0, 1, 0, 0, [4]int{1, 0, 1, -1}))
	build("pieces that differ", pieces(0, 1, 0, 1, [4]int{1, 0, 0, 1}, [4]int{1, 2, 1, 1}))
	build("pieces of another's", pieces(0, 1, 0, 0, [4]int{3, 0, 0, 1}))
	out["empty"] = nil
	out["ones"] = make([]byte, 1200)
	for i := range out["ones"] {
		out["ones"][i] = 0xff
	}
	return out
}
