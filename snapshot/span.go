package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// span is a run of wire ids, both ends included.
type span struct{ from, to schema.WireID }

// spansBits is the size of a list of spans in a snapshot.
func spansBits(runs []span) int {
	n, at := coder.GolombBits(uint32(len(runs))), schema.WireID(0)
	for _, r := range runs {
		n += coder.GolombBits(uint32(r.from-at)) + coder.GolombBits(uint32(r.to-r.from))
		at = r.to
	}
	return n
}

// coarsen joins neighbouring runs until their list takes at most room bits.
func coarsen(runs []span, room int) []span {
	for gap := schema.WireID(1); len(runs) > 1 && (len(runs) > maxSpans || spansBits(runs) > room); gap *= 2 {
		keep := runs[:1]
		for _, r := range runs[1:] {
			if last := &keep[len(keep)-1]; r.from-last.to <= gap || gap >= 1<<15 {
				last.to = r.to
			} else {
				keep = append(keep, r)
			}
		}
		runs = keep
		if gap >= 1<<15 {
			break
		}
	}
	return runs
}

func writeSpans(w *coder.BitWriter, runs []span) {
	w.Golomb(uint32(len(runs)))
	at := schema.WireID(0)
	for _, r := range runs {
		w.Golomb(uint32(r.from - at))
		w.Golomb(uint32(r.to - r.from))
		at = r.to
	}
}

// inSpans reports whether one of the sorted runs holds a wire id.
func inSpans(runs []span, w schema.WireID) bool {
	i, j := 0, len(runs)
	for i < j {
		if m := (i + j) / 2; runs[m].to < w {
			i = m + 1
		} else {
			j = m
		}
	}
	return i < len(runs) && runs[i].from <= w
}
