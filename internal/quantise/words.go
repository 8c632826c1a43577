package quantise

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/coder"
)

// Sound reports whether the words of strings and slices are valid.
func (s *Plan) Sound(words []int32) bool {
	for i := range s.Leaves {
		if l := &s.Leaves[i]; l.Class == Text && !coder.SoundText(words[l.Word:l.Word+l.Words()], int(l.Hi)) {
			return false
		}
	}
	own := s.Zero[ToOwner]
	for i := range s.Lists {
		l := &s.Lists[i]
		from, to := l.Word+l.Length(words)*l.Words, l.Word+l.Most*l.Words
		if !slices.Equal(words[from:to], own[from:to]) {
			return false
		}
	}
	return true
}

// Value returns the value of a field, a reference as a uint16.
func (s *Plan) Value(field int, words []int32, g Grid) any {
	l := &s.Leaves[field]
	switch words = words[:s.Words]; {
	case !s.Has(field, words):
		return nil
	case l.Class == Text:
		return string(coder.UnpackText(nil, words[l.Word:]))
	case l.Class == Length:
		return int64(words[l.Word])
	case l.Class == Bool:
		return words[l.Word] != 0
	case l.Class == Ref:
		return uint16(words[l.Word])
	case l.Class == Quat && l.Floats():
		return l.rotation(words[l.Word:], g)
	case l.Class == Quat:
		var v [4]int64
		same := *l.Shape
		same.Size = 8
		at := Leaf{Class: Quat, Shape: &same}
		at.restoreQuat(words[l.Word:], g, unsafe.Pointer(&v))
		return v
	case l.Class == Uint64:
		return uint64(l.wordInt(words))
	case l.Class.Integer():
		return l.wordInt(words)
	case l.Class == Step32 || l.Class == Angle32:
		return float64(float32(l.floatOf(words[l.Word], g)))
	}
	return l.float(words, g)
}

// SameRefs keeps wire ids unchanged.
type SameRefs struct{}

// Net returns the wire id that it is given.
func (SameRefs) Net(entity uint64) uint32 { return uint32(entity) }

// Entity returns the wire id that it is given.
func (SameRefs) Entity(ref uint32) uint64 { return uint64(ref) }
