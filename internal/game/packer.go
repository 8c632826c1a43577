package game

import (
	"unsafe"

	"github.com/foretick/foretick/schema"
)

// Packer packs messages before they are passed to an end. A value whose address passed through the
// end's interface would be allocated on the heap.
type Packer struct {
	Losses *Losses
	packed []byte
}

// Pack packs a message. The bytes are valid until the next call.
func (pk *Packer) Pack(message int, s *schema.Schema, at unsafe.Pointer) []byte {
	pk.Losses.Sent(pk.Losses.Facts.Messages[message].Name, s, at)
	pk.packed = s.Pack(at, pk.packed[:0])
	return pk.packed
}

// MaxQueued limits the bytes of reliable messages that wait for one client. Each message counts as a
// multiple of 256 bytes, rounded up.
const MaxQueued = 256 << 10
