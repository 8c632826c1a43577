package quantise

import "slices"

// Audience is [schema.Audience].
type Audience uint8

// Classes of viewers.
const (
	ToOwner Audience = 1 << iota
	ToAllies
	ToEnemies
	FirstOwn // the first game-defined one
)

// MaxAudiences is the greatest number of game-defined audiences.
const MaxAudiences = 5

// A version's words are in two lanes: one for the owner on the simulation grid, and one
// for all others on the public grid, without the owner's fields. Fields of a lane that a
// viewer does not receive are not coded for it.
const (
	Public     Audience = 0
	Lanes               = 2
	Everything Audience = 255 // all fields, for any viewer
)

// Lane returns the lane that holds the words for an audience.
func (a Audience) Lane() int { return int(a & ToOwner) }

// SeenBy reports whether an audience receives a field. The audience is the classes of a
// viewer.
func (l *Leaf) SeenBy(a Audience) bool { return l.Audience == 0 || l.Audience&a != 0 }

// SeenBy reports whether an audience receives any field of a component. Every audience
// receives a component without fields.
func (s *Plan) SeenBy(a Audience) bool {
	for i := range s.Leaves {
		if s.Leaves[i].SeenBy(a) {
			return true
		}
	}
	return len(s.Leaves) == 0
}

// audienceCodes makes the codes for every audience that makes a difference.
func (s *Plan) audienceCodes() {
	s.Classes = 0
	for i := range s.Leaves {
		l := &s.Leaves[i]
		if s.Classes |= l.Audience; l.Ratio > 1 {
			s.Classes |= ToOwner
		}
	}
	if s.Few != nil {
		return
	}
	s.codings = make([]Coding, int(s.Classes)+1)
	for n := range s.codings {
		if a := Audience(n); a&^s.Classes == 0 {
			s.codings[n] = s.newCoding(a)
		}
	}
}

// Hide sets to 0 the words of fields that an audience does not receive.
func (s *Plan) Hide(words []int32, a Audience) {
	for i := range s.Leaves {
		if l := &s.Leaves[i]; !l.SeenBy(a) {
			l.blank(words)
		}
	}
}

// blank writes the words of an absent value of a field: 0, or those of the identity rotation.
func (l *Leaf) blank(words []int32) {
	clear(words[l.Word : l.Word+l.Words()])
	if l.Class == Quat {
		words[l.Word] = identity
	}
}

// differFor reports whether two vectors differ in a word that an audience receives.
// References do not count.
func (s *Plan) differFor(a Audience, x, y []int32) bool {
	for i := range s.Leaves {
		l := &s.Leaves[i]
		if l.Class == Ref || !l.SeenBy(a) {
			continue
		}
		for w := l.Word; w < l.Word+l.Words(); w++ {
			if x[w] != y[w] {
				return true
			}
		}
	}
	return false
}

// Cover is [schema.Schema.Cover].
func (s *Plan) Cover(a Audience, words, from []int32) {
	for i := range s.Leaves {
		if l := &s.Leaves[i]; !l.SeenBy(a) {
			copy(words[l.Word:l.Word+l.Words()], from[l.Word:])
		}
	}
}

// Reaches is [schema.Schema.Reaches].
func (s *Plan) Reaches(a Audience) bool { return s.SeenBy(a) }

// Coarse is [schema.Schema.Coarse].
func (s *Plan) Coarse() int {
	for i := range s.Leaves {
		if l := &s.Leaves[i]; l.Ratio > 1 && l.Audience != ToOwner {
			return i
		}
	}
	return -1
}

// Rounded is [schema.Schema.Rounded].
func (s *Plan) Rounded() bool {
	return slices.ContainsFunc(s.Leaves, func(l Leaf) bool { return l.Class.Stepped() || l.Class == Quat })
}
