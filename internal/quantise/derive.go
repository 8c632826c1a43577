package quantise

import "slices"

// Finish computes the data for coding from the leaves.
func (s *Plan) Finish() {
	s.sameLanes = true
	for i := range s.Leaves {
		l := &s.Leaves[i]
		if l.Class == Ref {
			s.RefWords = append(s.RefWords, l.Word)
		}
		s.sameLanes = s.sameLanes && l.Audience != ToOwner && l.Ratio <= 1
	}
	s.audienceCodes()
	own, pub := make([]int32, s.Words), make([]int32, s.Words)
	for i := range s.Leaves {
		l := &s.Leaves[i]
		if l.Class == Quat {
			own[l.Word] = identity
		} else if l.Stepped() {
			own[l.Word] = l.index(0, GridSim)
		} else if l.Class.Integer() {
			v := l.clampInt(0)
			own[l.Word] = int32(v)
			if l.Wide {
				own[l.Word+1] = int32(v >> 32)
			}
		}
	}
	s.Publish(own, pub)
	s.Zero = [Lanes][]int32{Public: pub, ToOwner: own}
	s.setBounds()
	if s.Varying = s.Varies() >= 0; s.Varying {
		s.rest = [2][]int32{GridPublic: slices.Clone(own), GridSim: own}
		for i := range s.Leaves {
			s.Leaves[i].publish(own, s.rest[GridPublic])
		}
	}
}
