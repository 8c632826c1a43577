package snapshot

import (
	"slices"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// displacement moves a field in the value for all viewers but the owner.
type displacement struct {
	comp, field int
	by          quantise.Offset
}

// Displace moves a number or a rotation of the entity that the next Put is for, in the value for all viewers
// but its owner. comp is the component's id, and field an index in [schema.Schema.Fields]. It holds for that
// Put alone, and the value stays within its range. A server uses it to let a correction fade on other players'
// screens. It has no effect on a field that the entity does not have.
func (s *Source) Displace(comp, field int, by schema.Offset) {
	s.moved = append(s.moved, displacement{comp, field, quantise.Offset(by)})
}

// displaced returns the words that the public lane is made from: own, or a copy with the
// fields of Displace moved.
func (s *Source) displaced(mask quantise.Mask, own []int32) []int32 {
	if len(s.moved) == 0 {
		return own
	}
	s.other = append(s.other[:0], own...)
	for _, m := range s.moved {
		if m.comp < 0 || m.comp >= len(s.reg.Comps) {
			continue
		}
		words := s.reg.Component(mask, s.other, m.comp)
		if of := s.reg.Comps[m.comp]; words != nil && m.field >= 0 && m.field < len(of.Leaves) && of.Has(m.field, words) {
			of.Displace(m.field, words, m.by)
		}
	}
	s.moved = s.moved[:0]
	return s.other
}

// same reports whether a Put has the value of the newest version. The public lane is compared only if moved is
// set: otherwise it follows from the owner's.
func (s *Source) same(e *entity, owner uint16, mask quantise.Mask, own, pub []int32, moved bool) bool {
	if e.n == 0 {
		return false
	}
	v := &e.vers[e.head]
	n := len(own)
	return e.mask(e.head).Equal(mask) && v.owner == owner && v.jumps == e.jumps && slices.Equal(own, e.lane(e.head, quantise.ToOwner)[:n]) &&
		(!moved || slices.Equal(pub, e.lane(e.head, quantise.Public)[:n]))
}
