// Package loss measures the share of packets that a path loses, and says how many lost snapshots in a row a
// client bridges because of it. A client measures the packets that it receives, and its server the same ones by
// their acknowledgements. So the server knows what its client does.
//
// Experimental: internal packages may change at any time.
package loss

// Window measures the share of a peer's packets that the path loses, over the newest windowLen of them. The zero
// Window has seen none. A packet is decided when lossWait later ones have arrived before it, or when it arrives.
//
// Of a run of lost packets only the first lossRun count. A longer run is an outage: no buffer of a few
// snapshots bridges it, so it must not lengthen one.
type Window struct {
	any  bool
	next uint16 // next is the oldest number that is not decided.
	came uint64 // came has a bit for each number from next on: whether it arrived.
	run  int    // run counts the lost packets in a row up to next.

	ring    [windowLen / 64]uint64 // ring has a bit for each decided packet: whether it was lost.
	decided int                    // decided counts the packets in ring, beyond its length too.
	lost    int                    // lost counts the bits of ring.
}

const (
	windowLen = 768 // packets: 26 s of 30 a second
	lossFew   = 128 // as many packets count at least: one of the first few says little
	lossRun   = 3
	lossWait  = 32   // packets, less than the bits of Window.came
	farAhead  = 2048 // packets: 16 s of 128 a second
)

// Received takes the number of a packet from the peer. line is the newest number that is believed.
func (w *Window) Received(s, line uint16) {
	if int16(s-line) > 0 {
		return
	}
	if s == line && int16(s-w.next) < 0 { // the line moved to where the peer is
		w.any = false
	}
	w.Arrived(s)
}

// Arrived takes the number of a packet that came from one end to the other.
func (w *Window) Arrived(s uint16) {
	ahead := int(int16(s - w.next))
	if !w.any || ahead > farAhead {
		w.any, w.next, w.came, w.run, ahead = true, s, 0, 0, 0
	}
	if ahead < 0 {
		return // it was counted as lost
	}
	for ; ahead > lossWait; ahead-- {
		w.decide()
	}
	w.came |= 1 << ahead
	for w.came&1 != 0 {
		w.decide()
	}
}

// decide counts the packet next.
func (w *Window) decide() {
	came := w.came & 1
	w.came >>= 1
	w.next++
	if w.run++; came != 0 {
		w.run = 0
	} else if w.run > lossRun {
		return
	}
	word, bit := &w.ring[w.decided%windowLen/64], uint64(1)<<(w.decided%64)
	if *word&bit != 0 {
		w.lost--
	}
	*word &^= bit
	if came == 0 {
		*word |= bit
		w.lost++
	}
	if w.decided++; w.decided == 2*windowLen {
		w.decided = windowLen // so that the count does not overflow, and the ring is still full
	}
}

// Share returns the share of lost packets, 0 to 1.
func (w *Window) Share() float64 {
	return float64(w.lost) / float64(max(min(w.decided, windowLen), lossFew))
}
