package coder

// Scalar writes a single word.
func (c *Encoder) Scalar(k *Code, b *Baselines, words []int32, past Surprise) Surprise {
	v := words[k.Word]
	if k.Bit() {
		c.Flag(ctxZero+k.bitContext(b, past), v == b.Words[0][k.Word])
		return past
	}
	g := k.predict(b, c.Scales)
	if c.Tally != nil {
		c.Tally.moved(SortScalar, &g, k, b, c.Scales, v)
	}
	d := k.Residual(g.value, v)
	c.codeValue(valueContext(SortScalar, g.row, past), g.back, d)
	return past.then(g.class, d)
}

// unitContext returns the context of the flag that says whether a vector or rotation
// changed.
func unitContext(sort int, codes []Code, b *Baselines, past Surprise) int {
	state, before := 0, 0
	if b.N == 3 {
		state = 3
		if EqualWords(codes, b.Words[0], b.Words[1]) {
			state = 1
		} else if EqualWords(codes, b.Words[1], b.Words[2]) {
			state = 2
		}
	}
	if past > -8 {
		before = 2
	} else if past != Unsurprised {
		before = 1
	}
	return ctxUnit + (sort-SortVector)*12 + state*3 + before
}

// Vector writes whether a vector changed and, if so, its words.
func (c *Encoder) Vector(codes []Code, b *Baselines, words []int32, past Surprise) Surprise {
	changed := !EqualWords(codes, words, b.Words[0])
	c.Flag(unitContext(SortVector, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	var gs [MaxVector]guess
	predictVector(codes, b, c.Scales, gs[:])
	for i := range codes {
		k, g := &codes[i], &gs[i]
		if c.Tally != nil {
			c.Tally.moved(SortVector, g, k, b, c.Scales, words[k.Word])
		}
		d := k.Residual(g.value, words[k.Word])
		c.codeValue(valueContext(SortVector, g.row, past), g.back, d)
		past = past.then(g.class, d)
	}
	return past
}

// Rotation writes whether a rotation changed and, if so, the rank of its greatest
// component among the expected ones, and the others.
func (c *Encoder) Rotation(codes []Code, b *Baselines, words []int32, past Surprise) Surprise {
	changed := !EqualWords(codes, words, b.Words[0])
	c.Flag(unitContext(SortRotation, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	r := predictRotation(codes[0].Word, codes[1].Size, b, c.Scales)
	if c.Tally != nil {
		c.Tally.turned(&r, codes, b, c.Scales, words)
	}
	top := int(words[codes[0].Word])
	rank := 0
	for int(r.order[rank]) != top {
		rank++
	}
	c.Flag(ctxRank+r.margin*rankClasses+r.column, rank > 0)
	if rank > 0 {
		c.Flag(ctxRanks+r.margin, rank > 1)
		if rank > 1 {
			c.Flag(ctxRanks+12+r.margin, rank > 2)
		}
	}
	at := 0
	for i := 1; i < QuatWords; i++ {
		if at == top {
			at++
		}
		k := &codes[i]
		g := r.guess(at, top, k)
		d := k.Residual(g.value, words[k.Word])
		c.codeValue(valueContext(SortRotation, g.row, past), g.back, d)
		past = past.then(g.class, d)
		at++
	}
	return past
}
