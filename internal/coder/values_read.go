package coder

// Scalar is the inverse of [Encoder.Scalar]. It returns false if the value is not
// allowed.
func (d *Decoder) Scalar(k *Code, b *Baselines, to []int32, past Surprise) (Surprise, bool) {
	if k.Bit() {
		if !d.Flag(ctxZero + k.bitContext(b, past)) {
			to[k.Word] = 1 - b.Words[0][k.Word]
		}
		return past, true
	}
	g := k.predict(b, d.Scales)
	return d.word(k, SortScalar, &g, to, past)
}

func (d *Decoder) word(k *Code, sort int, g *guess, to []int32, past Surprise) (Surprise, bool) {
	v := d.decodeValue(valueContext(sort, g.row, past), g.back)
	var ok bool
	to[k.Word], ok = k.addResidual(g.value, v)
	return past.then(g.class, v), ok
}

// Vector is the inverse of [Encoder.Vector]. It returns false if a value is not
// allowed.
func (d *Decoder) Vector(codes []Code, b *Baselines, to []int32, past Surprise) (Surprise, bool) {
	if !d.Flag(unitContext(SortVector, codes, b, past)) {
		return past.then(0, 0), true
	}
	var gs [MaxVector]guess
	predictVector(codes, b, d.Scales, gs[:])
	for i := range codes {
		var ok bool
		if past, ok = d.word(&codes[i], SortVector, &gs[i], to, past); !ok {
			return past, false
		}
	}
	return past, true
}

// Rotation is the inverse of [Encoder.Rotation]. It returns false if a value is not
// allowed.
func (d *Decoder) Rotation(codes []Code, b *Baselines, to []int32, past Surprise) (Surprise, bool) {
	if !d.Flag(unitContext(SortRotation, codes, b, past)) {
		return past.then(0, 0), true
	}
	r := predictRotation(codes[0].Word, codes[1].Size, b, d.Scales)
	rank := 0
	if d.Flag(ctxRank + r.margin*rankClasses + r.column) {
		rank = 1
		if d.Flag(ctxRanks + r.margin) {
			rank = 2
			if d.Flag(ctxRanks + 12 + r.margin) {
				rank = 3
			}
		}
	}
	top := int(r.order[rank])
	to[codes[0].Word] = int32(top)
	at := 0
	for i := 1; i < QuatWords; i++ {
		if at == top {
			at++
		}
		g := r.guess(at, top, &codes[i])
		var ok bool
		if past, ok = d.word(&codes[i], SortRotation, &g, to, past); !ok {
			return past, false
		}
		at++
	}
	return past, true
}
