package snapshot_test

import (
	"math/bits"
	"slices"
	"unicode/utf8"
)

// This file belongs to the second reader: strings and slices.

func (d *independent) text(k indComponent, n, i int, from [3][]int32, out []int32) {
	most, end := k.text[i], k.end(i)
	if !d.changed(27, n, i, end-i, from) {
		return
	}
	var was []byte
	for b := range from[0][i] {
		was = append(was, byte(from[0][i+1+int(b)/4]>>(8*(b%4))))
	}
	length := int(d.number(bits.Len(uint(most))))
	both := min(length, len(was))
	shared := int(d.number(bits.Len(uint(both))))
	if length > most || shared > both {
		panic(errIndependent)
	}
	each := 8
	if d.bit() == 1 {
		each = 7
	}
	now := slices.Clone(was[:shared])
	for len(now) < length {
		now = append(now, byte(d.number(each)))
	}
	if !utf8.Valid(now) {
		panic(errIndependent)
	}
	clear(out[i:end])
	out[i] = int32(length)
	for b, c := range now {
		out[i+1+b/4] += int32(uint32(c) << (8 * (b % 4)))
	}
}

func (d *independent) slice(k indComponent, n, i int, from [3][]int32, since [3]uint32, out []int32) {
	l := k.list[i]
	out[i] = d.word(k.sent[i], n, i, from, since)
	place := func(e int) int { return i + 1 + e*l.words }
	zero, length := k.zero(), int(out[i])
	for w := place(length); w < place(l.most); w++ {
		if _, sent := k.sent[w]; sent {
			out[w] = zero[w]
		}
	}
	inNewest := min(length, int(from[0][i]))
	inAll := inNewest
	if n == 3 {
		inAll = min(inAll, int(from[1][i]), int(from[2][i]))
	}
	d.units(k, n, place(0), place(inAll), from, since, out)
	d.units(k, min(n, 1), place(inAll), place(inNewest), from, since, out)
	d.units(k, 0, place(inNewest), place(length), from, since, out)
}
