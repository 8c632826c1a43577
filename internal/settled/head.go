package settled

import (
	"github.com/foretick/foretick/netcode"
)

// Head is the beginning of a MessageSettled.
type Head struct {
	Clock    netcode.Tick // Clock is the relay's time in whole ticks.
	Fraction uint8        // Fraction is the rest of the relay's time in 1/256 tick.
	// Early is [netcode.CommandBuffer.Early] of the peer's commands against the relay's clock. It is
	// negative for a command that came after the clock reached its tick, which is early enough if the
	// tick was not settled yet.
	Early    int16
	HasEarly bool
	Taken    netcode.Tick // Taken is [netcode.CommandBuffer.Ack] of the peer's commands. It is 0 for an observer.
	First    netcode.Tick // First is the tick that the body begins with.
	Count    int          // Count is how many ticks the body has.
}

const HeadSize = 4 + 1 + 1 + 2 + 4 + 2 + 1

// Append appends the message to dst.
func (h *Head) Append(dst []byte) []byte {
	has := byte(0)
	if h.HasEarly {
		has = 1
	}
	dst = append(LE.AppendUint32(dst, h.Clock), h.Fraction, has)
	dst = LE.AppendUint32(LE.AppendUint16(dst, uint16(h.Early)), h.Taken)
	return append(LE.AppendUint16(dst, uint16(h.First)), byte(h.Count))
}

// ReadSettled also returns the ticks: see [Standing.Read].
func ReadSettled(b []byte) (h Head, ticks []byte, err error) {
	c := Cursor{B: b}
	h.Clock, h.Fraction = c.U32(), c.U8()
	has := c.U8()
	h.HasEarly, h.Early, h.Taken = has == 1, int16(c.U16()), c.U32()
	h.First = h.Clock + netcode.Tick(int16(c.U16()-uint16(h.Clock)))
	h.Count = int(c.U8())
	ticks, c.B = c.B, nil
	return h, ticks, c.Err(has <= 1 && h.Count <= MaxTicks && len(ticks) >= h.Count && (h.Count > 0 || len(ticks) == 0) && (h.HasEarly || h.Early == 0))
}
