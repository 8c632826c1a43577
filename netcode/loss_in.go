package netcode

// lossIn measures the share of the peer's packets that the path loses, over the newest lossWindow of them. A
// packet is decided when lossWait later ones have arrived before it, or when it arrives. It is counted by its
// number alone, so one that was refused with Conn.Refuse is not lost.
//
// Of a run of lost packets only the first lossRun count. A longer run is an outage: no buffer of a few
// snapshots bridges it, so it must not lengthen one.
type lossIn struct {
	any  bool
	next Seq    // next is the oldest number that is not decided.
	came uint64 // came has a bit for each number from next on: whether it arrived.
	run  int    // run counts the lost packets in a row up to next.

	ring    [lossWindow / 64]uint64 // ring has a bit for each decided packet: whether it was lost.
	decided int                     // decided counts the packets in ring, beyond its length too.
	lost    int                     // lost counts the bits of ring.
}

const (
	lossWindow = 768 // packets: 26 s of 30 a second
	lossFew    = 128 // as many packets count at least: one of the first few says little
	lossRun    = 3
	lossWait   = 32 // packets, less than the bits of lossIn.came
)

// note takes the number of a packet that arrived. line is the newest number that is believed.
func (l *lossIn) note(s, line Seq) {
	if Newer(s, line) {
		return
	}
	ahead := Distance(s, l.next)
	if !l.any || ahead > windowAhead || ahead < 0 && s == line { // the first, or the line moved to where the peer is
		l.any, l.next, l.came, l.run, ahead = true, s, 0, 0, 0
	}
	if ahead < 0 {
		return // it was counted as lost
	}
	for ; ahead > lossWait; ahead-- {
		l.decide()
	}
	l.came |= 1 << ahead
	for l.came&1 != 0 {
		l.decide()
	}
}

// decide counts the packet next.
func (l *lossIn) decide() {
	came := l.came & 1
	l.came >>= 1
	l.next++
	if l.run++; came != 0 {
		l.run = 0
	} else if l.run > lossRun {
		return
	}
	word, bit := &l.ring[l.decided%lossWindow/64], uint64(1)<<(l.decided%64)
	if *word&bit != 0 {
		l.lost--
	}
	*word &^= bit
	if came == 0 {
		*word |= bit
		l.lost++
	}
	if l.decided++; l.decided == 2*lossWindow {
		l.decided = lossWindow // so that the count does not overflow, and the ring is still full
	}
}

// share returns the share of lost packets, 0 to 1.
func (l *lossIn) share() float64 {
	return float64(l.lost) / float64(max(min(l.decided, lossWindow), lossFew))
}
