package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// plainMask is the greatest number of components for which a component set is written with a bit for each. With
// more components, the set lists those in which it differs from the usual set, as most sets hold few of them.
const plainMask = 64

// encodeMask writes a set of components that differs from the usual one.
func encodeMask(c *coder.Encoder, mask, usual quantise.Mask, comps int) {
	if comps <= plainMask {
		c.Bits.Write(mask.Part(0), comps)
		return
	}
	n, at := 0, 0
	for k := range quantise.MaskBits / 64 {
		n += bits.OnesCount64(mask.Part(k) ^ usual.Part(k))
	}
	c.Bits.Golomb(uint32(n - 1))
	for i := range comps {
		if mask.Has(i) != usual.Has(i) {
			c.Bits.Golomb(uint32(i - at))
			at = i + 1
		}
	}
}

// parseMask is the inverse of encodeMask. rec.mask holds the usual set when it is called.
func (r *Receiver) parseMask(rec *record) error {
	comps := len(r.reg.Comps)
	if comps <= plainMask {
		rec.mask = quantise.JoinMask(r.in.Read(comps), nil)
		return nil
	}
	set, at := rec.mask.Builder(), uint64(0)
	for n := r.in.Golomb(); ; n-- {
		if at += uint64(r.in.Golomb()); at >= uint64(comps) || r.in.Bad {
			return malformed("components")
		}
		set.Flip(int(at))
		if at++; n == 0 {
			break
		}
	}
	if !r.spend(maskBytes) {
		return ErrHeavy
	}
	rec.mask = set.MaskLike(rec.mask)
	return nil
}
