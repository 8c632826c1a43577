package cause

import (
	"encoding/binary"
	"math"

	"github.com/foretick/foretick/prediction"
)

// Counts are a client's corrections by cause, since its connection began.
type Counts [prediction.Causes]uint32

// Append appends the counts as they travel to dst: [CountsSaid], a bit for each cause that has
// any, and the number of each of these.
func (c *Counts) Append(dst []byte) []byte {
	at := len(dst) + 1
	dst = append(dst, CountsSaid, 0)
	for i, n := range c {
		if n > 0 {
			dst[at] |= 1 << i
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// ParseCounts reads what Append wrote. The error is [ErrReport].
func ParseCounts(b []byte) (c Counts, err error) {
	s := reader{b: b}
	if s.byte() != CountsSaid {
		return c, ErrReport
	}
	causes := s.byte()
	for i := range c {
		if causes>>i&1 != 0 {
			c[i] = uint32(s.uvarint(math.MaxUint32))
		}
	}
	if s.bad || len(s.b) > 0 || causes>>prediction.Causes != 0 {
		return Counts{}, ErrReport
	}
	return c, nil
}

// Since returns what counts have on top of earlier ones of the same connection. ok is false if
// they are older than those: packets may arrive in another order.
func (c *Counts) Since(before *Counts) (more Counts, ok bool) {
	for i, n := range before {
		if c[i] < n {
			return Counts{}, false
		}
		more[i] = c[i] - n
	}
	return more, true
}
