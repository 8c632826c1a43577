package settled

import (
	"encoding/binary"

	"github.com/foretick/foretick/netcode"
)

// LE is the order of bytes in all messages.
var LE = binary.LittleEndian

// Cursor reads bytes in order. Beyond the end it reads zeros and is bad.
type Cursor struct {
	B   []byte
	Bad bool
}

// zeros are what a cursor reads beyond the end: at most 16 bytes.
var zeros [16]byte

// Take returns the next n bytes.
func (c *Cursor) Take(n int) []byte {
	if n > len(c.B) {
		c.B, c.Bad = nil, true
		return zeros[:min(n, len(zeros))]
	}
	out := c.B[:n:n]
	c.B = c.B[n:]
	return out
}

// U8 reads a number of 1 byte.
func (c *Cursor) U8() uint8 { return c.Take(1)[0] }

// U16 reads a number of 2 bytes, the lowest first.
func (c *Cursor) U16() uint16 { return LE.Uint16(c.Take(2)) }

// U32 reads a number of 4 bytes, the lowest first.
func (c *Cursor) U32() uint32 { return LE.Uint32(c.Take(4)) }

// U64 reads a number of 8 bytes, the lowest first.
func (c *Cursor) U64() uint64 { return LE.Uint64(c.Take(8)) }

// Err returns netcode.ErrMalformed if something was missing, wrong or left over.
func (c *Cursor) Err(right bool) error {
	if c.Bad || len(c.B) > 0 || !right {
		return netcode.ErrMalformed
	}
	return nil
}
