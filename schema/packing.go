package schema

import (
	"unsafe"
)

// PackedSize returns the number of bytes of a packed value. With strings or slices (see
// [Schema.Varies]) it is the largest that a value can need.
func (s *Schema) PackedSize() int { return s.plan.PackedSize() }

// PackedFields returns the widths in bits of the numbers that a packed value consists of,
// in their order. A rotation counts as four. It is for values without strings and slices.
func (s *Schema) PackedFields() []uint8 { return s.plan.PackedFields() }

// Pack appends the value at src to dst in PackedSize bytes, for commands and events.
// Floats are rounded to the public step. Each field takes its [Field.Bits], unsigned
// from the lower end of its range, least significant bit first. A string is packed as
// its length and bytes, a slice as its length and elements, so they may take less.
// References are packed as none: see [Schema.PackRefs].
func (s *Schema) Pack(src unsafe.Pointer, dst []byte) []byte { return s.plan.Pack(src, nil, dst) }

// PackRefs is Pack with references, which refs translates into wire ids of 16 bits.
func (s *Schema) PackRefs(src unsafe.Pointer, refs Refs, dst []byte) []byte {
	return s.plan.Pack(src, refs, dst)
}

// Unpack reads a value packed by Pack into dst; b must hold nothing else. A value
// outside its range, a NaN, an infinity or a set padding bit is [ErrMalformed]. dst
// then has the fields before the fault, and the others are unchanged. Stepped floats
// arrive on the public grid: a client that predicts with a command must use the
// unpacked value. References become none: see UnpackRefs.
func (s *Schema) Unpack(b []byte, dst unsafe.Pointer) error { return s.UnpackRefs(b, nil, dst) }

// UnpackRefs is Unpack with references, which refs translates from wire ids.
func (s *Schema) UnpackRefs(b []byte, refs Refs, dst unsafe.Pointer) error {
	if len(b) > s.PackedSize() || len(b) < s.PackedSize() && s.Varies() < 0 {
		return malformed("packed size")
	}
	switch field, ok := s.plan.Unpack(b, refs, dst); {
	case ok:
		return nil
	case field < 0:
		return malformed("padding")
	default:
		return malformed("packed " + s.plan.Name + "." + s.nameOf(field).Name)
	}
}

// ClearMomentary sets every field tagged oneshot to false or 0, and every field tagged sum to
// 0. Use it to repeat a command.
func (s *Schema) ClearMomentary(p unsafe.Pointer) { s.plan.ClearMomentary(p) }

// Gather sets the oneshot fields of dst from src, unless dst has them set, and adds src's sum
// fields to those of dst. Use it when two samples of a player's input fall into one tick, with
// the later one in dst. over has an
// element for each of [Schema.Fields]: the part of a sum that its Go type cannot hold. If an
// int64, an uint64 or a float cannot hold a sum, it stays at its type's limit. Gather
// appends the indices of such fields to full.
func (s *Schema) Gather(dst, src unsafe.Pointer, over []int64, full []int) []int {
	return s.plan.Gather(dst, src, over, full)
}

// ClampSums moves the sum fields at p into their ranges, and NaN to 0. Use it where
// [Schema.Deduct] keeps the rest.
func (s *Schema) ClampSums(p unsafe.Pointer) { s.plan.ClampSums(p) }

// Deduct removes a command that was sent from the input gathered at p and in over: oneshots
// become false or 0, and of each sum the rest stays for the next commands. The rest is what
// exceeded the range, and what rounding to the step left, so slow movement adds up. Deduct
// bounds the rest by what so many commands can hold. It appends the indices of the fields that
// lost something by that, in [Schema.Fields], to full.
func (s *Schema) Deduct(p, sent unsafe.Pointer, over []int64, ticks int, full []int) []int {
	return s.plan.Deduct(p, sent, over, ticks, full)
}

// Pressed reports whether a command has a oneshot set that counts as a press. That is a
// oneshot tagged press, or any if none has that tag.
func (s *Schema) Pressed(p unsafe.Pointer) bool { return s.plan.Pressed(p) }

// CopyPress copies the fields tagged press, except oneshots, from src to dst. It copies
// nothing and returns false if no field and no oneshot has that tag.
func (s *Schema) CopyPress(dst, src unsafe.Pointer) bool { return s.plan.CopyPress(dst, src) }
