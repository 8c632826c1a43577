package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// A slice is coded as its length, followed by its elements below that length. Each element is coded against the
// baselines that hold it.

// slice writes the slice whose length is unit i, and returns the last unit of its
// elements.
func (r *recordWriter) slice(c *quantise.Plan, coded *quantise.Coding, i int, b *coder.Baselines, words []int32, past coder.Surprise) (coder.Surprise, int) {
	all, units := coded.Codes, coded.Units
	k := &all[units[i].From]
	x := coded.Extents[-1-units[i].Vec]
	l := &c.Lists[-1-units[i].Vec]
	past = r.Scalar(k, b, words, past)
	r.charge(c, k)
	n := l.Length(words)
	of := *b
	for _, e := range b.Spans(k, n) {
		of.N = e.Held
		past = r.units(c, coded, i+1+e.From*x.Units, i+1+e.To*x.Units, &of, words, past)
	}
	r.ref += (l.Most - n) * x.Refs
	return past, i + l.Most*x.Units
}

// slice is the inverse of recordWriter.slice.
func (r *Receiver) slice(c *quantise.Plan, a quantise.Audience, i int, b *coder.Baselines, to []int32, past coder.Surprise) (_ coder.Surprise, last int, ok bool) {
	coded := c.Coding(a)
	all, units := coded.Codes, coded.Units
	k := &all[units[i].From]
	x := coded.Extents[-1-units[i].Vec]
	l := &c.Lists[-1-units[i].Vec]
	if past, ok = r.in.Scalar(k, b, to, past); !ok {
		return past, 0, false
	}
	if r.counted.prof != nil {
		r.charged(c, k)
	}
	n := l.Length(to)
	c.BlankFrom(l, n, l.Length(b.Words[0]), a, to)
	of := *b
	for _, e := range b.Spans(k, n) {
		of.N = e.Held
		if past, ok = r.units(c, a, i+1+e.From*x.Units, i+1+e.To*x.Units, &of, to, past); !ok {
			return past, 0, false
		}
	}
	return past, i + l.Most*x.Units, true
}
