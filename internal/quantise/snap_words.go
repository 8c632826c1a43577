package quantise

import "unsafe"

// SnapWords is [schema.Schema.SnapWords].
func (s *Plan) SnapWords(p unsafe.Pointer, refs Refs, dst []int32) {
	dst = dst[:s.Words]
	for i := range s.Leaves {
		if s.via != nil || s.Leaves[i].Class != Step32 {
			s.Quantise(p, GridSim, refs, dst)
			s.Snap(p)
			return
		}
	}
	for i := range s.Leaves { // the commonest component: floats with a step
		l := &s.Leaves[i]
		f := (*float32)(unsafe.Add(p, l.Offset))
		w := l.index(float64(*f), GridSim)
		dst[l.Word] = w
		*f = float32(l.floatOf(w, GridSim))
	}
}
