package netcode

import (
	"fmt"

	"github.com/foretick/foretick/internal/misuse"
)

// commandFields are the widths of a command's fields in bits, in the order of its data. They cover all of the
// data: the last fields are the bits that the game's fields leave over.
type commandFields []uint8

// maxFieldBits is the greatest width of a field.
const maxFieldBits = 64

// checkFields returns an error if the fields are not valid for commands of size bytes.
func checkFields(size int, fields []uint8) error {
	n := 0
	for _, bits := range fields {
		if bits < 1 || bits > maxFieldBits {
			return fmt.Errorf("a command's field has %d bits: use 1 to %d", bits, maxFieldBits)
		}
		n += int(bits)
	}
	if n > 8*size {
		return fmt.Errorf("a command's fields have %d bits: %d bytes hold %d", n, size, 8*size)
	}
	return nil
}

// newCommandFields returns the fields of commands of size bytes. If none are given, each byte is a field. Bits
// that the given fields leave over are fields of up to eight bits.
func newCommandFields(size int, fields []uint8) commandFields {
	checkCommandSize(size)
	if err := checkFields(size, fields); err != nil {
		misuse.Panic(&ConfigError{err})
	}
	out := append(make(commandFields, 0, len(fields)+1), fields...)
	left := 8 * size
	for _, bits := range fields {
		left -= int(bits)
	}
	for left > 0 {
		out = append(out, uint8(min(left, 8)))
		left -= 8
	}
	return out
}

// nearBits returns the width of a small change of a field. It is 0 for a narrow field, in which any change
// takes the field's own width.
func nearBits(bits int) int {
	if bits < 5 {
		return 0
	}
	return bits/2 + 1
}

// append appends the fields of data that differ from before, and reports whether any
// does.
func (f commandFields) append(w *bitWriter, data, before []byte) (differ bool) {
	at := 0
	for _, b := range f {
		bits := int(b)
		v, was := bitsAt(data, at, bits), bitsAt(before, at, bits)
		at += bits
		if v == was {
			w.writeBits(0, 1)
			continue
		}
		differ = true
		w.writeBits(1, 1)
		if bits == 1 {
			continue // a single bit has only one other value
		}
		near := nearBits(bits)
		if near > 0 {
			if u := change(v, was, bits); u < 1<<near {
				w.writeBits(u<<1|1, near+1)
				continue
			}
			w.writeBits(0, 1)
		}
		w.writeBits(v, bits)
	}
	return differ
}

// readFields changes data by the fields that differ. It returns false if none does, or one could
// have been written shorter.
func (f commandFields) readFields(r *bitReader, data []byte) bool {
	at, differ := 0, false
	for _, b := range f {
		bits, from := int(b), at
		at += bits
		if r.readBits(1) == 0 {
			continue
		}
		differ = true
		was, near := bitsAt(data, from, bits), nearBits(bits)
		var v uint64
		switch {
		case bits == 1:
			v = was ^ 1
		case near > 0 && r.readBits(1) == 1:
			v = changed(was, r.readBits(near), bits)
		default:
			if v = r.readBits(bits); v == was || near > 0 && change(v, was, bits) < 1<<near {
				return false
			}
		}
		if r.bad {
			return false
		}
		setBitsAt(data, from, bits, v)
	}
	return differ && !r.bad
}

// change returns by how much a field of so many bits changed, the shorter way round:
// +1 is 0, −1 is 1, +2 is 2 and so on.
func change(v, was uint64, bits int) uint64 {
	d := int64((v-was)<<(64-bits)) >> (64 - bits)
	if d > 0 {
		return uint64(d-1) << 1
	}
	return uint64(-(d+1))<<1 | 1
}

// changed returns the value after a change.
func changed(was, u uint64, bits int) uint64 {
	d := u>>1 + 1
	if u&1 == 1 {
		d = -d
	}
	return (was + d) & (1<<(bits-1)<<1 - 1)
}
