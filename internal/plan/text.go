package plan

import (
	"unicode/utf8"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// A string is a word with its length in bytes, and the bytes, four a word, the
// first in the lowest bits.

// text returns the string in memory.
func (l *Leaf) text(p unsafe.Pointer) string {
	p = unsafe.Add(p, l.Offset)
	if l.inline {
		return unsafe.String((*byte)(unsafe.Add(p, inline)), int(*(*uint64)(p)))
	}
	return *(*string)(p)
}

// fits reports whether a string is sent unchanged.
func (l *Leaf) fits(p unsafe.Pointer) bool {
	s := l.text(p)
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
	coder.PackText(l.sent(buf[:0], src), dst[l.Word:l.Word+l.Words()])
}

// sent appends to dst the part of the string that is sent.
func (l *Leaf) sent(dst []byte, src unsafe.Pointer) []byte {
	if l.fits(src) {
		return append(dst, l.text(src)...)
	}
	return cutText(dst, l.text(src), l.Hi)
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
		l.setText(p, cutText(buf[:0], l.text(p), l.Hi))
	}
}
