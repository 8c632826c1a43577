package settled

import (
	"slices"

	"github.com/foretick/foretick/netcode"
)

// Field is the width of a command's field in bits, with FieldOnce if a stand-in does not repeat it: a
// press, or a sum of movements.
type Field uint8

const FieldOnce Field = 0x80

// Bits returns the width.
func (f Field) Bits() int { return int(f &^ FieldOnce) }

// Once reports whether a stand-in leaves the field out.
func (f Field) Once() bool { return f&FieldOnce != 0 }

// Widths returns the fields as [netcode.CommandConfig] takes them.
func Widths(fields []Field) []uint8 {
	out := make([]uint8, len(fields))
	for i, f := range fields {
		out[i] = uint8(f.Bits())
	}
	return out
}

// Rules are what all peers of a match must agree on, beside the hash of the protocol.
type Rules struct {
	Rate   uint8   // Rate is in ticks a second.
	Window uint8   // Window is how many ticks peers run ahead. 0 is lockstep.
	Size   uint16  // Size is the length of a command in bytes.
	Tags   uint64  // Tags is a hash of the world's tags.
	Fields []Field // Fields are in the order of a command's bits. The last bits of a command may have none.
}

// Carries reports whether commands have the size and the fields of the rules.
func (r *Rules) Carries(size int, fields []Field) bool {
	return int(r.Size) == size && slices.Equal(r.Fields, fields)
}

// Declaration is the Data of a peer's hello.
type Declaration struct {
	Rules
	Match uint64       // Match is the match that the peer has a world of. 0 means none.
	Holds netcode.Tick // Holds is the newest settled tick of that world. It is 0 for a world that has run no tick.
}

// Append appends the message to dst.
func (d *Declaration) Append(dst []byte) []byte {
	dst = append(dst, d.Rate, d.Window)
	dst = LE.AppendUint16(dst, d.Size)
	dst = LE.AppendUint64(dst, d.Tags)
	dst = LE.AppendUint64(dst, d.Match)
	dst = LE.AppendUint32(dst, d.Holds)
	for _, f := range d.Fields {
		dst = append(dst, byte(f))
	}
	return dst
}

// ReadDeclaration reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadDeclaration(b []byte) (d Declaration, err error) {
	c := Cursor{B: b}
	d.Rate, d.Window, d.Size, d.Tags, d.Match, d.Holds = c.U8(), c.U8(), c.U16(), c.U64(), c.U64(), c.U32()
	right, bits := d.Rate > 0 && d.Window <= MaxWindow && d.Size > 0 && d.Size <= MaxCommand && len(c.B) <= MaxFields, 0
	for right && len(c.B) > 0 {
		f := Field(c.U8())
		d.Fields = append(d.Fields, f)
		bits += f.Bits()
		right = f.Bits() >= 1 && f.Bits() <= 64
	}
	return d, c.Err(right && bits <= 8*int(d.Size))
}
