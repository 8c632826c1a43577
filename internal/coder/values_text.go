package coder

import "unicode/utf8"

// textMost returns the most bytes that a unit's string can have.
func textMost(codes []Code) int { return codes[0].Size }

// Text writes whether a string changed. If it did, Text also writes its length, the
// number of leading bytes that it shares with the baseline's string, and the bytes
// after those.
func (c *Encoder) Text(codes []Code, b *Baselines, words []int32, past Surprise) Surprise {
	changed := !EqualWords(codes, words, b.Words[0])
	c.Flag(unitContext(SortVector, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	var x, y [MaxText]byte
	now, was := UnpackText(x[:0], words[codes[0].Word:]), UnpackText(y[:0], b.Words[0][codes[0].Word:])
	same, ascii := 0, true
	for same < min(len(now), len(was)) && now[same] == was[same] {
		same++
	}
	for _, v := range now[same:] {
		ascii = ascii && v < utf8.RuneSelf
	}
	c.Bits.Write(uint64(len(now)), Width(0, int64(textMost(codes))))
	c.Bits.Write(uint64(same), Width(0, int64(min(len(now), len(was)))))
	c.Bits.Bool(ascii)
	n := 8
	if ascii {
		n = 7
	}
	for _, v := range now[same:] {
		c.Bits.Write(uint64(v), n)
	}
	return past
}

// Text is the inverse of [Encoder.Text]. It returns false if the string is not allowed.
func (d *Decoder) Text(codes []Code, b *Baselines, to []int32, past Surprise) (Surprise, bool) {
	if !d.Flag(unitContext(SortVector, codes, b, past)) {
		return past.then(0, 0), true
	}
	var x [MaxText]byte
	at, most := codes[0].Word, textMost(codes)
	was := UnpackText(x[:0], b.Words[0][at:])
	n := int(d.Read(Width(0, int64(most))))
	if n > most {
		return past, false
	}
	same := int(d.Read(Width(0, int64(min(n, len(was))))))
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
	PackText(now, to[at:at+len(codes)])
	return past, utf8.Valid(now)
}

// PackText writes the words of a string.
func PackText(b []byte, to []int32) {
	clear(to)
	to[0] = int32(len(b))
	for i, c := range b {
		to[1+i/4] |= int32(uint32(c) << (i % 4 * 8))
	}
}

// UnpackText appends the string in words.
func UnpackText(dst []byte, from []int32) []byte {
	for i := range int(from[0]) {
		dst = append(dst, byte(uint32(from[1+i/4])>>(i%4*8)))
	}
	return dst
}

// SoundText reports whether words are those of a string that has no more than most
// bytes.
func SoundText(words []int32, most int) bool {
	var buf, again [MaxText]byte
	if n := int(words[0]); n < 0 || n > most {
		return false
	}
	b := UnpackText(buf[:0], words)
	to := [1 + (MaxText+3)/4]int32{}
	PackText(append(again[:0], b...), to[:len(words)])
	for i, w := range words {
		if w != to[i] {
			return false
		}
	}
	return utf8.Valid(b)
}

const MaxText = 255 // most bytes of a string

// TextWords returns the number of words of a string that may have most bytes.
func TextWords(most int64) int { return 1 + int(most+3)/4 }
