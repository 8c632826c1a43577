package quantise

import (
	"unicode/utf8"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// A string is a word with its length in bytes, and the bytes, four a word, the
// first in the lowest bits.

// textAt returns the string in memory.
func (l *Leaf) textAt(p unsafe.Pointer) string {
	p = unsafe.Add(p, l.Offset)
	if l.inline {
		return unsafe.String((*byte)(unsafe.Add(p, inline)), int(*(*uint64)(p)))
	}
	return *(*string)(p)
}

// fits reports whether a string is sent unchanged.
func (l *Leaf) fits(p unsafe.Pointer) bool {
	s := l.textAt(p)
	return int64(len(s)) <= l.Hi && utf8.ValidString(s)
}

// cutText appends to dst the part of a string that fits: whole runes, with U+FFFD for
// bytes that are not UTF-8.
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
func (l *Leaf) quantiseText(src unsafe.Pointer, dst []int32) {
	var buf [coder.MaxText]byte
	coder.PackText(l.appendSent(buf[:0], src), dst[l.Word:l.Word+l.Words()])
}

// appendSent appends to dst the part of the string that is sent.
func (l *Leaf) appendSent(dst []byte, src unsafe.Pointer) []byte {
	if l.fits(src) {
		return append(dst, l.textAt(src)...)
	}
	return cutText(dst, l.textAt(src), l.Hi)
}

// restoreText writes the string of the words to dst.
func (l *Leaf) restoreText(src []int32, dst unsafe.Pointer) {
	var buf [coder.MaxText]byte
	l.setText(dst, coder.UnpackText(buf[:0], src[l.Word:]))
}

// snapText cuts a string that does not fit, in place.
func (l *Leaf) snapText(p unsafe.Pointer) {
	if !l.fits(p) {
		var buf [coder.MaxText]byte
		l.setText(p, cutText(buf[:0], l.textAt(p), l.Hi))
	}
}
