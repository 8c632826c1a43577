package netcode

import "math"

// Eye is the body of a MessageEye: the position that an observer looks from. It
// travels in each packet of an observer that has one, and the newest counts. The
// zero Eye is none.
type Eye struct {
	Has     bool    // the observer looks from the position X, Y, Z
	X, Y, Z float32 // the position, if Has is set; finite
	Player  uint16  // without Has: the observer looks from where this player looks; 0: from nowhere
}

// Append appends the encoded e to dst.
func (e Eye) Append(dst []byte) []byte {
	switch {
	case e.Has:
		for _, f := range [...]float32{e.X, e.Y, e.Z} {
			dst = le.AppendUint32(dst, math.Float32bits(f))
		}
	case e.Player != 0:
		dst = le.AppendUint16(dst, e.Player)
	}
	return dst
}

// ParseEye decodes what Append wrote. Error: ErrMalformed, also for a position
// that is not finite.
func ParseEye(b []byte) (Eye, error) {
	switch len(b) {
	case 0:
		return Eye{}, nil
	case 2:
		if e := (Eye{Player: le.Uint16(b)}); e.Player != 0 {
			return e, nil
		}
	case 12:
		e := Eye{true, math.Float32frombits(le.Uint32(b)), math.Float32frombits(le.Uint32(b[4:])), math.Float32frombits(le.Uint32(b[8:])), 0}
		if finite(e.X) && finite(e.Y) && finite(e.Z) {
			return e, nil
		}
	}
	return Eye{}, errEye
}

func finite(f float32) bool { return f-f == 0 }
