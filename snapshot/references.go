package snapshot

import "math/bits"

// refNotes are what an entity's references mean to the viewer.
type refNotes struct {
	mask  uint64 // the components and the audience that the list is of
	aud   audience
	epoch uint32 // as of
	ver   Tick
	since Tick // newest change of any
	list  []refNote
}

// refNote is what a reference means to the viewer, and since when.
type refNote struct {
	value WireID
	since Tick
}

// refer brings what references mean up to date, and notes of which entities one
// changed after what the viewer is known to have.
func (s *Sender) refer() {
	for i, m := range s.refers {
		s.pending[i] = 0
		for m &= s.live[i]; m != 0; m &= m - 1 {
			w := WireID(i<<6 + bits.TrailingZeros64(m))
			g, e := &s.shown[w], s.src.slots[s.slots[w]]
			s.noteRefs(g, e, s.auds[w])
			if after(g.refs.since, s.trail.acked(w)) {
				s.pending.add(w)
			}
		}
	}
}

// noteRefs brings what an entity's references mean to the viewer up to date.
func (s *Sender) noteRefs(g *shown, e *entity, a audience) {
	v := &e.vers[e.head]
	mask := s.src.reg.visibleMask(v.mask, a)
	n := g.refs
	if n == nil {
		n = &refNotes{}
		g.refs = n
	} else if n.epoch == s.mapEpoch && n.ver == v.tick && n.aud == a && n.mask == mask {
		return
	}
	fresh := n.mask != mask || n.aud != a
	n.epoch, n.ver, n.aud, n.mask = s.mapEpoch, v.tick, a, mask
	if fresh {
		n.list = n.list[:0]
	}
	lane := e.lane(e.head, a)
	i, off := 0, 0
	for m := v.mask; m != 0; m &= m - 1 {
		c := s.src.reg.comps[bits.TrailingZeros64(m)]
		for _, word := range c.refWords {
			if c.codedFor(word, a) {
				w := WireID(0)
				if id := NetID(uint32(lane[off+word])); id != 0 {
					w = s.known(id)
				}
				if fresh {
					n.list = append(n.list, refNote{w, s.src.tick})
					n.since = s.src.tick
				} else if n.list[i].value != w {
					n.list[i] = refNote{w, s.src.tick}
					n.since = s.src.tick
				}
				i++
			}
		}
		off += c.words
	}
}

// codedFor tells whether an audience receives a word.
func (s *Schema) codedFor(word int, a audience) bool {
	for _, k := range s.coding(a).codes {
		if k.word == word {
			return true
		}
	}
	return false
}
