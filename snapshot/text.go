package snapshot

import (
	"unicode/utf8"
	"unsafe"
)

const maxText = 255 // bytes of a string

// A string is a word with its length in bytes, and the bytes, four a word, the
// first in the lowest bits.

// textWords is the number of words of a string of at most so many bytes.
func textWords(most int64) int { return 1 + int(most+3)/4 }

// text is the string in memory.
func (l *leaf) text(p unsafe.Pointer) string {
	p = unsafe.Add(p, l.offset)
	if l.inline {
		return unsafe.String((*byte)(unsafe.Add(p, inline)), int(*(*uint64)(p)))
	}
	return *(*string)(p)
}

// setText writes the string to memory. It allocates only if another was there.
func (l *leaf) setText(p unsafe.Pointer, b []byte) {
	p = unsafe.Add(p, l.offset)
	if l.inline {
		*(*uint64)(p) = uint64(copy(unsafe.Slice((*byte)(unsafe.Add(p, inline)), l.hi), b))
	} else if s := (*string)(p); *s != string(b) {
		*s = string(b)
	}
}

// fits tells whether a string travels as it is.
func (l *leaf) fits(p unsafe.Pointer) bool {
	s := l.text(p)
	return int64(len(s)) <= l.hi && utf8.ValidString(s)
}

// cutText appends to dst as much of a string as fits: whole runes, with U+FFFD for
// bytes that are of none.
func cutText(dst []byte, s string, most int64) []byte {
	for _, r := range s {
		if int64(len(dst)+utf8.RuneLen(r)) > most {
			break
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// quantiseText writes the words of the string at src.
func (l *leaf) quantiseText(src unsafe.Pointer, dst []int32) {
	var buf [maxText]byte
	packText(l.sent(buf[:0], src), dst[l.word:l.word+l.words()])
}

// sent appends to dst what is sent of the string.
func (l *leaf) sent(dst []byte, src unsafe.Pointer) []byte {
	if l.fits(src) {
		return append(dst, l.text(src)...)
	}
	return cutText(dst, l.text(src), l.hi)
}

func packText(b []byte, to []int32) {
	clear(to)
	to[0] = int32(len(b))
	for i, c := range b {
		to[1+i/4] |= int32(uint32(c) << (i % 4 * 8))
	}
}

// unpackText appends the string in words.
func unpackText(dst []byte, from []int32) []byte {
	for i := range int(from[0]) {
		dst = append(dst, byte(uint32(from[1+i/4])>>(i%4*8)))
	}
	return dst
}

// restoreText writes the string of the words to dst.
func (l *leaf) restoreText(src []int32, dst unsafe.Pointer) {
	var buf [maxText]byte
	l.setText(dst, unpackText(buf[:0], src[l.word:]))
}

// snapText cuts what does not fit, in place.
func (l *leaf) snapText(p unsafe.Pointer) {
	if !l.fits(p) {
		var buf [maxText]byte
		l.setText(p, cutText(buf[:0], l.text(p), l.hi))
	}
}

// soundText tells whether words are those of a string of at most so many bytes.
func soundText(words []int32, most int) bool {
	var buf, again [maxText]byte
	if n := int(words[0]); n < 0 || n > most {
		return false
	}
	b := unpackText(buf[:0], words)
	to := [1 + (maxText+3)/4]int32{}
	packText(append(again[:0], b...), to[:len(words)])
	for i, w := range words {
		if w != to[i] {
			return false
		}
	}
	return utf8.Valid(b)
}
