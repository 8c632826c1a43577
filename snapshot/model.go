package snapshot

import "math/bits"

// Contexts: which probability a flag is coded with. The first are those of the
// structure of a snapshot; those of values follow in blocks of valueSlots.
const (
	ctxMore       = iota // another record follows
	ctxNext              // its wire id is the next after the one before
	ctxFull              // it is against the defaults of its kind
	ctxUsual             // its baseline is the usual one
	ctxHistory           // two more usual baselines are held
	ctxMask              // the set of components differs from the baseline's
	ctxMine              // the viewer owns it
	ctxOwned             // somebody owns it
	ctxRef               // a reference changed
	ctxComplete          // nothing is postponed
	ctxOwn               // nothing of the viewer's own is
	ctxComponent         // a component changed: 5 contexts, see componentContext
	ctxValues     = ctxComponent + 5
	valueGroups   = 4
	valueClasses  = 16
	valueSlots    = 18
	contexts      = ctxValues + valueGroups*valueClasses*valueSlots
	slotZero      = 0  // the difference is 0: 3 slots, by the words before
	slotCentre    = 3  // it has more bits than expected
	slotUp        = 4  // 7 slots: still more bits
	slotDown      = 11 // 7 slots: still fewer
	slotsEachSide = 7
)

// Groups of value contexts: what the prediction was made from.
const (
	fromDefault = iota // the kind's default
	fromHeld           // one baseline
	fromHold           // three baselines, and the newest is the best guess
	fromMotion         // three baselines, and going on as before is the better one
)

// probabilities holds for every context how likely a 0 is, of 4096.
type probabilities [contexts]uint16

// flags collects the coded flags of a record: context and bit.
type flags struct {
	syms []uint16
	cost uint32 // in 1/256 bit
}

// coder writes one record, or the structure around records.
type coder struct {
	costs *[contexts][2]uint32
	f     flags
	w     BitWriter
}

func (c *coder) flag(ctx int, bit bool) {
	b := uint32(0)
	if bit {
		b = 1
	}
	c.f.syms = append(c.f.syms, uint16(ctx)<<1|uint16(b))
	c.f.cost += c.costs[ctx][b]
}

// decoder reads what coder wrote.
type decoder struct {
	probs *probabilities
	rc    rangeDecoder
	BitReader
}

func (d *decoder) flag(ctx int) bool { return d.rc.decode(uint32(d.probs[ctx])) != 0 }

// guess is what is expected of a word.
type guess struct {
	value int32
	ctx   int // first context of the block
	class int // expected number of bits of the difference
}

// before is what the words of a component before this one had.
type before int

const (
	noneBefore    before = iota // it is the first
	stillBefore                 // none had a difference
	changedBefore               // some had
)

// then is what the next word has before it.
func (b before) then(d int32) before {
	if d != 0 || b == changedBefore {
		return changedBefore
	}
	return stillBefore
}

func blockOf(group, class int) int { return ctxValues + (group*valueClasses+class)*valueSlots }

// value codes a difference: whether it is 0, how many bits its magnitude has,
// counted from the expected number, its sign and the bits behind the first.
func (c *coder) value(g *guess, b before, d int32) {
	c.flag(g.ctx+slotZero+int(b), d == 0)
	if d == 0 {
		return
	}
	m, sign := uint32(d), uint64(0)
	if d < 0 {
		m, sign = -m, 1
	}
	n, centre := bits.Len32(m), max(g.class, 1)
	c.flag(g.ctx+slotCentre, n > centre)
	if n > centre {
		for k := centre + 1; k < 32; k++ {
			c.flag(g.ctx+slotUp+min(k-centre-1, slotsEachSide-1), n > k)
			if n == k {
				break
			}
		}
	} else {
		for k := centre; k > 1; k-- {
			c.flag(g.ctx+slotDown+min(centre-k, slotsEachSide-1), n < k)
			if n == k {
				break
			}
		}
	}
	c.w.put(sign|uint64(m&(1<<uint(n-1)-1))<<1, uint(n))
}

// value is the inverse of coder.value.
func (d *decoder) value(g *guess, b before) int32 {
	if d.flag(g.ctx + slotZero + int(b)) {
		return 0
	}
	n := max(g.class, 1)
	if centre := n; d.flag(g.ctx + slotCentre) {
		n++
		for ; n < 32 && d.flag(g.ctx+slotUp+min(n-centre-1, slotsEachSide-1)); n++ {
		}
	} else {
		for ; n > 1 && d.flag(g.ctx+slotDown+min(centre-n, slotsEachSide-1)); n-- {
		}
	}
	v := d.Read(n)
	m := uint32(v>>1) | 1<<uint(n-1)
	if v&1 != 0 {
		m = -m
	}
	return int32(m)
}

// costTable is the cost of each flag, for budgets.
func costTable(p *probabilities) *[contexts][2]uint32 {
	t := new([contexts][2]uint32)
	for i, v := range p {
		t[i] = [2]uint32{flagCost(uint32(v)), flagCost(probOne - uint32(v))}
	}
	return t
}
