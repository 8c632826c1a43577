package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// recordWriter writes the components of one record.
type recordWriter struct {
	*coder.Encoder
	reg   *quantise.Registry
	g     *shown      // g is nil if the record holds no references.
	acked schema.Tick // acked is the tick of the entity's newest delivered record.
	a     quantise.Audience
	packs [3]quantise.Mask // packs has the components whose words each baseline holds.
	base  coder.Baselines
	vers  [3]schema.Tick // vers has the ticks of the baselines' versions.
	ref   int
	comp  int // comp is the component at hand.
	prof  *Profile
}

// counts reports whether something is counted while it codes.
func (r *recordWriter) counts() bool { return r.Tally != nil || r.prof != nil }

// body writes the components with words that the viewer may see.
func (r *recordWriter) body(mask quantise.Mask, words []int32) {
	alike := mask.Equal(r.packs[0]) && (r.base.N < 3 || mask.Equal(r.packs[1]) && mask.Equal(r.packs[2]))
	hides := r.reg.Hidden(r.a)
	off := 0
	for k := range mask.Parts() {
		hidden := hides.Part(k)
		for m := mask.Part(k); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			c := r.reg.Comps[k<<6+i]
			if hidden>>i&1 == 0 && len(c.Leaves) > 0 {
				r.comp = k<<6 + i
				if alike {
					b := r.base.At(off, c.Words)
					r.component(c, &b, words[off:off+c.Words])
				} else {
					b := r.reg.BaseOf(&r.base, &r.packs, r.comp, r.a)
					r.component(c, &b, words[off:off+c.Words])
				}
			}
			off += c.Words
		}
	}
}

// component writes whether a component changed and, if so, its units.
func (r *recordWriter) component(c *quantise.Plan, b *coder.Baselines, words []int32) {
	if coded := c.Coding(r.a); r.writeChanged(c, coded, b, words) {
		r.units(c, coded, 0, len(coded.Units), b, words, coder.Unsurprised)
	}
}

// writeChanged writes whether a component's words differ from its baseline's.
func (r *recordWriter) writeChanged(c *quantise.Plan, coded *quantise.Coding, b *coder.Baselines, words []int32) bool {
	refs, changed := r.ref, false
	if coded.Whole {
		changed = !slices.Equal(words, b.Words[0])
	} else {
		codes := coded.Codes
		for i := range codes {
			k := &codes[i]
			if k.Kind == coder.Ref {
				changed = changed || !r.sameRef(refs, b.N > 0)
				refs++
			} else if words[k.Word] != b.Words[0][k.Word] {
				changed = true
			}
		}
	}
	if r.prof != nil {
		r.prof.shape += r.prof.since(r.Encoder)
	}
	r.Flag(quantise.Context(c, b, r.a), changed)
	if r.prof != nil {
		r.prof.shares[r.comp] += r.prof.since(r.Encoder)
		if changed {
			r.prof.counts[r.comp]++
		}
	}
	if !changed {
		r.ref = refs
	}
	return changed
}

// units writes units from i up to end.
func (r *recordWriter) units(c *quantise.Plan, coded *quantise.Coding, i, end int, b *coder.Baselines, words []int32, past coder.Surprise) coder.Surprise {
	all, units := coded.Codes, coded.Units
	for ; i < end; i++ {
		u := &units[i]
		if b.N == 3 && u.Run > 0 {
			n := min(u.Run, int32(end-i))
			at, upto := all[u.From].Word, u.From+n
			if r.counts() {
				r.countedRun(c, all[u.From:upto], b, words, past)
			} else {
				r.Run(coded.Runs[u.From:upto], b.Words[0][at:], b.Words[1][at:], b.Words[2][at:], words[at:], past)
			}
			i += int(n) - 1
			continue
		}
		codes := all[u.From : u.From+u.N]
		switch u.Sort {
		case coder.SortScalar:
			past = r.Scalar(&codes[0], b, words, past)
		case coder.SortVector:
			past = r.Vector(codes, b, words, past)
		case coder.SortRotation:
			past = r.Rotation(codes, b, words, past)
		case coder.SortText:
			past = r.Text(codes, b, words, past)
		case coder.SortLength:
			past, i = r.slice(c, coded, i, b, words, past)
		default:
			same := r.sameRef(r.ref, b.N > 0)
			r.Flag(coder.CtxRef, !same)
			if !same {
				r.Bits.Write(uint64(r.g.refs.list[r.ref].value), 16)
			}
			r.ref++
		}
		if r.prof != nil {
			r.charge(c, &codes[0])
		}
	}
	return past
}

// countedRun writes a run and notes the size of each of its fields.
func (r *recordWriter) countedRun(c *quantise.Plan, codes []coder.Code, b *coder.Baselines, words []int32, past coder.Surprise) {
	r.RunByWord(codes, b, words, past, func(k *coder.Code) { r.charge(c, k) })
}

// charge notes the size of a field.
func (r *recordWriter) charge(c *quantise.Plan, k *coder.Code) {
	if r.prof != nil {
		r.prof.fields[r.comp][c.FieldOf(k.Word)] += r.prof.since(r.Encoder)
	}
}

// sameRef reports whether the viewer's baseline holds a reference's current meaning.
func (r *recordWriter) sameRef(i int, held bool) bool {
	n := &r.g.refs.list[i]
	if held {
		return !after(n.since, r.acked)
	}
	return n.value == 0
}
