package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// EncodeMask writes a component set.
func EncodeMask(c *coder.Encoder, mask, usual schema.Mask, comps int) {
	encodeMask(c, mask, usual, comps)
}

// Rooms returns the number of records of which some pieces were read.
func (r *Receiver) Rooms() int { return len(r.rooms) }
