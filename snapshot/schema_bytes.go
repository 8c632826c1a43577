package snapshot

import (
	"encoding/binary"
	"math"
	"reflect"
)

// SchemaVersion is the version of the form in which schemas are written as bytes,
// the first byte of [Registry.AppendSchema].
const SchemaVersion = 1

// Flags of a field in a schema's bytes.
const (
	fieldOwner = 1 << iota
	fieldOneShot
	fieldLerp      // it is interpolated, straight unless its way says otherwise
	fieldTolerance // a tolerance follows
	fieldTyped     // its Go type is not the usual one of its sort, and follows
	fieldVector    // it is part of a vector
	fieldFirst     // the first of it
	fieldAudience  // its audience follows: it is neither everybody nor the owner alone
)

// sortBits are those of a sort; above them stands the way in which a field is
// interpolated.
const sortBits = 5

// Ways of fields that are interpolated.
const (
	wayStraight = iota
	waySlerp
	wayHermite
	wayVelocity // hermite, and which field is its velocity follows
)

// way is how an interpolated leaf goes.
func (l *leaf) way() byte {
	switch {
	case l.how == Slerp:
		return waySlerp
	case l.how == Hermite && l.speed != 0:
		return wayVelocity
	case l.how == Hermite:
		return wayHermite
	}
	return wayStraight
}

// usualType is the Go type of a sort of field.
var usualType = [...]string{
	"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "float32", "float64", "float32", "float64", "", "", "string", "",
}

// AppendSchema appends the schema in the form of docs/STANDARD-snapshot.md, from
// which [ReadSchema] makes one that codes the same bits without the Go type.
func (s *Schema) AppendSchema(dst []byte) []byte {
	dst = appendText(dst, s.name)
	predicted := byte(0)
	if s.predicted {
		predicted = 1
	}
	n := len(s.leaves)
	for i := range s.lists {
		n -= (s.lists[i].most - 1) * s.lists[i].each
	}
	dst = binary.AppendUvarint(append(dst, predicted), uint64(n))
	before := ""
	for i, entry := range s.written() {
		l, f := &s.leaves[i], &s.names[entry]
		same := 0
		for same < min(len(before), len(f.name)) && before[same] == f.name[same] {
			same++
		}
		dst = appendText(binary.AppendUvarint(dst, uint64(same)), f.name[same:])
		before = f.name
		flags := l.fieldFlags(f.typ)
		if l.vec != 0 && (i == 0 || l.vec != s.leaves[i-1].vec) {
			flags |= fieldFirst
		}
		if l.aud != 0 && l.aud != ToOwner {
			flags |= fieldAudience
		}
		dst = append(dst, byte(l.op)|l.way()<<sortBits, flags)
		if flags&fieldAudience != 0 {
			dst = append(dst, byte(l.aud))
		}
		if flags&fieldTyped != 0 {
			dst = appendText(dst, f.typ)
		}
		dst = l.appendSort(dst)
		if l.op == opLength {
			dst = binary.AppendUvarint(dst, uint64(s.lists[l.list].each))
		}
		if l.tol != 0 {
			dst = appendFloat(dst, l.tol)
		}
		if l.speed != 0 {
			dst = binary.AppendUvarint(dst, uint64(s.entry(int(l.speed)-1)))
		}
	}
	return dst
}

// fieldFlags are the flags of a field but for fieldFirst.
func (l *leaf) fieldFlags(typ string) (flags byte) {
	for i, on := range [...]bool{l.aud == ToOwner, l.shot, l.how != Snap, l.tol != 0, typ != usualType[l.op], l.vec != 0} {
		if on {
			flags |= fieldOwner << i
		}
	}
	return flags
}

// appendSort appends what fields of one sort have.
func (l *leaf) appendSort(dst []byte) []byte {
	switch {
	case l.op >= opInt8 && l.op <= opUint64:
		return binary.AppendVarint(binary.AppendVarint(dst, l.lo), l.hi)
	case l.angle():
		return binary.AppendUvarint(append(dst, byte(l.bits)), uint64(l.ratio))
	case l.stepped():
		dst = binary.AppendVarint(binary.AppendVarint(dst, l.lo), l.hi)
		return binary.AppendUvarint(appendFloat(dst, l.grid[GridPublic].step), uint64(l.ratio))
	case l.op == opQuat:
		return binary.AppendUvarint(append(dst, byte(l.bits), byte(l.elemOp())), uint64(l.ratio))
	case l.op >= opText:
		return binary.AppendUvarint(dst, uint64(l.hi))
	}
	return dst
}

// elemOp is the sort of a rotation's elements.
func (l *leaf) elemOp() opcode {
	switch l.kind {
	case reflect.Float32:
		return opFloat32
	case reflect.Float64:
		return opFloat64
	}
	op := opInt8
	if l.kind >= reflect.Uint {
		op = opUint8
	}
	for s := uintptr(1); s < l.size; s *= 2 {
		op++
	}
	return op
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

// AppendSchema appends all that both ends must agree on of the registry, in the
// form of docs/STANDARD-snapshot.md: its components, its prefabs with their defaults,
// and its tables where they are not the built-in ones. [ReadRegistry] makes a
// registry of it that reads what this one writes.
func (r *Registry) AppendSchema(dst []byte) []byte {
	dst = append(dst, SchemaVersion)
	if b := r.tab.bytes(); r.tab != builtin() {
		dst = appendText(dst, string(b))
	} else {
		dst = append(dst, 0)
	}
	dst = binary.LittleEndian.AppendUint64(dst, r.tab.hash)
	dst = binary.AppendUvarint(dst, uint64(len(r.comps)))
	for _, s := range r.comps {
		dst = s.AppendSchema(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.prefabs)))
	for i := range r.prefabs {
		k := &r.prefabs[i]
		dst = binary.AppendUvarint(appendText(dst, k.name), k.mask)
		dst = r.appendDefaults(dst, k)
	}
	return dst
}

// appendDefaults appends the words of a kind that are not those of zero values,
// each behind how many that are stand before it.
func (r *Registry) appendDefaults(dst []byte, k *prefab) []byte {
	zero, at := r.zeroWords(k.mask), 0
	for i, w := range r.defaults(k)[audienceOwner] {
		if w != zero[i] {
			dst = binary.AppendUvarint(dst, uint64(i-at)+1)
			dst = binary.AppendVarint(dst, int64(w))
			at = i + 1
		}
	}
	return append(dst, 0)
}

// zeroWords are the words of zero values of the components of a mask.
func (r *Registry) zeroWords(mask uint64) []int32 {
	words := make([]int32, 0, r.wordsOf(mask))
	for c, s := range r.comps {
		if mask>>c&1 != 0 {
			words = append(words, s.zero[audienceOwner]...)
		}
	}
	return words
}
