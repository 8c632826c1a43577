package netcode

// receiveWindow records which sequence numbers were received, and what to
// acknowledge. Its span is much longer than the 32 numbers of one ack. So a
// peer is understood after a silence, and one forged number far ahead pushes
// out no honest packet.
type receiveWindow struct {
	bits [windowSpan / 64]uint64
	base Seq  // base is the oldest number that the bits cover.
	line Seq  // line is the newest number that is believed. It is acknowledged.
	far  Seq  // far is a number away from the line that waits for a second one near it.
	hunt bool // hunt is true if far is set.

	gap  Seq // gap is the newest of the numbers in a row that were too far ahead, and close together.
	gaps int // gaps counts the numbers in that row.

	decided Seq    // decided is the number before which all came, or are counted as lost.
	lost    uint64 // lost counts the numbers that did not come.
}

const (
	windowSpan   = 8192
	windowBehind = 4096 // kept behind the line
	windowAhead  = 2048 // accepted ahead of the line: 16 s at 128 packets/s
	nearLine     = AckReach
)

// LongestSilence is the most packets in a row that may be lost before a connection lapses: a
// quarter of the circle of their numbers. So numbers and acknowledgements are never
// compared across half the circle. See [Conn.Lapsed].
const LongestSilence = 1 << 14

// believed is how many numbers in a row far ahead show that the peer really is there.
const believed = 3

// AckReach is how many packets before its own number an acknowledgement reports. What an
// older packet's fate was, it does not say.
const AckReach = 32

func newReceiveWindow() receiveWindow {
	line := Seq(0)
	line-- // both ends start at 0, so the number before it is the line
	return receiveWindow{line: line, base: line - windowBehind}
}

func (w *receiveWindow) received(s Seq) bool {
	if s-w.base >= windowSpan {
		return false
	}
	i := s % windowSpan
	return w.bits[i/64]&(1<<(i%64)) != 0
}

// checkSeq returns an error when s may not be received; markReceived then records it.
func (w *receiveWindow) checkSeq(s Seq) error {
	if s-w.base >= windowSpan || Distance(s, w.line) > windowAhead {
		return ErrStale
	}
	if w.received(s) {
		return ErrDuplicate
	}
	return nil
}

func (w *receiveWindow) markReceived(s Seq) {
	w.gaps = 0
	i := s % windowSpan
	w.bits[i/64] |= 1 << (i % 64)
	if Newer(w.decided, s) {
		w.lost-- // it was counted as lost, and came after all
	}
	d := Distance(s, w.line)
	switch {
	case d >= -nearLine && d <= nearLine:
		w.hunt = false
		if d > 0 {
			w.advance(s)
		}
	case w.hunt && Distance(s, w.far) >= -nearLine && Distance(s, w.far) <= nearLine:
		w.hunt = false
		if Newer(w.far, s) {
			s = w.far
		}
		w.advance(s)
	default:
		w.hunt, w.far = true, s
	}
}

// unmark forgets that s was received.
func (w *receiveWindow) unmark(s Seq) {
	if s-w.base < windowSpan {
		i := s % windowSpan
		w.bits[i/64] &^= 1 << (i % 64)
		if Newer(w.decided, s) {
			w.lost++
		}
	}
}

// advance moves the line, even back to where the peer really is. The base only
// moves forward: a number that has left the window is never accepted again.
func (w *receiveWindow) advance(line Seq) {
	w.line = line
	for ; Newer(line-AckReach, w.decided); w.decided++ {
		if !w.received(w.decided) {
			w.lost++
		}
	}
	for base := line - windowBehind; Newer(base, w.base); w.base++ {
		i := w.base % windowSpan
		w.bits[i/64] &^= 1 << (i % 64)
	}
}

// cross decides on a number that is too far ahead, such as that of a peer that was not heard for long. The
// third in a row, with none received between, moves the window to it. lapsed is true if that would be more than
// a quarter of the circle; the window then stays.
func (w *receiveWindow) cross(s Seq) (lapsed bool, err error) {
	if Distance(s, w.line) <= windowAhead {
		return false, ErrStale
	}
	switch near := Distance(s, w.gap); {
	case w.gaps == 0 || near < -nearLine || near > nearLine:
		w.gap, w.gaps = s, 1
		return false, ErrStale
	case near > 0:
		w.gap = s
		w.gaps++
	}
	if w.gaps < believed {
		return false, ErrGap
	}
	if Distance(s, w.line) > LongestSilence {
		return true, ErrGap
	}
	w.advance(s)
	return false, nil
}

// ackBits returns the bits of the 32 numbers before the line.
func (w *receiveWindow) ackBits() (bits uint32) {
	for i := range Seq(AckReach) {
		if w.received(w.line - 1 - i) {
			bits |= 1 << i
		}
	}
	return bits
}
