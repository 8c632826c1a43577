package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// refNotes has the wire ids that an entity's references mean to the viewer.
type refNotes struct {
	// mask and aud are the components and the audience that list is of.
	mask quantise.Mask
	aud  quantise.Audience
	// epoch and ver are the sender's mapEpoch and the tick of the entity's version when list was updated.
	epoch uint32
	ver   schema.Tick
	since schema.Tick // since is the tick of the newest change in list.
	list  []refNote
}

// refNote is the wire id that a reference means to the viewer, and the tick since when it does.
type refNote struct {
	value schema.WireID
	since schema.Tick
}

// refer updates the meanings of references. It adds an entity to pending if a meaning changed after the value
// that the viewer is known to have.
func (s *Sender) refer() {
	for i, m := range s.refers {
		s.pending[i] = 0
		for m &= s.live[i]; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			g, e := &s.shown[w], s.src.slots[s.slots[w]]
			s.noteRefs(g, e, s.auds[w])
			if after(g.refs.since, s.acked(w)) {
				s.pending.add(w)
			}
		}
	}
}

// noteRefs updates the meanings of an entity's references to the viewer.
func (s *Sender) noteRefs(g *shown, e *entity, a quantise.Audience) {
	v, all := &e.vers[e.head], e.mask(e.head)
	mask := s.src.reg.VisibleMask(all, a)
	n := g.refs
	if n == nil {
		n = &refNotes{}
		g.refs = n
	} else if n.epoch == s.mapEpoch && n.ver == v.tick && n.aud == a && n.mask.Equal(mask) {
		return
	}
	fresh := !n.mask.Equal(mask) || n.aud != a
	n.epoch, n.ver, n.aud, n.mask = s.mapEpoch, v.tick, a, mask
	if fresh {
		n.list = n.list[:0]
	}
	lane := e.lane(e.head, a)
	i, off := 0, 0
	for k := all.Next(0); k >= 0; k = all.Next(k + 1) {
		c := s.src.reg.Comps[k]
		for _, word := range c.RefWords {
			if c.CodedFor(word, a) {
				w := schema.WireID(0)
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
		off += c.Words
	}
}
