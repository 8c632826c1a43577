package stats

// ShareBuckets is the number of buckets of Shares.
const ShareBuckets = 11

// shareBounds are the largest shares of the buckets. The first bucket counts shares of 0.
var shareBounds = [ShareBuckets]float64{0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}

// ShareBound returns the largest share that bucket i counts: 0 for 0, and 1 for the last one.
func ShareBound(i int) float64 { return shareBounds[i] }

// Shares counts shares from 0 to 1, such as those of lost packets, in fixed buckets. The zero value
// is empty. It is a plain value: it copies by assignment, and is not safe for concurrent use.
type Shares struct {
	Counts [ShareBuckets]uint64 // shares by bucket: above ShareBound(i−1), up to ShareBound(i)
	Sum    float64              // sum of all shares
}

// Observe counts a share. A share below 0 counts as 0, one above 1 as 1, and NaN as 0. It
// allocates nothing.
func (s *Shares) Observe(share float64) {
	if !(share > 0) {
		share = 0
	}
	share = min(share, 1)
	i := 0
	for share > shareBounds[i] {
		i++
	}
	s.Counts[i]++
	s.Sum += share
}

// Add adds the shares of other.
func (s *Shares) Add(other *Shares) {
	for i, n := range other.Counts {
		s.Counts[i] += n
	}
	s.Sum += other.Sum
}

// Count returns the number of shares.
func (s *Shares) Count() (n uint64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Mean returns the mean share, and 0 if there is none.
func (s *Shares) Mean() float64 {
	if n := s.Count(); n > 0 {
		return s.Sum / float64(n)
	}
	return 0
}
