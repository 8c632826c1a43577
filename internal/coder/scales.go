package coder

// Scales turn differences between baselines into predicted differences, in 1/65536.
// They depend on the tick distances between the baselines and on the tables.
type Scales struct {
	// ago is the ticks from the snapshot back to the first baseline, and between the baselines.
	ago   [3]uint32
	speed int64 // speed is the factor of the newer difference if velocity continues.
	newer int64 // newer is the factor of the newer difference if acceleration continues.
	// older is the factor of the older difference, which is subtracted if acceleration continues.
	older  int64
	motion [sorts][64][2]int64 // motion has the learned factors of both differences, by sort and row.
}

// Set computes the scales for distances in ticks, unless it has them already.
func (s *Scales) Set(t *Tables, ago [3]uint32) {
	if ago == s.ago {
		return
	}
	s.ago = ago
	d, e, f := int64(ago[0]), int64(ago[1]), int64(ago[2])
	s.speed = d << 16 / e
	s.newer = d * d << 16 / ((e + f) * e)
	s.older = d * d << 16 / ((e + f) * f)
	for k := range s.motion {
		for r := range motionRows {
			w := &t.weights[k][r]
			s.motion[k][r] = [2]int64{(int64(w[0])*s.speed + int64(w[1])*s.newer) >> 12, int64(w[1]) * s.older >> 12}
		}
	}
}

// errors returns the errors that the last motion suggests for two guesses, in 1/65536:
// that the value holds, and that it continues at the same speed.
func (s *Scales) errors(newer, older int64) (hold, going int64) {
	return abs(newer * s.speed), abs(newer*s.newer - older*s.older)
}

// abs has no branch, because the signs of motion cannot be predicted.
func abs(v int64) int64 {
	s := v >> 63
	return (v ^ s) - s
}
