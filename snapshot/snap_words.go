package snapshot

import "unsafe"

// SnapWords is Quantise on the simulation grid and Snap in one: it writes the
// words of the value at p to dst, which holds at least [Schema.Words], and rounds
// the value to them. References are left alone, as [Schema.Snap] does. It is what a
// client does to each predicted component after each tick.
func (s *Schema) SnapWords(p unsafe.Pointer, refs Refs, dst []int32) {
	dst = dst[:s.words]
	for i := range s.leaves {
		if s.via != nil || s.leaves[i].op != opStep32 {
			s.Quantise(p, GridSim, refs, dst)
			s.Snap(p)
			return
		}
	}
	for i := range s.leaves { // the commonest component: floats with a step
		l := &s.leaves[i]
		f := (*float32)(unsafe.Add(p, l.offset))
		w := l.index(float64(*f), GridSim)
		dst[l.word] = w
		*f = float32(l.value(w, GridSim))
	}
}
