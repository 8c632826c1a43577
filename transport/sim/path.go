package sim

import (
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick/internal/counts"
)

// Path is one direction of a link: it decides for each datagram whether and when it arrives. It holds no
// datagrams and no clock, so it works in virtual and in real time. NewPath creates it; it is not safe for
// concurrent use.
type Path struct {
	link   Link
	random rand.PCG // four draws a datagram
	fades  rand.PCG // draws for outages: separate, so that they do not depend on the traffic

	// Probabilities in units of 1/2³².
	enter, leave, duplicate, reorder, corrupt uint64

	// bad is true in a burst of losses. free is true if the burst is full, so that the next datagram
	// passes.
	bad, free           bool
	run                 int           // losses in this burst
	idle                time.Duration // when the bottleneck will be free
	newest              time.Duration // newest arrival time so far
	outFrom, outUntil   time.Duration // start and end of the newest outage
	darkFrom, darkUntil time.Duration // start and end of the blackhole
	stats               PathStats
}

// PathStats counts the decisions of a Path.
type PathStats struct {
	Sent       uint64 // datagrams in total
	Lost       uint64 // datagrams lost by Link.Loss
	Overrun    uint64 // datagrams lost to a full bottleneck queue
	Dark       uint64 // datagrams lost to an outage or a blackhole
	Duplicated uint64 // datagrams that arrived twice
	Reordered  uint64 // datagrams held back by Link.Reorder
	Corrupted  uint64 // copies of datagrams with a flipped bit
}

// String returns the counters that are not zero as one line for a log.
func (s PathStats) String() string { return counts.Line(s) }

// Fate is the decision for one datagram.
type Fate struct {
	Copies int              // number of copies, the valid entries of the arrays; 0: it is lost
	At     [2]time.Duration // arrival time of each copy
	Flip   [2]int64         // the bit to flip in each copy, counted from the first bit of the datagram, or −1
}

// Damage flips the bit of the i-th copy in b, if one is to be flipped.
func (f *Fate) Damage(i int, b []byte) {
	if bit := f.Flip[i]; bit >= 0 && int(bit>>3) < len(b) {
		b[bit>>3] ^= 1 << (bit & 7)
	}
}

// NewPath returns a path over link. Two paths with equal seed and stream decide alike; each stream of a seed
// is a separate generator.
func NewPath(link Link, seed, stream uint64) *Path {
	p := &Path{}
	a, b := mix(seed), mix(stream+0x5851f42d4c957f2d)
	p.random.Seed(a, b)
	p.fades.Seed(b, a)
	p.SetLink(link)
	return p
}

// mix is SplitMix64's finaliser (Steele, Lea, Flood 2014): it maps similar seeds to very different ones.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Link returns the current link.
func (p *Path) Link() Link { return p.link }

// Stats returns the counters so far.
func (p *Path) Stats() PathStats { return p.stats }

// SetLink changes the link for future datagrams.
func (p *Path) SetLink(l Link) {
	p.link = l
	p.duplicate, p.reorder, p.corrupt = chance(l.Duplicate), chance(l.Reorder), chance(l.Corrupt)
	p.enter, p.leave = l.bursts()
	p.bad, p.free, p.run = false, false, 0
	p.outFrom, p.outUntil = 0, 0
}

// chance converts a probability to units of 1/2³².
func chance(v float64) uint64 {
	if !(v > 0) {
		return 0
	}
	return uint64(min(v, 1) * (1 << 32))
}

// bursts returns the chances of going from the good state to the bad one, and back. A datagram is lost when
// the path is bad after the datagram's own transition. For independent losses the two add up to 1.
func (l Link) bursts() (enter, leave uint64) {
	loss := l.Loss
	if !(loss > 0) {
		return 0, 1 << 32
	}
	if loss >= 1 {
		return 1 << 32, 0
	}
	if l.Burst <= 1 {
		return chance(loss), chance(1 - loss)
	}
	// Runs of losses have mean length E, runs without loss 1/enter. So the loss is E / (E + 1/enter).
	stay := 1 - 1/float64(l.Burst)
	mean := float64(l.Burst)
	if l.MaxBurst > 0 {
		mean = 0
		for i, p := 0, 1.0; i < min(l.MaxBurst, 1<<16); i, p = i+1, p*stay {
			mean += p
		}
	}
	in := loss / (mean * (1 - loss))
	if in > 1 { // only longer bursts reach the loss
		return 1 << 32, chance((1 - loss) / loss)
	}
	return chance(in), chance(1 / float64(l.Burst))
}

