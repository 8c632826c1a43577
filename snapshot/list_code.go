package snapshot

import "unicode/utf8"

// This file codes strings and slices. Of a slice the length comes first, and then
// the elements below it, each against those baselines that hold it.

// extent is what an audience receives of a slice's element.
type extent struct{ units, refs int }

// findExtents counts the units of the elements of each list.
func (c *coding) findExtents(s *Schema) {
	if len(s.lists) == 0 {
		return
	}
	c.extents = make([]extent, len(s.lists))
	codes := c.codes
	for _, u := range c.units {
		for i := range s.lists {
			l := &s.lists[i]
			if at := codes[u.from].word; at >= l.word && at < l.word+l.words {
				c.extents[i].units++
				if u.sort == sortRef {
					c.extents[i].refs++
				}
			}
		}
	}
}

// held is how many elements are in all of the baselines, and in the newest.
func (b *baselines) held(k *wordCode) (all, newest int) {
	newest = int(b.words[0][k.word])
	if all = newest; b.n == 3 {
		all = min(all, int(b.words[1][k.word]), int(b.words[2][k.word]))
	}
	return all, newest
}

// elements are some that equally many baselines hold.
type elements struct{ from, to, held int }

// spans are those below n.
func (b *baselines) spans(k *wordCode, n int) [3]elements {
	all, newest := b.held(k)
	all, newest = min(all, n), min(newest, n)
	return [3]elements{{0, all, b.n}, {all, newest, min(b.n, 1)}, {newest, n, 0}}
}

// slice writes the slice of which the length is unit i, and returns the last unit of
// its elements.
func (r *recordWriter) slice(c *Schema, i int, b *baselines, words []int32, past surprise) (surprise, int) {
	coded := c.coding(r.a)
	all, units := coded.codes, coded.units
	k := &all[units[i].from]
	x := coded.extents[-1-units[i].vec]
	l := &c.lists[-1-units[i].vec]
	past = r.scalar(k, b, words, past)
	r.charge(c, k)
	n := l.length(words)
	of := *b
	for _, e := range b.spans(k, n) {
		of.n = e.held
		past = r.units(c, i+1+e.from*x.units, i+1+e.to*x.units, &of, words, past)
	}
	r.ref += (l.most - n) * x.refs
	return past, i + l.most*x.units
}

// charge notes what a field took.
func (r *recordWriter) charge(c *Schema, k *wordCode) {
	if r.prof != nil {
		r.prof.fields[r.comp][c.fieldOf(k.word)] += r.prof.since(r.coder)
	}
}

// units writes units of elements.
func (r *recordWriter) units(c *Schema, i, end int, b *baselines, words []int32, past surprise) surprise {
	coded := c.coding(r.a)
	all, units := coded.codes, coded.units
	for ; i < end; i++ {
		u := &units[i]
		if b.n == 3 && u.run > 0 {
			n := min(u.run, int32(end-i))
			at, upto := all[u.from].word, u.from+n
			if r.counts() {
				r.countedRun(c, all[u.from:upto], b, words, past)
			} else {
				r.run(coded.runs[u.from:upto], b.words[0][at:], b.words[1][at:], b.words[2][at:], words[at:], past)
			}
			i += int(n) - 1
			continue
		}
		codes := all[u.from : u.from+u.n]
		switch u.sort {
		case sortScalar:
			past = r.scalar(&codes[0], b, words, past)
		case sortVector:
			past = r.vector(codes, b, words, past)
		case sortRotation:
			past = r.rotation(codes, b, words, past)
		case sortText:
			past = r.text(codes, b, words, past)
		default:
			same := r.sameRef(r.ref, b.n > 0)
			r.flag(ctxRef, !same)
			if !same {
				r.w.Write(uint64(r.g.refs.list[r.ref].value), 16)
			}
			r.ref++
		}
		r.charge(c, &codes[0])
	}
	return past
}

// textMost is how many bytes the string of a unit has at most.
func textMost(codes []wordCode) int { return codes[0].size }

