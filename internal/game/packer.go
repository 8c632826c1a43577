package game

import (
	"unsafe"

	"github.com/foretick/foretick/schema"
)

// Packer packs messages before an end is called: a value whose address passes through an
// interface is allocated.
type Packer struct {
	Losses *Losses
	packed []byte
}

// Pack writes a message, valid until the next call.
func (pk *Packer) Pack(message int, s *schema.Schema, at unsafe.Pointer) []byte {
	pk.Losses.Sent(pk.Losses.Facts.Messages[message].Name, s, at)
	pk.packed = s.Pack(at, pk.packed[:0])
	return pk.packed
}

// MaxQueued limits the bytes of reliable messages that wait for one client. Each started
// 256 bytes of a message count as 256.
const MaxQueued = 256 << 10
