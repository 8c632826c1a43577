package schema

import (
	"encoding/binary"
	"math"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// Version is the version of the byte format of schemas. It is the first byte of
// [Registry.AppendSchema].
const Version = 1

// Flags of a field in a schema's bytes.
const (
	fieldOwner = 1 << iota
	fieldOneShot
	fieldLerp      // the field is interpolated, straight unless its way says otherwise
	fieldTolerance // a tolerance follows
	fieldTyped     // the Go type follows, because it is not the usual one of the sort
	fieldVector    // the field is part of a vector
	fieldFirst     // the field is the first of its vector
	fieldAudience  // the audience follows: it is neither every viewer nor the owner alone
)

// sortBits is the number of bits of a field's sort. The bits above hold its
// interpolation.
const sortBits = 5

// Ways of fields that are interpolated, or added up.
const (
	wayStraight = iota
	waySlerp
	wayHermite
	wayVelocity // hermite; the index of the velocity's field follows
	waySum      // not interpolated: added up
)

// wayOf returns how a leaf moves.
func wayOf(l *quantise.Leaf) byte {
	switch {
	case l.Sum:
		return waySum
	case l.Interpolation == quantise.Slerp:
		return waySlerp
	case l.Interpolation == quantise.Hermite && l.Speed != 0:
		return wayVelocity
	case l.Interpolation == quantise.Hermite:
		return wayHermite
	}
	return wayStraight
}

// AppendSchema appends the schema in the format of docs/STANDARD-snapshot.md. [Read]
// turns it into a schema that codes the same bits without the Go type.
func (s *Schema) AppendSchema(dst []byte) []byte {
	dst = appendText(dst, s.plan.Name)
	predicted := byte(0)
	if s.plan.Predicted {
		predicted = 1
	}
	n := len(s.plan.Leaves)
	for i := range s.plan.Lists {
		n -= (s.plan.Lists[i].Most - 1) * s.plan.Lists[i].Each
	}
	dst = binary.AppendUvarint(append(dst, predicted), uint64(n))
	before := ""
	for i, entry := range s.plan.Written() {
		l, f := &s.plan.Leaves[i], &s.names[entry]
		same := 0
		for same < min(len(before), len(f.Name)) && before[same] == f.Name[same] {
			same++
		}
		dst = appendText(binary.AppendUvarint(dst, uint64(same)), f.Name[same:])
		before = f.Name
		flags := fieldFlags(l, f.typ)
		if l.Vec != 0 && (i == 0 || l.Vec != s.plan.Leaves[i-1].Vec) {
			flags |= fieldFirst
		}
		if l.Audience != 0 && l.Audience != quantise.ToOwner {
			flags |= fieldAudience
		}
		dst = append(dst, byte(l.Class)|wayOf(l)<<sortBits, flags)
		if flags&fieldAudience != 0 {
			dst = append(dst, byte(l.Audience))
		}
		if flags&fieldTyped != 0 {
			dst = appendText(dst, f.typ)
		}
		dst = appendSort(dst, l)
		if l.Class == quantise.Length {
			dst = binary.AppendUvarint(dst, uint64(s.plan.Lists[l.List].Each))
		}
		if l.Tolerance != 0 {
			dst = appendFloat(dst, l.Tolerance)
		}
		if l.Speed != 0 {
			dst = binary.AppendUvarint(dst, uint64(s.plan.Entry(int(l.Speed)-1)))
		}
	}
	return dst
}

// fieldFlags returns the flags of a field, without fieldFirst.
func fieldFlags(l *quantise.Leaf, typ string) (flags byte) {
	for i, on := range [...]bool{l.Audience == quantise.ToOwner, l.OneShot, l.Interpolation != quantise.Snap, l.Tolerance != 0, typ != l.Class.UsualType(), l.Vec != 0} {
		if on {
			flags |= fieldOwner << i
		}
	}
	return flags
}

// appendSort appends the properties that fields of one sort have.
func appendSort(dst []byte, l *quantise.Leaf) []byte {
	switch {
	case l.Class.Counts():
		return binary.AppendVarint(binary.AppendVarint(dst, l.Lo), l.Hi)
	case l.Angle():
		return binary.AppendUvarint(append(dst, byte(l.Bits)), uint64(l.Ratio))
	case l.Stepped():
		dst = binary.AppendVarint(binary.AppendVarint(dst, l.Lo), l.Hi)
		return binary.AppendUvarint(appendFloat(dst, l.Grid[quantise.GridPublic].Step), uint64(l.Ratio))
	case l.Class == quantise.Quat:
		return binary.AppendUvarint(append(dst, byte(l.Bits), byte(l.ElemClass())), uint64(l.Ratio))
	case l.Class.Varies():
		return binary.AppendUvarint(dst, uint64(l.Hi))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

// AppendSchema appends everything about the registry that both ends must agree on, in
// the format of docs/STANDARD-snapshot.md: its components, its prefabs with their
// defaults, and its tables unless they are the built-in ones. [ReadRegistry] turns this
// into a registry that reads the snapshots of this one.
func (r *Registry) AppendSchema(dst []byte) []byte {
	dst = append(dst, Version)
	if b := r.plan.Tables.Bytes(); r.plan.Tables != coder.Builtin() {
		dst = appendText(dst, string(b))
	} else {
		dst = append(dst, 0)
	}
	dst = binary.LittleEndian.AppendUint64(dst, r.plan.Tables.Hash)
	dst = binary.AppendUvarint(dst, uint64(len(r.plan.Comps)))
	for _, s := range r.Schemas {
		dst = s.AppendSchema(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.plan.Prefabs)))
	for i := range r.plan.Prefabs {
		k := &r.plan.Prefabs[i]
		dst = appendMask(appendText(dst, k.Name), k.Mask)
		dst = r.appendDefaults(dst, k)
	}
	return dst
}

// appendDefaults appends the words of a prefab that differ from zero values. Each
// follows the number of equal words before it.
func (r *Registry) appendDefaults(dst []byte, k *quantise.Prefab) []byte {
	zero, at := r.plan.ZeroWords(k.Mask), 0
	for i, w := range r.plan.Defaults(k)[quantise.ToOwner] {
		if w != zero[i] {
			dst = binary.AppendUvarint(dst, uint64(i-at)+1)
			dst = binary.AppendVarint(dst, int64(w))
			at = i + 1
		}
	}
	return append(dst, 0)
}

// appendMask appends a set of components as one LEB128 number, bit i for component i.
func appendMask(dst []byte, mask Mask) []byte {
	for at, end := 0, mask.End(); ; {
		b := byte(0)
		for i := range 7 {
			if mask.Has(at + i) {
				b |= 1 << i
			}
		}
		if at += 7; at >= end {
			return append(dst, b)
		}
		dst = append(dst, b|128)
	}
}