// text writes whether a string changed, and what comes behind as many bytes as it
// shares with the baseline's.
func (c *coder) text(codes []wordCode, b *baselines, words []int32, past surprise) surprise {
	changed := !equalWords(codes, words, b.words[0])
	c.flag(unitContext(sortVector, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	var x, y [maxText]byte
	now, was := unpackText(x[:0], words[codes[0].word:]), unpackText(y[:0], b.words[0][codes[0].word:])
	same, ascii := 0, true
	for same < min(len(now), len(was)) && now[same] == was[same] {
		same++
	}
	for _, v := range now[same:] {
		ascii = ascii && v < utf8.RuneSelf
	}
	c.w.Write(uint64(len(now)), width(0, int64(textMost(codes))))
	c.w.Write(uint64(same), width(0, int64(min(len(now), len(was)))))
	c.w.Bool(ascii)
	n := 8
	if ascii {
		n = 7
	}
	for _, v := range now[same:] {
		c.w.Write(uint64(v), n)
	}
	return past
}

// text is the inverse of coder.text; false if no string may be that.
func (d *decoder) text(codes []wordCode, b *baselines, to []int32, past surprise) (surprise, bool) {
	if !d.flag(unitContext(sortVector, codes, b, past)) {
		return past.then(0, 0), true
	}
	var x [maxText]byte
	at, most := codes[0].word, textMost(codes)
	was := unpackText(x[:0], b.words[0][at:])
	n := int(d.Read(width(0, int64(most))))
	if n > most {
		return past, false
	}
	same := int(d.Read(width(0, int64(min(n, len(was))))))
	if same > min(n, len(was)) {
		return past, false
	}
	now, bits := was[:same], 8
	if d.Bool() {
		bits = 7
	}
	for len(now) < n {
		now = append(now, byte(d.Read(bits)))
	}
	packText(now, to[at:at+len(codes)])
	return past, utf8.Valid(now)
}

// slice is the inverse of recordWriter.slice.
func (r *Receiver) slice(c *Schema, a audience, i int, b *baselines, to []int32, past surprise) (_ surprise, last int, ok bool) {
	coded := c.coding(a)
	all, units := coded.codes, coded.units
	k := &all[units[i].from]
	x := coded.extents[-1-units[i].vec]
	l := &c.lists[-1-units[i].vec]
	if past, ok = r.in.scalar(k, b, to, past); !ok {
		return past, 0, false
	}
	n := l.length(to)
	c.blankFrom(l, n, l.length(b.words[0]), a, to)
	of := *b
	for _, e := range b.spans(k, n) {
		of.n = e.held
		if past, ok = r.units(c, a, i+1+e.from*x.units, i+1+e.to*x.units, &of, to, past); !ok {
			return past, 0, false
		}
	}
	return past, i + l.most*x.units, true
}

// blankFrom makes elements those of zero values.
func (s *Schema) blankFrom(l *list, from, to int, a audience, words []int32) {
	if from >= to {
		return
	}
	at, end := l.word+from*l.words, l.word+to*l.words
	copy(words[at:end], s.zero[a.lane()][at:end])
	for i := l.from + from*l.each; i < l.from+to*l.each; i++ {
		if e := &s.leaves[i]; !e.seenBy(a) {
			e.blank(words)
		}
	}
}

// units is the inverse of recordWriter.units.
func (r *Receiver) units(c *Schema, a audience, i, end int, b *baselines, to []int32, past surprise) (_ surprise, ok bool) {
	coded := c.coding(a)
	all, units := coded.codes, coded.units
	for ; i < end; i++ {
		u := &units[i]
		if u.run > 0 && b.n == 3 {
			n := min(u.run, int32(end-i))
			at := all[u.from].word
			if ok = r.in.run(coded.runs[u.from:u.from+n], b.words[0][at:], b.words[1][at:], b.words[2][at:], to[at:], past); !ok {
				return past, false
			}
			i += int(n) - 1
			continue
		}
		codes := all[u.from : u.from+u.n]
		switch ok = true; u.sort {
		case sortScalar:
			past, ok = r.in.scalar(&codes[0], b, to, past)
		case sortVector:
			past, ok = r.in.vector(codes, b, to, past)
		case sortRotation:
			past, ok = r.in.rotation(codes, b, to, past)
		case sortText:
			past, ok = r.in.text(codes, b, to, past)
		default:
			if r.in.flag(ctxRef) {
				to[codes[0].word] = int32(r.in.Read(16))
			}
		}
		if !ok {
			return past, false
		}
	}
	return past, true
}