// Blackhole drops everything sent between two times. A later call replaces an earlier one.
func (p *Path) Blackhole(from, until time.Duration) { p.darkFrom, p.darkUntil = from, until }

// Send decides the fate of a datagram of size bytes sent now. Times must not decrease from call to call.
func (p *Path) Send(now time.Duration, size int) (f Fate) {
	p.decide(&f, now, size)
	return f
}

// decide is Send without a copy of the result. f must be zero.
func (p *Path) decide(f *Fate, now time.Duration, size int) {
	l := &p.link
	p.stats.Sent++
	// Always make the same number of draws, whatever happens to the datagram.
	u0, u1, u2, u3 := p.random.Uint64(), p.random.Uint64(), p.random.Uint64(), p.random.Uint64()
	lost := p.burst(u0 & (1<<32 - 1))
	if now >= p.darkFrom && now < p.darkUntil || p.out(now) {
		p.stats.Dark++
		return
	}
	leaves := now
	if l.Bandwidth > 0 {
		queue := l.Queue
		if queue <= 0 {
			queue = defaultQueue
		}
		start := max(now, p.idle)
		if start-now > queue {
			p.stats.Overrun++
			return
		}
		p.idle = start + time.Duration(int64(size+HeaderBytes)*8*int64(time.Second)/int64(l.Bandwidth))
		leaves = p.idle
	}
	if lost {
		p.stats.Lost++
		return
	}
	f.Copies = 1
	f.Flip[0], f.Flip[1] = -1, -1
	f.At[0] = p.arrive(leaves, u2&(1<<32-1))
	if u1&(1<<32-1) < p.reorder {
		p.stats.Reordered++
		hold := l.Hold
		if hold <= 0 {
			hold = defaultHold
		}
		f.At[0] += hold/2 + scale(hold/2, u3&(1<<32-1))
	} else {
		p.newest = max(p.newest, f.At[0])
	}
	if u0>>32 < p.duplicate {
		p.stats.Duplicated++
		f.Copies = 2
		f.At[1] = p.arrive(leaves, u2>>32)
		p.newest = max(p.newest, f.At[1])
	}
	if u1>>32 < p.corrupt && size > 0 {
		p.stats.Corrupted++
		which := 0
		if f.Copies == 2 {
			which = int(u3 >> 63)
		}
		f.Flip[which] = int64((u3 >> 32 & (1<<31 - 1)) * (uint64(size) * 8) >> 31)
	}
}

// arrive returns the arrival time of a datagram that leaves the bottleneck at a given time.
func (p *Path) arrive(leaves time.Duration, u uint64) time.Duration {
	at := leaves + max(0, p.link.Latency) + scale(max(0, p.link.Jitter), u)
	if p.link.InOrder {
		at = max(at, p.newest)
	}
	return at
}

// scale returns d·u/2³², rounded down, in integer arithmetic.
func scale(d time.Duration, u uint64) time.Duration {
	whole, part := uint64(d)>>32, uint64(d)&(1<<32-1)
	return time.Duration(whole*u + part*u>>32)
}

// burst makes the transition for one datagram, and reports whether it is lost.
func (p *Path) burst(u uint64) bool {
	switch {
	case p.free:
		p.free, p.bad = false, false
	case p.bad:
		p.bad = u >= p.leave
	default:
		p.bad = u < p.enter
	}
	if !p.bad {
		p.run = 0
		return false
	}
	p.run++
	p.free = p.link.MaxBurst > 0 && p.link.Burst > 1 && p.run >= p.link.MaxBurst && p.link.Loss < 1
	return true
}

// out reports whether there is an outage now.
func (p *Path) out(now time.Duration) bool {
	if p.link.Outage <= 0 || p.link.OutageEvery <= 0 {
		return false
	}
	if p.outUntil == 0 {
		p.outUntil = now // the first gap starts with the first datagram
	}
	for now >= p.outUntil {
		every := max(p.link.OutageEvery, leastOutage)
		p.outFrom = p.outUntil + every/2 + scale(every, p.fades.Uint64()>>32)
		p.outUntil = p.outFrom + p.link.Outage
	}
	return now >= p.outFrom
}
